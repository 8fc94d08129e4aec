package import FieldworkGeometry
import FieldworkREST
import FieldworkStore

/// Members of the organisation.
extension Portal {
    private static let columns =
        "shown, id, full_name, email, role, is_disabled, created, modified, last_sign_in, details"

    static func person(_ row: Record) -> Person {
        Person(
            name: row.text(0) ?? "", id: row.text(1) ?? "", fullName: row.text(2) ?? "", email: row.text(3) ?? "",
            roleID: row.text(4) ?? "", isDisabled: row.integer(5) != 0, created: row.integer(6),
            modified: row.integer(7), lastSignIn: row.integer(8), details: row.object(9))
    }

    /// Whether anybody may sign in: without people, a server asks nobody.
    package func hasPeople() async throws -> Bool {
        try await refresh()
        if let known = memory.hasPeople { return known }
        let round = memory.round
        let has = try await records.read { try $0.row("SELECT 1 FROM {people} LIMIT 1") != nil }
        memory.remember(hasPeople: has, round: round)
        return has
    }

    package func person(named name: String) async throws -> Person? {
        try await records.read { try Self.person(named: name, $0) }
    }

    static func person(named name: String, _ records: Records) throws -> Person? {
        try records.row("SELECT \(columns) FROM {people} WHERE name = ?", [.text(Person.key(name))]).map(person)
    }

    /// The people, by their names.
    package func people(from start: Int = 0, count: Int = 100) async throws -> (total: Int, people: [Person]) {
        try await records.read { records in
            let total = try records.row("SELECT count(*) FROM {people}")?.integer(0) ?? 0
            let rows = try records.rows(
                "SELECT \(Self.columns) FROM {people} ORDER BY name LIMIT \(max(0, count)) OFFSET \(max(0, start))")
            return (Int(total), rows.map(Self.person))
        }
    }

    /// The people whose passwords are kept by less work than a guess should take: they have not signed in since the work was raised.
    package func peopleWithCheapPasswords() async throws -> [String] {
        let cost = hasher.cost
        return try await records.read { records in
            try records.rows("SELECT shown, password FROM {people} WHERE password <> '' ORDER BY name").compactMap {
                row in
                let kept = PasswordHash(text: row.text(1) ?? "")?.cost ?? 0
                return kept < cost ? row.text(0) : nil
            }
        }
    }

    /// Adds a person, who can sign in at once.
    @discardableResult
    package func addPerson(
        _ name: String, password: String, role: Role, fullName: String? = nil, email: String = "", by author: Author
    ) async throws -> Person {
        let name = try Person.checked(name)
        try PasswordHasher.check(password, of: name)
        let hash = try await hasher.hash(password).text
        let moment = now
        let person = Person(
            name: name, id: Secret.id(), fullName: fullName ?? name, email: email, roleID: role.id, isDisabled: false,
            created: moment, modified: moment, lastSignIn: -1, details: JSONObject())
        try await change { records in
            guard try Self.person(named: name, records) == nil else {
                throw PortalError(.exists, "There is a user '\(name)' already.")
            }
            try Self.requireRole(role.id, records)
            try Self.insert(person, password: hash, records)
            try Self.note("user.add", name, role.word, author, moment, records)
        }
        return person
    }

    /// - Parameter password: its hash; empty for a person who has none.
    static func insert(_ person: Person, password: String, _ records: Records) throws {
        try records.run(
            """
            INSERT INTO {people} (name, shown, id, full_name, email, role, is_disabled, created, modified,
                last_sign_in, details, password) VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, -1, ?, ?)
            """,
            [
                .text(Person.key(person.name)), .text(person.name), .text(person.id), .text(person.fullName),
                .text(person.email), .text(person.roleID), .integer(person.created), .integer(person.modified),
                .text(person.details.text), .text(password),
            ])
    }

    package func setPassword(_ password: String, of name: String, by author: Author) async throws {
        try PasswordHasher.check(password, of: name)
        let hash = try await hasher.hash(password).text
        let moment = now
        try await change { records in
            try Self.setPassword(hash, of: try Self.existing(name, records), author, moment, records)
        }
    }

    static func setPassword(
        _ hash: String, of person: Person, _ author: Author, _ moment: Int64, _ records: Records
    ) throws {
        let key = AttributeValue.text(Person.key(person.name))
        try records.run(
            "UPDATE {people} SET password = ?, modified = ? WHERE name = ?", [.text(hash), .integer(moment), key])
        // Whoever had the old password must not stay signed in.
        try records.run("DELETE FROM {tokens} WHERE person = ?", [key])
        try records.run("DELETE FROM {failures} WHERE name = ?", [.text(SignInGuard.account(person.name))])
        try note("user.password", person.name, "", author, moment, records)
    }

