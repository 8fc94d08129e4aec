import FieldworkREST
import FieldworkStore

/// The log of items that were added, changed, shared or removed. Whoever keeps something of items in memory reads here what to read
/// anew: this process and others with the same tables.
enum ItemChanges {
    /// Notes a change, in the transaction that makes it.
    static func note(_ item: String, _ records: Records) throws {
        try records.run("INSERT INTO {changed_items} (item) VALUES (?)", [.text(item)])
        guard let newest = try newest(records) else { return }
        try records.run(
            "DELETE FROM {changed_items} WHERE number <= ?", [.integer(newest - Limits.keptItemChanges)])
    }

    /// Notes that each item has changed.
    static func noteAll(_ records: Records) throws {
        try records.run("INSERT INTO {changed_items} (item) SELECT id FROM {items}")
    }

    /// The number of the newest change; nil where none is kept.
    static func newest(_ records: Records) throws -> Int64? {
        try records.row("SELECT number FROM {changed_items} ORDER BY number DESC LIMIT 1").map { $0.integer(0) }
    }

    /// The items that were changed after one change up to another, each once; nil when the log does not go back that far.
    static func items(after: Int64, to newest: Int64, _ records: Records) throws -> Set<String>? {
        let oldest = try records.row("SELECT number FROM {changed_items} ORDER BY number LIMIT 1")?.integer(0)
        guard let oldest, oldest <= after + 1 else { return nil }
        return Set(
            try records.rows(
                "SELECT item FROM {changed_items} WHERE number > ? AND number <= ?",
                [.integer(after), .integer(newest)]
            ).compactMap { $0.text(0) })
    }
}
