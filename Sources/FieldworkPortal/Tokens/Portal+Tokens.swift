import FieldworkREST
import FieldworkStore

/// What a token is good for.
package enum TokenKind: String, Sendable, Hashable {
    /// Opens services and the portal.
    case access
    /// Gets access tokens.
    case refresh
    /// The cookie of the server's pages.
    case session
    /// Exchanged once for an access token.
    case code
    /// Lets a person choose a password, once.
    case invitation
}

/// A token as it is given out. It is kept nowhere as it is.
package struct IssuedToken: Sendable, Hashable {
    package var token: String
    /// Milliseconds since 1970.
    package var expires: Int64
    package var person: String
}

/// What a token is bound to.
package struct TokenBinding: Sendable, Hashable {
    /// The origin of the pages that may use it, `https://maps.example`.
    package var referer: String?
    /// The address of the client that may use it.
    package var address: String?

    package init(referer: String? = nil, address: String? = nil) {
        self.referer = referer
        self.address = address
    }
}

extension Portal {
    /// Makes a token that opens services and the portal for a person.
    package func issueToken(
        to person: String, kind: TokenKind = .access, client: String = "", family: String? = nil,
        seconds: Int64 = Limits.tokenSeconds, binding: TokenBinding = TokenBinding()
    ) async throws -> IssuedToken {
        let moment = now
        return try await records.write { records in
            try Self.issue(
                to: person, kind: kind, client: client, family: family, seconds: seconds, binding: binding, moment,
                records)
        }
    }

    /// Gives another token for one that is good: of the same family, bound to the same, and for no longer.
    package func exchange(token: String, seconds: Int64) async throws -> IssuedToken {
        let moment = now
        return try await records.write { records in
            guard
                let row = try records.row(
                    """
                    SELECT person, client, family, expires, referer, address FROM {tokens}
                    WHERE hash = ? AND kind = 'access' AND replaced IS NULL
                    """, [.text(Secret.hash(token))]), row.integer(3) > moment
            else { throw Self.invalidToken }
            let name = row.text(0) ?? ""
            var issued = try Self.issue(
                to: name, kind: .access, client: row.text(1) ?? "", family: row.text(2),
                seconds: min(seconds, (row.integer(3) - moment) / 1_000),
                binding: TokenBinding(referer: row.text(4), address: row.text(5)), moment, records)
            issued.person = try Self.person(named: name, records)?.name ?? name
            return issued
        }
    }