    /// Takes every token of a person away, or lets the person sign in again.
    package func setDisabled(_ isDisabled: Bool, _ name: String, by author: Author) async throws {
        let moment = now
        try await change { records in
            let person = try Self.existing(name, records)
            if isDisabled { try Self.requireOtherAdministrator(than: person, records) }
            try records.run(
                "UPDATE {people} SET is_disabled = ?, modified = ? WHERE name = ?",
                [.integer(isDisabled ? 1 : 0), .integer(moment), .text(Person.key(name))])
            if isDisabled {
                try records.run("DELETE FROM {tokens} WHERE person = ?", [.text(Person.key(name))])
            }
            try Self.note(isDisabled ? "user.disable" : "user.enable", person.name, "", author, moment, records)
        }
    }

    package func setRole(_ role: Role, of name: String, by author: Author) async throws {
        let moment = now
        try await change { records in
            let person = try Self.existing(name, records)
            try Self.requireRole(role.id, records)
            if role.id != Role.administrator.id { try Self.requireOtherAdministrator(than: person, records) }
            try records.run(
                "UPDATE {people} SET role = ?, modified = ? WHERE name = ?",
                [.text(role.id), .integer(moment), .text(Person.key(name))])
            try Self.note("user.role", person.name, role.word, author, moment, records)
        }
    }

    /// Changes what a person says of itself.
    package func updatePerson(
        _ name: String, fullName: String? = nil, email: String? = nil, details: JSONObject = JSONObject(),
        by author: Author
    ) async throws {
        let moment = now
        try await change { records in
            var person = try Self.existing(name, records)
            if let fullName { person.fullName = String(fullName.prefix(Limits.titleLength)) }
            if let email { person.email = String(email.prefix(Limits.titleLength)) }
            for member in details.members { person.details[member.key] = member.value }
            guard person.details.text.utf8.count <= Limits.textBytes else {
                throw PortalError(.overLimit, "A user's texts have at most \(Limits.textBytes) bytes together.")
            }
            try records.run(
                "UPDATE {people} SET full_name = ?, email = ?, details = ?, modified = ? WHERE name = ?",
                [
                    .text(person.fullName), .text(person.email), .text(person.details.text), .integer(moment),
                    .text(Person.key(name)),
                ])
            try Self.note("user.update", person.name, "", author, moment, records)
        }
    }

    /// Removes a person. Groups, items and folders go to another person, or keep the person from being removed.
    package func removePerson(_ name: String, leavingTo heir: String?, by author: Author) async throws {
        let moment = now
        try await change { records in
            let person = try Self.existing(name, records)
            try Self.requireOtherAdministrator(than: person, records)
            let key = AttributeValue.text(Person.key(name))
            if let heir {
                let other = try Self.existing(heir, records)
                guard Person.key(other.name) != Person.key(name) else {
                    throw PortalError(.invalid, "What belongs to a person can't be left to the same person.")
                }
                let heirKey = AttributeValue.text(Person.key(other.name))
                let items = try records.rows("SELECT id FROM {items} WHERE owner = ?", [key])
                try records.run("UPDATE {items} SET owner = ?, folder = '' WHERE owner = ?", [heirKey, key])
                for item in items.compactMap({ $0.text(0) }) { try ItemChanges.note(item, records) }
                try records.run("UPDATE {groups} SET owner = ? WHERE owner = ?", [heirKey, key])
                try records.run("UPDATE {clients} SET owner = ? WHERE owner = ?", [heirKey, key])
            }
            for table in ["items", "groups", "clients"] {
                let owned = try records.row("SELECT count(*) FROM {\(table)} WHERE owner = ?", [key])?.integer(0) ?? 0
                guard owned == 0 else {
                    throw PortalError(
                        .invalid,
                        "'\(person.name)' owns \(owned) \(table == "clients" ? "applications" : table). Say who gets them."
                    )
                }
            }
            for table in ["tokens", "members", "identities"] {
                try records.run("DELETE FROM {\(table)} WHERE person = ?", [key])
            }
            try records.run("DELETE FROM {folders} WHERE owner = ?", [key])
            try records.run("DELETE FROM {people} WHERE name = ?", [key])
            try Self.note("user.remove", person.name, heir ?? "", author, moment, records)
        }
    }

    static func existing(_ name: String, _ records: Records) throws -> Person {
        guard let person = try person(named: name, records) else { throw PortalError.userNotFound }
        return person
    }

    /// An organisation without an administrator could not be managed any more.
    private static func requireOtherAdministrator(than person: Person, _ records: Records) throws {
        guard person.roleID == Role.administrator.id, !person.isDisabled else { return }
        let others = try records.row(
            "SELECT count(*) FROM {people} WHERE role = ? AND is_disabled = 0 AND name <> ?",
            [.text(Role.administrator.id), .text(Person.key(person.name))])
        guard let others, others.integer(0) > 0 else {
            throw PortalError(.notAllowed, "'\(person.name)' is the only administrator.")
        }
    }

    /// The first administrator, to whom belongs what nobody has made.
    static func firstAdministrator(_ records: Records) throws -> String? {
        try records.row(
            "SELECT name FROM {people} WHERE role = ? ORDER BY is_disabled, created, name LIMIT 1",
            [.text(Role.administrator.id)])?.text(0)
    }
}
