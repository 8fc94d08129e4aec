import FieldworkREST
import FieldworkStore

/// Slows guessing down: after some failures each further one makes the account, or the address that the guesses come from,
/// wait twice as long.
enum SignInGuard {
    static func account(_ name: String) -> String { "account " + Person.key(name) }
    static func address(_ address: String) -> String { "address " + address }

    /// How long to wait after so many failures, in seconds.
    static func wait(after failures: Int64, allowed: Int) -> Int64 {
        let beyond = failures - Int64(allowed)
        guard beyond >= 0 else { return 0 }
        return beyond >= 10 ? Limits.lockSeconds : min(Limits.lockSeconds, 1 << beyond)
    }

    /// Throws while the account or the address has to wait.
    static func check(_ names: [String], now: Int64, _ records: Records) throws {
        for name in names {
            guard let row = try records.row("SELECT until FROM {failures} WHERE name = ?", [.text(name)]),
                row.integer(0) > now
            else { continue }
            let seconds = (row.integer(0) - now + 999) / 1_000
            throw PortalError(
                .locked(seconds: seconds), "Too many sign-ins have failed. Try again in \(words(of: seconds)).")
        }
    }

    private static func words(of seconds: Int64) -> String {
        let (count, unit) = seconds < 120 ? (seconds, "second") : ((seconds + 59) / 60, "minute")
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }

    static func fail(_ names: [(name: String, allowed: Int)], now: Int64, _ records: Records) throws {
        try records.run(
            "DELETE FROM {failures} WHERE last < ?", [.integer(now - Limits.failureMemorySeconds * 1_000)])
        for (name, allowed) in names {
            let before = try records.row("SELECT count FROM {failures} WHERE name = ?", [.text(name)])?.integer(0) ?? 0
            let count = before + 1
            try records.run(
                """
                INSERT INTO {failures} (name, count, last, until) VALUES (?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET count = excluded.count, last = excluded.last, until = excluded.until
                """,
                [
                    .text(name), .integer(count), .integer(now),
                    .integer(now + wait(after: count, allowed: allowed) * 1_000),
                ])
        }
    }

    static func succeed(_ name: String, _ records: Records) throws {
        try records.run("DELETE FROM {failures} WHERE name = ?", [.text(name)])
    }
}
