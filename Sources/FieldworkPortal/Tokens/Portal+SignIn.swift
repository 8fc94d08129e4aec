import FieldworkREST
import FieldworkStore

extension Portal {
    /// Checks a name and a password. Unknown names, wrong passwords and disabled accounts take the same work and give the same
    /// error.
    package func signIn(_ name: String, password: String, from address: String) async throws -> Person {
        let names = [SignInGuard.account(name), SignInGuard.address(address)]
        let moment = now
        let found = try await records.read { records in
            try SignInGuard.check(names, now: moment, records)
            return (
                try Self.person(named: name, records),
                try records.row("SELECT password FROM {people} WHERE name = ?", [.text(Person.key(name))])?.text(0)
            )
        }
        let hash = found.1.flatMap { PasswordHash(text: $0) }
        let isShort = password.utf8.count <= Limits.passwordBytes
        let matches = try await hasher.check(isShort ? password : "", against: hash)
        guard matches, isShort, let person = found.0, !person.isDisabled else {
            try await noteFailure(name, address, moment)
            throw PortalError(.wrongPassword, "Invalid username or password.")
        }
        let upgraded = hash?.cost == hasher.cost ? nil : try await hasher.hash(password).text
        let author = Author(name: person.name, address: address)
        try await records.write { records in
            // Guesses that were sent all at once have failed meanwhile: the right one among them is none the better for it.
            try SignInGuard.check(names, now: moment, records)
            try SignInGuard.succeed(SignInGuard.account(name), records)
            try records.run(
                "UPDATE {people} SET last_sign_in = ? WHERE name = ?", [.integer(moment), .text(Person.key(name))])
            if let upgraded {
                try records.run(
                    "UPDATE {people} SET password = ? WHERE name = ? AND password = ?",
                    [.text(upgraded), .text(Person.key(name)), .text(found.1 ?? "")])
            }
            try Self.note("signIn", person.name, "", author, moment, records)
        }
        return person
    }

    /// How often the password of an account may be wrong before the account has to wait, whether it is there or not.
    package func signInsLeft(of name: String) async throws -> Int {
        let account = SignInGuard.account(String(name.prefix(Limits.nameLength)))
        let failures = try await records.read { records in
            try records.row("SELECT count FROM {failures} WHERE name = ?", [.text(account)])?.integer(0) ?? 0
        }
        return max(0, Limits.failuresPerAccount - Int(clamping: failures))
    }

    private func noteFailure(_ name: String, _ address: String, _ moment: Int64) async throws {
        let shown = String(name.prefix(Limits.nameLength))
        try await records.write { records in
            try SignInGuard.fail(
                [
                    (SignInGuard.account(shown), Limits.failuresPerAccount),
                    (SignInGuard.address(address), Limits.failuresPerAddress),
                ], now: moment, records)
            try Self.note("signIn.failed", shown, "", Author(name: "", address: address), moment, records)
        }
    }

    /// Ends the wait of an account after failed sign-ins.
    package func unlock(_ name: String, by author: Author) async throws {
        let moment = now
        try await records.write { records in
            try SignInGuard.succeed(SignInGuard.account(name), records)
            try Self.note("user.unlock", name, "", author, moment, records)
        }
    }
}
