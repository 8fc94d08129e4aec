import FieldworkGeometry
import FieldworkREST
import FieldworkStore

/// How a provider of sign-ins knows somebody: by a name that it gives nobody else, ever. Mail addresses and user names change
/// hands, and are no identity.
package struct OutsideIdentity: Sendable, Hashable {
    package var issuer: String
    package var subject: String

    package init(issuer: String, subject: String) {
        self.issuer = issuer
        self.subject = subject
    }
}

/// What a provider says of somebody. It names a newcomer, and decides nothing.
package struct OutsideProfile: Sendable, Hashable {
    package var userName: String?
    package var fullName: String?
    package var email: String?

    package init(userName: String? = nil, fullName: String? = nil, email: String? = nil) {
        self.userName = userName
        self.fullName = fullName
        self.email = email
    }

    /// The names that a newcomer may get, the best first: of the letters that names have.
    var names: [String] {
        let local = email.map { String($0.prefix { $0 != "@" }) }
        let words = [userName, local, "person"].compactMap { $0 }
        return words.map { word in
            let letters = word.filter { $0 == "." || (try? Person.checked(String($0))) != nil }
            return String(letters.prefix(Limits.nameLength - 8))
        }.filter { (try? Person.checked($0)) != nil }
    }
}

/// Sign-ins for which another server, a provider, has checked who somebody is.
extension Portal {
    /// The person that a provider vouches for, who has signed in with this.
    /// - Parameter newcomers: the role of people who are not known yet; nil refuses them.
    package func signIn(
        _ identity: OutsideIdentity, _ profile: OutsideProfile, newcomers: Role?, from address: String
    ) async throws -> Person {
        try Self.check(identity)
        let moment = now
        let known = try await records.read { try Self.person(of: identity, $0) }
        if let known, known.isDisabled {
            try await noteFailedSignIn(known.name, "\(identity.issuer): disabled", from: address)
            throw PortalError(.notAllowed, "The account \(known.name) is disabled.")
        }
        if known == nil, newcomers == nil {
            try await noteFailedSignIn(identity.subject, "\(identity.issuer): not known here", from: address)
            throw PortalError(
                .notAllowed,
                "Nobody here is known as '\(identity.subject)' of \(identity.issuer). An administrator can link it to a person."
            )
        }
        let make: @Sendable (Records) throws -> Person = { records in
            // Another request may have made or disabled the person meanwhile.
            if let known = try Self.person(of: identity, records) {
                guard !known.isDisabled else {
                    throw PortalError(.notAllowed, "The account \(known.name) is disabled.")
                }
                return known
            }
            guard let newcomers else { throw PortalError.userNotFound }
            return try Self.addNewcomer(identity, profile, newcomers, from: address, moment, records)
        }
        let person = known == nil ? try await change(make) : try await records.write(make)
        let author = Author(name: person.name, address: address)
        try await records.write { records in
            try records.run(
                "UPDATE {people} SET last_sign_in = ? WHERE name = ?",
                [.integer(moment), .text(Person.key(person.name))])
            try Self.note("signIn", person.name, identity.issuer, author, moment, records)
        }
        return person
    }

    /// Notes that somebody whom a provider was asked for has not signed in.
    package func noteFailedSignIn(_ target: String, _ reason: String, from address: String) async throws {
        let moment = now
        try await records.write { records in
            try Self.note(
                "signIn.failed", String(target.prefix(Limits.titleLength)), reason, Author(name: "", address: address),
                moment, records)
        }
    }

    // MARK: Linking

    /// Lets a person sign in by a provider. One identity is one person.
    package func link(_ identity: OutsideIdentity, to name: String, by author: Author) async throws {
        try Self.check(identity)
        let moment = now
        try await change { records in
            let person = try Self.existing(name, records)
            if let other = try Self.person(of: identity, records), other.name != person.name {
                throw PortalError(
                    .exists, "'\(identity.subject)' of \(identity.issuer) is linked to \(other.name) already.")
            }
            try Self.write(identity, of: person.name, moment, records)
            try Self.note(
                "user.link", person.name, "\(identity.issuer) \(identity.subject)", author, moment, records)
        }
    }

