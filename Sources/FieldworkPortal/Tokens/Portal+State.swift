import FieldworkREST
import FieldworkStore

/// What an application asked for, while a person signs in on the page. It is kept here, under a random name that is good once:
/// what a browser brings back is only the name.
extension Portal {
    package func keepState(_ text: String) async throws -> String {
        let name = Secret.make()
        let moment = now
        try await records.write { records in
            try records.run("DELETE FROM {tokens} WHERE kind = 'state' AND expires < ?", [.integer(moment)])
            let count = try records.row("SELECT count(*) FROM {tokens} WHERE kind = 'state'")?.integer(0) ?? 0
            if count >= Int64(Limits.signInsUnderWay) {
                try records.run(
                    """
                    DELETE FROM {tokens} WHERE hash IN (
                        SELECT hash FROM {tokens} WHERE kind = 'state' ORDER BY created, hash
                        LIMIT \(count - Int64(Limits.signInsUnderWay) + 1))
                    """)
            }
            try records.run(
                """
                INSERT INTO {tokens} (hash, kind, person, client, family, created, expires, redirect)
                VALUES (?, 'state', '', '', ?, ?, ?, ?)
                """,
                [
                    .text(Secret.hash(name)), .text(Secret.id()), .integer(moment),
                    .integer(moment + Limits.stateSeconds * 1_000), .text(text),
                ])
        }
        return name
    }

    /// What is kept under a name, which stays good; nil for one that is unknown, too old or was used.
    package func state(_ name: String) async throws -> String? {
        let moment = now
        return try await records.read { records in
            try records.row(
                "SELECT redirect FROM {tokens} WHERE hash = ? AND kind = 'state' AND expires > ?",
                [.text(Secret.hash(name)), .integer(moment)])?.text(0)
        }
    }

    /// nil for a name that is unknown, too old or was used.
    package func takeState(_ name: String) async throws -> String? {
        let moment = now
        return try await records.write { records in
            let hash = AttributeValue.text(Secret.hash(name))
            let row = try records.row(
                "SELECT redirect FROM {tokens} WHERE hash = ? AND kind = 'state' AND expires > ?",
                [hash, .integer(moment)])
            // Of two requests with the same name one takes it.
            let taken = try records.run("DELETE FROM {tokens} WHERE hash = ? AND kind = 'state'", [hash])
            return taken == 1 ? row?.text(0) : nil
        }
    }
}
