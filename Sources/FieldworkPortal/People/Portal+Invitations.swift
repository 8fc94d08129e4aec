import FieldworkREST
import FieldworkStore

/// Links by which people choose their passwords themselves: nobody else ever knows them.
extension Portal {
    /// Makes the code of a link that is good once. A new one ends the former; until it is used, the password stays what it was.
    /// - Returns: the code, which is kept as a hash alone.
    package func invite(_ name: String, by author: Author) async throws -> IssuedToken {
        let moment = now
        return try await records.write { records in
            let person = try Self.existing(name, records)
            guard !person.isDisabled else {
                throw PortalError(.notAllowed, "'\(person.name)' is disabled: let the person sign in again first.")
            }
            try records.run(
                "DELETE FROM {tokens} WHERE person = ? AND kind = ?",
                [.text(Person.key(name)), .text(TokenKind.invitation.rawValue)])
            let issued = try Self.issue(
                to: person.name, kind: .invitation, client: "", family: nil, seconds: Limits.invitationSeconds, moment,
                records)
            try Self.note("user.invite", person.name, "", author, moment, records)
            return issued
        }
    }

    /// Whom a link is for; nil for one that is unknown, too old or was used.
    package func invited(by code: String) async throws -> Person? {
        let moment = now
        return try await records.read { try Self.invited(by: Secret.hash(code), moment, $0) }
    }

    private static func invited(by hash: String, _ moment: Int64, _ records: Records) throws -> Person? {
        let row = try records.row(
            "SELECT person FROM {tokens} WHERE hash = ? AND kind = ? AND expires > ?",
            [.text(hash), .text(TokenKind.invitation.rawValue), .integer(moment)])
        guard let name = row?.text(0), let person = try person(named: name, records), !person.isDisabled else {
            return nil
        }
        return person
    }

    /// Sets the password that a person has chosen. A password that is refused leaves the link good.
    /// - Parameter address: of the client.
    package func accept(invitation code: String, password: String, from address: String) async throws -> Person {
        let gone = PortalError(.invalidToken, "The link was used already, or is too old.")
        // Whoever sends inventions makes no work, and makes nobody's rights be read anew.
        guard let person = try await invited(by: code) else { throw gone }
        try PasswordHasher.check(password, of: person.name)
        let text = try await hasher.hash(password).text
        let (moment, hash) = (now, Secret.hash(code))
        return try await change { records in
            // Of two requests with the same link one takes it: this ends the link with the other tokens of the person.
            guard let person = try Self.invited(by: hash, moment, records) else { throw gone }
            try Self.setPassword(text, of: person, Author(name: person.name, address: address), moment, records)
            return person
        }
    }
}
