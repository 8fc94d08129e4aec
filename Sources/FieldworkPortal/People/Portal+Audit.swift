import FieldworkREST
import FieldworkStore

/// One sign-in, or one change of rights.
package struct AuditEntry: Sendable, Hashable {
    package var id: Int64
    /// Milliseconds since 1970.
    package var moment: Int64
    package var actor: String
    package var address: String
    package var action: String
    package var target: String
    package var details: String
}

extension Portal {
    /// Writes an entry in the transaction of the change that it is about.
    static func note(
        _ action: String, _ target: String, _ details: String, _ author: Author, _ moment: Int64, _ records: Records
    ) throws {
        try records.run(
            "INSERT INTO {audit} (moment, actor, address, action, target, details) VALUES (?, ?, ?, ?, ?, ?)",
            [
                .integer(moment), .text(author.name), .text(author.address), .text(action), .text(target),
                .text(String(details.prefix(Limits.titleLength))),
            ])
    }

    /// Entries, the newest first.
    /// - Parameter before: the id of the entry where the last answer ended.
    package func audit(before: Int64? = nil, count: Int = 1_000) async throws -> [AuditEntry] {
        let limit = min(max(0, count), Limits.auditEntriesPerAnswer)
        return try await records.read { records in
            try records.rows(
                """
                SELECT id, moment, actor, address, action, target, details FROM {audit}
                WHERE id < ? ORDER BY id DESC LIMIT \(limit)
                """, [.integer(before ?? .max)]
            ).map { row in
                AuditEntry(
                    id: row.integer(0), moment: row.integer(1), actor: row.text(2) ?? "", address: row.text(3) ?? "",
                    action: row.text(4) ?? "", target: row.text(5) ?? "", details: row.text(6) ?? "")
            }
        }
    }
}