    static func issue(
        to person: String, kind: TokenKind, client: String, family: String?, seconds: Int64,
        binding: TokenBinding = TokenBinding(), redirect: String? = nil, challenge: String? = nil, _ moment: Int64,
        _ records: Records
    ) throws -> IssuedToken {
        let token = Secret.make()
        let expires = moment + min(max(1, seconds), Limits.longestTokenSeconds) * 1_000
        let key = Person.key(person)
        try records.run("DELETE FROM {tokens} WHERE expires < ?", [.integer(moment)])
        // What people who are signing in have asked for is not among the tokens of applications, which have no person either.
        let own = "person = ? AND client = ? AND kind <> 'state'"
        let holder: [AttributeValue] = [.text(key), .text(client)]
        let live = try records.row("SELECT count(*) FROM {tokens} WHERE \(own)", holder)?.integer(0) ?? 0
        if live >= Int64(Limits.tokensPerPerson) {
            try records.run(
                """
                DELETE FROM {tokens} WHERE hash IN (
                    SELECT hash FROM {tokens} WHERE \(own) ORDER BY created, hash
                    LIMIT \(live - Int64(Limits.tokensPerPerson) + 1))
                """, holder)
        }
        try records.run(
            """
            INSERT INTO {tokens} (hash, kind, person, client, family, created, expires, referer, address, redirect,
                challenge) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(Secret.hash(token)), .text(kind.rawValue), .text(key), .text(client),
                .text(family ?? Secret.id()), .integer(moment), .integer(expires),
                binding.referer.map(AttributeValue.text) ?? .null, binding.address.map(AttributeValue.text) ?? .null,
                redirect.map(AttributeValue.text) ?? .null, challenge.map(AttributeValue.text) ?? .null,
            ])
        return IssuedToken(token: token, expires: expires, person: person)
    }

    /// Who a token stands for. Throws `PortalError.invalidToken` for one that is unknown, expired, revoked, of a person who may
    /// not sign in any more, or used from elsewhere than it is bound to.
    package func principal(
        token: String, kind: TokenKind = .access, referer: String? = nil, address: String? = nil
    ) async throws -> Principal {
        try await refresh()
        let hash = kind.rawValue + Secret.hash(token)
        let known: RightsMemory.Token
        if let remembered = memory.token(hash) {
            known = remembered
        } else {
            let round = memory.round
            guard let read = try await readToken(Secret.hash(token), kind) else { throw Self.invalidToken }
            memory.remember(read, hash, round: round)
            known = read
        }
        guard known.expires > now else { throw Self.invalidToken }
        if let wanted = known.referer, wanted != referer { throw Self.invalidToken }
        if let wanted = known.address, wanted != address { throw Self.invalidToken }
        return known.principal
    }

    static let invalidToken = PortalError(.invalidToken, "Invalid token.")

    private func readToken(_ hash: String, _ kind: TokenKind) async throws -> RightsMemory.Token? {
        try await records.read { records in
            guard
                let row = try records.row(
                    """
                    SELECT person, expires, referer, address, client FROM {tokens}
                    WHERE hash = ? AND kind = ? AND replaced IS NULL
                    """, [.text(hash), .text(kind.rawValue)])
            else { return nil }
            let name = row.text(0) ?? ""
            guard let principal = try Self.principal(named: name, client: row.text(4) ?? "", records) else {
                return nil
            }
            return RightsMemory.Token(
                principal: principal, expires: row.integer(1), referer: row.text(2), address: row.text(3))
        }
    }

    /// Who a person is now; nil when the person may not sign in. Used where a person's work goes on without the person, such as in
    /// jobs.
    package func principal(named name: String) async throws -> Principal? {
        try await records.read { try Self.principal(named: name, client: "", $0) }
    }

    static func principal(named name: String, client: String, _ records: Records) throws -> Principal? {
        if name.isEmpty {
            guard !client.isEmpty, try records.row("SELECT 1 FROM {clients} WHERE id = ?", [.text(client)]) != nil
            else { return nil }
            return Principal(kind: .application, privileges: Role.viewer.privileges)
        }
        guard let person = try person(named: name, records), !person.isDisabled,
            let role = try role(id: person.roleID, records)
        else { return nil }
        let key = AttributeValue.text(Person.key(name))
        let memberships = try records.rows("SELECT group_id, is_manager FROM {members} WHERE person = ?", [key])
        let owned = try records.rows("SELECT id FROM {groups} WHERE owner = ?", [key]).compactMap { $0.text(0) }
        let managed = memberships.filter { $0.integer(1) != 0 }.compactMap { $0.text(0) }
        return Principal(
            kind: .person, name: person.name, privileges: role.privileges, role: role,
            groups: Set(memberships.compactMap { $0.text(0) } + owned), managedGroups: Set(managed + owned))
    }

    /// Ends a token, and with a refresh token everything that was got by it. Unknown ones are no error.
    package func revoke(_ token: String, by author: Author) async throws {
        let hash = Secret.hash(token)
        let moment = now
        // Whoever sends inventions changes nothing, and makes nobody's rights be read anew.
        guard try await records.read({ try $0.row("SELECT 1 FROM {tokens} WHERE hash = ?", [.text(hash)]) != nil })
        else { return }
        try await change { records in
            guard let row = try records.row("SELECT family, kind, person FROM {tokens} WHERE hash = ?", [.text(hash)])
            else { return }
            if row.text(1) == TokenKind.refresh.rawValue {
                try records.run("DELETE FROM {tokens} WHERE family = ?", [.text(row.text(0) ?? "")])
            } else {
                try records.run("DELETE FROM {tokens} WHERE hash = ?", [.text(hash)])
            }
            try Self.note("token.revoke", row.text(2) ?? "", "", author, moment, records)
        }
    }

    /// Ends every token of a person.
    package func revokeAll(of name: String, by author: Author) async throws {
        let moment = now
        try await change { records in
            try records.run("DELETE FROM {tokens} WHERE person = ?", [.text(Person.key(name))])
            try Self.note("token.revokeAll", name, "", author, moment, records)
        }
    }
}
