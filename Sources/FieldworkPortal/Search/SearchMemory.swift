import FieldworkREST
import FieldworkStore
import Synchronization

/// The index of searches, kept in step with the tables: each search first reads what has changed since the last one. It is read whole
/// by the first search.
final class SearchMemory: Sendable {
    private struct State {
        var index: SearchIndex?
        /// The last change that is in the index.
        var newest: Int64 = 0
    }

    private let state = Mutex(State())

    /// Searches an index that has every change that was made before. One search at a time.
    func search<Result: Sendable>(
        _ records: Records, _ body: (inout SearchIndex) throws -> Result
    ) throws -> Result {
        try state.withLock { state in
            try Self.catchUp(&state, records)
            var index = state.index ?? SearchIndex()
            // The only copy, so that nothing of it is copied when it changes.
            state.index = nil
            defer { state.index = index }
            return try body(&index)
        }
    }

    private static func catchUp(_ state: inout State, _ records: Records) throws {
        // Read before the items: what changes in between is read once more by the next search.
        let newest = try ItemChanges.newest(records) ?? 0
        if state.index != nil {
            if newest == state.newest { return }
            if newest > state.newest,
                let changed = try ItemChanges.items(after: state.newest, to: newest, records)
            {
                for id in changed {
                    if let item = try Portal.item(id, records) {
                        state.index?.add(item)
                    } else {
                        state.index?.remove(id)
                    }
                }
                state.newest = newest
                return
            }
        }
        // Nothing is known, or the tables went back in time, or too much has changed.
        state.index = nil
        state.index = try whole(records)
        state.newest = newest
    }

    private static func whole(_ records: Records) throws -> SearchIndex {
        var groups: [String: Set<String>] = [:]
        for row in try records.rows("SELECT item, group_id FROM {item_groups}") {
            if let item = row.text(0), let group = row.text(1) { groups[item, default: []].insert(group) }
        }
        var index = SearchIndex()
        var last = ""
        while true {
            let rows = try records.rows(
                """
                SELECT \(Portal.itemColumns) FROM \(Portal.itemTables) WHERE i.id > ? ORDER BY i.id
                LIMIT \(Limits.indexedAtOnce)
                """, [.text(last)])
            for row in rows {
                var item = Portal.item(row)
                item.sharing.groups = groups[item.id] ?? []
                index.add(item)
                last = item.id
            }
            if rows.count < Limits.indexedAtOnce { return index }
        }
    }
}
