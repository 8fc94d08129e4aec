import FieldworkGeometry
import FieldworkREST
import FieldworkStore

/// What an authorization request was granted.
package struct Grant: Sendable, Hashable {
    package var access: IssuedToken
    package var refresh: IssuedToken?
}

/// The rules of OAuth 2.0 (RFC 6749, 7636, 9700): codes are used once, verifiers are checked, addresses are registered.
extension Portal {
    // MARK: Applications

    package func client(_ id: String) async throws -> OAuthClient? {
        if let known = OAuthClient.wellKnown.first(where: { $0.id == id }) { return known }
        return try await records.read { records in
            try records.row("SELECT \(Self.appColumns) FROM {clients} WHERE id = ?", [.text(id)]).map(Self.app)?.client
        }
    }

    // MARK: Grants

    /// Makes a code for a person who has signed in and is sent back with it.
    package func issueCode(
        to person: String, client: OAuthClient, redirect: String, challenge: String?
    ) async throws -> String {
        let moment = now
        return try await records.write { records in
            try Self.issue(
                to: person, kind: .code, client: client.id, family: nil, seconds: Limits.codeSeconds,
                redirect: redirect, challenge: challenge, moment, records
            ).token
        }
    }

    /// Exchanges a code. A code that comes twice ends what it was exchanged for, since it was stolen.
    package func exchange(
        code: String, client: String, redirect: String, verifier: String?, secret: String?, seconds: Int64?,
        by author: Author
    ) async throws -> Grant {
        let moment = now
        let hash = Secret.hash(code)
        let isSecretRight = try await isRight(secret: secret, of: client)
        // Whoever sends inventions changes nothing, and makes nobody's rights be read anew.
        guard
            try await records.read({
                try $0.row("SELECT 1 FROM {tokens} WHERE hash = ? AND kind = 'code'", [.text(hash)]) != nil
            })
        else { throw PortalError(.invalidToken, "Invalid authorization code") }
        let outcome: Result<Grant, PortalError> = try await change { records in
            guard
                let row = try records.row(
                    """
                    SELECT person, client, family, expires, redirect, challenge, replaced FROM {tokens}
                    WHERE hash = ? AND kind = 'code'
                    """, [.text(hash)])
            else { return .failure(PortalError(.invalidToken, "Invalid authorization code")) }
            let family = row.text(2) ?? ""
            guard row.isNull(6) else {
                try records.run("DELETE FROM {tokens} WHERE family = ?", [.text(family)])
                try Self.note("code.replayed", row.text(0) ?? "", client, author, moment, records)
                return .failure(PortalError(.invalidToken, "Invalid authorization code"))
            }
            // Whatever is wrong with the rest, a code is good for one attempt.
            let taken = try records.run(
                "UPDATE {tokens} SET replaced = ? WHERE hash = ? AND replaced IS NULL", [.integer(moment), .text(hash)])
            // Of two requests with the same code, on two servers of one database, one takes it.
            guard taken == 1, row.integer(3) > moment, row.text(1) == client else {
                return .failure(PortalError(.invalidToken, "Invalid authorization code"))
            }
            guard row.text(4) == redirect else {
                return .failure(PortalError(.invalid, "Invalid redirect_uri"))
            }
            if let challenge = row.text(5) {
                guard let verifier, Secret.challenge(verifier) == challenge else {
                    return .failure(PortalError(.invalid, "Invalid code_verifier"))
                }
            } else {
                // Without a challenge only an application that proves who it is may have the token, or whom the person has given
                // the code that was shown.
                let isShown = redirect == OAuthClient.outOfBand && OAuthClient.wellKnown.contains { $0.id == client }
                guard isSecretRight == true || isShown, verifier == nil else {
                    return .failure(PortalError(.invalid, "Invalid code_verifier"))
                }
            }
            if isSecretRight == false { return .failure(PortalError(.invalid, "Invalid client_secret")) }
            return .success(try Self.grant(row.text(0) ?? "", client, family, seconds, moment, records))
        }
        return try outcome.get()
    }

    private static func grant(
        _ person: String, _ client: String, _ family: String, _ seconds: Int64?, _ moment: Int64, _ records: Records
    ) throws -> Grant {
        let shown = try Self.person(named: person, records)?.name ?? person
        var access = try issue(
            to: person, kind: .access, client: client, family: family,
            seconds: Limits.accessTokenSeconds, moment, records)
        var refresh = try issue(
            to: person, kind: .refresh, client: client, family: family,
            seconds: seconds ?? Limits.refreshTokenSeconds, moment, records)
        access.person = shown
        refresh.person = shown
        return Grant(access: access, refresh: refresh)
    }

    /// A new access token, and on exchange a new refresh token. One that was exchanged a moment ago is taken again: the answer may
    /// have been lost on a bad line.
    package func refresh(
        _ token: String, client: String, exchanges: Bool, secret: String? = nil, by author: Author
    ) async throws -> Grant {
        let moment = now
        let hash = Secret.hash(token)
        if try await isRight(secret: secret, of: client) == false {
            throw PortalError(.invalid, "Invalid client_secret")
        }
        let outcome: Result<Grant, PortalError> = try await records.write { records in
            guard
                let row = try records.row(
                    "SELECT person, client, family, expires, replaced FROM {tokens} WHERE hash = ? AND kind = 'refresh'",
                    [.text(hash)]), row.text(1) == client
            else { return .failure(PortalError(.invalidToken, "Invalid refresh_token")) }
            guard row.integer(3) > moment else {
                return .failure(PortalError(.invalidToken, "refresh_token expired"))
            }
            // One that comes long after it was exchanged was stolen, from whoever sends it or by him: nobody keeps what came of it.
            if !row.isNull(4), row.integer(4) + Limits.exchangeGraceSeconds * 1_000 < moment {
                try records.run("DELETE FROM {tokens} WHERE family = ?", [.text(row.text(2) ?? "")])
                try Self.note("refresh.replayed", row.text(0) ?? "", client, author, moment, records)
                return .failure(PortalError(.invalidToken, "refresh_token expired"))
            }
            let name = row.text(0) ?? ""
            guard try Self.principal(named: name, client: client, records) != nil else {
                return .failure(PortalError(.invalidToken, "Invalid refresh_token"))
            }
            let family = row.text(2) ?? ""
            guard exchanges else {
                var access = try Self.issue(
                    to: name, kind: .access, client: client, family: family, seconds: Limits.accessTokenSeconds, moment,
                    records)
                access.person = try Self.person(named: name, records)?.name ?? name
                return .success(Grant(access: access, refresh: nil))
            }
            if row.isNull(4) {
                try records.run("UPDATE {tokens} SET replaced = ? WHERE hash = ?", [.integer(moment), .text(hash)])
            }
            return .success(try Self.grant(name, client, family, nil, moment, records))
        }
        return try outcome.get()
    }

    /// A token for an application itself.
    package func credentials(client: String, secret: String, seconds: Int64) async throws -> IssuedToken {
        guard try await isRight(secret: secret, of: client) == true else {
            throw PortalError(.invalid, "Invalid client_secret")
        }
        return try await issueToken(to: "", client: client, seconds: seconds)
    }

    /// Whether a secret is an application's; nil when none was sent.
    private func isRight(secret: String?, of client: String) async throws -> Bool? {
        guard let secret, !secret.isEmpty else { return nil }
        let kept = try await records.read { records in
            try records.row("SELECT secret FROM {clients} WHERE id = ?", [.text(client)])?.text(0)
        }
        return kept == Secret.hash(secret)
    }
}