    /// Ends a link, and every token of the person: some may have been got by it.
    package func unlink(_ identity: OutsideIdentity, from name: String, by author: Author) async throws {
        let moment = now
        try await change { records in
            let person = try Self.existing(name, records)
            let removed = try records.run(
                "DELETE FROM {identities} WHERE issuer = ? AND subject = ? AND person = ?",
                [.text(identity.issuer), .text(identity.subject), .text(Person.key(name))])
            guard removed > 0 else {
                throw PortalError(
                    .notFound, "\(person.name) is not linked to '\(identity.subject)' of \(identity.issuer).")
            }
            try records.run("DELETE FROM {tokens} WHERE person = ?", [.text(Person.key(name))])
            try Self.note(
                "user.unlink", person.name, "\(identity.issuer) \(identity.subject)", author, moment, records)
        }
    }

    /// How providers know a person.
    package func identities(of name: String) async throws -> [OutsideIdentity] {
        try await records.read { records in
            try records.rows(
                "SELECT issuer, subject FROM {identities} WHERE person = ? ORDER BY issuer, subject",
                [.text(Person.key(name))]
            ).map { OutsideIdentity(issuer: $0.text(0) ?? "", subject: $0.text(1) ?? "") }
        }
    }

    // MARK: Rows

    private static func person(of identity: OutsideIdentity, _ records: Records) throws -> Person? {
        let row = try records.row(
            "SELECT person FROM {identities} WHERE issuer = ? AND subject = ?",
            [.text(identity.issuer), .text(identity.subject)])
        return try row?.text(0).flatMap { try person(named: $0, records) }
    }

    private static func write(
        _ identity: OutsideIdentity, of name: String, _ moment: Int64, _ records: Records
    ) throws {
        try records.run(
            """
            INSERT INTO {identities} (issuer, subject, person, created) VALUES (?, ?, ?, ?)
            ON CONFLICT (issuer, subject) DO UPDATE SET person = excluded.person
            """,
            [.text(identity.issuer), .text(identity.subject), .text(Person.key(name)), .integer(moment)])
    }

    /// A newcomer has no password: only the provider lets the person in. Names that are taken belong to others: a newcomer gets
    /// another one.
    private static func addNewcomer(
        _ identity: OutsideIdentity, _ profile: OutsideProfile, _ role: Role, from address: String, _ moment: Int64,
        _ records: Records
    ) throws -> Person {
        guard role.id != Role.administrator.id else {
            throw PortalError(.invalid, "Newcomers are not made administrators.")
        }
        try requireRole(role.id, records)
        let name = try freeName(of: profile, records)
        let person = Person(
            name: name, id: Secret.id(), fullName: String((profile.fullName ?? name).prefix(Limits.titleLength)),
            email: String((profile.email ?? "").prefix(Limits.titleLength)), roleID: role.id, isDisabled: false,
            created: moment, modified: moment, lastSignIn: -1, details: JSONObject())
        try insert(person, password: "", records)
        try write(identity, of: name, moment, records)
        try note(
            "user.add", name, "\(role.word) \(identity.issuer) \(identity.subject)",
            Author(name: "(sign-in provider)", address: address), moment, records)
        return person
    }

    private static func freeName(of profile: OutsideProfile, _ records: Records) throws -> String {
        for word in profile.names {
            for number in 1...99 {
                let name: String = number == 1 ? word : word + "-" + String(number)
                if try person(named: name, records) == nil { return name }
            }
        }
        throw PortalError(.overLimit, "There is no name left for the newcomer.")
    }

    private static func check(_ identity: OutsideIdentity) throws(PortalError) {
        let isText = identity.subject.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard !identity.subject.isEmpty, identity.subject.utf8.count <= Limits.subjectBytes, isText,
            !identity.issuer.isEmpty, identity.issuer.utf8.count <= Limits.issuerBytes
        else {
            throw PortalError(
                .invalid, "A provider has an address, and knows a person by 1 to \(Limits.subjectBytes) bytes of text.")
        }
    }
}
