import Foundation

/// A transaction of the journal goes over several geodatabases and outlives the process: their files take its edits back when the process ends
/// in the middle; the journal has them still, and they are made again at the next start.
extension EditJournal {
    /// How many edits the open transaction holds that were not taken back; 0 where none is open.
    public var transactionCount: Int {
        guard let id = openTransaction else { return 0 }
        return entries.count { $0.transaction == id && !$0.isUndone && $0.undoes == nil }
    }

    /// Opens a transaction in geodatabases, and writes down that it is open. What is recorded from now on belongs to it.
    ///
    /// Throws `GeodatabaseError.transactionStarted` where one is open already. When it throws none is open.
    /// - Parameter geodatabases: Those of the tables.
    public func beginTransaction(in geodatabases: [Geodatabase]) throws {
        guard openTransaction == nil else {
            throw GeodatabaseError.transactionStarted(details: "A transaction is open already.")
        }
        var begun: [Geodatabase] = []
        do {
            for geodatabase in geodatabases {
                try geodatabase.beginTransaction()
                begun.append(geodatabase)
            }
            try noteBegin(UUID())
        } catch {
            for geodatabase in begun { try geodatabase.rollbackTransaction() }
            throw error
        }
    }

    /// Makes the edits of the transaction durable: at once in each geodatabase, in one after the other. When that is broken off, by a full
    /// disk or the end of the process, what is in one for good is brought into the others by the next call or by
    /// ``recoverTransaction(in:)``.
    ///
    /// Throws `GeodatabaseError.transactionNotStarted` where none is open, and what the geodatabases throw.
    /// - Returns: How many edits they are.
    @discardableResult
    public func commitTransaction(in geodatabases: [Geodatabase]) async throws -> Int {
        let id = try requireTransaction()
        let count = transactionCount
        for geodatabase in geodatabases {
            if !geodatabase.isInTransaction, try await has(id, in: geodatabase) != false { continue }
            try geodatabase.commitTransaction()
        }
        try noteEnd(isKept: true)
        return count
    }

    /// Takes back all edits of the transaction.
    ///
    /// Throws `GeodatabaseError.transactionNotStarted` where none is open, and ``EditJournalError/partlyCommitted(details:)`` where a
    /// geodatabase has its edits for good already.
    /// - Returns: How many edits they were.
    @discardableResult
    public func rollbackTransaction(in geodatabases: [Geodatabase]) async throws -> Int {
        let id = try requireTransaction()
        for geodatabase in geodatabases where !geodatabase.isInTransaction {
            guard try await has(id, in: geodatabase) != true else {
                throw EditJournalError.partlyCommitted(details: "A part of the transaction is kept already.")
            }
        }
        let count = transactionCount
        // Written down first: a crash in between must not bring back what was thrown away.
        try noteEnd(isKept: false)
        for geodatabase in geodatabases where geodatabase.isInTransaction { try geodatabase.rollbackTransaction() }
        return count
    }

    /// Opens the transaction again that an earlier process left open, with all its edits, as far as they can be made again: one that can't is
    /// ``Entry/Progress/refused(_:)``. Does nothing where none was left open.
    ///
    /// Throws what the geodatabases throw.
    /// - Parameter geodatabases: Those of the tables, loaded, none of them in a transaction.
    public func recoverTransaction(in geodatabases: [Geodatabase]) async throws {
        guard let id = openTransaction else { return }
        // The process may have ended between a file's commit and the journal's line about it.
        var kept: [Geodatabase] = []
        var isWhole = true
        for geodatabase in geodatabases {
            switch try await has(id, in: geodatabase) {
            case true: kept.append(geodatabase)
            case false: isWhole = false
            default: break
            }
        }
        if !kept.isEmpty, isWhole { return try noteEnd(isKept: true) }
        for geodatabase in geodatabases { try geodatabase.beginTransaction() }
        for entry in entries where entry.transaction == id {
            if let own = geodatabase(of: entry), kept.contains(where: { $0 === own }) { continue }
            do {
                try await redo(entry)
            } catch {
                let reason = (error as? any ArcGISError)?.details ?? "\(error)"
                try setProgress(.refused("It could not be made again: \(reason)"), of: [entry.id])
            }
        }
        // What one file has for good, the user wanted to keep.
        if !kept.isEmpty { try await commitTransaction(in: geodatabases) }
    }

    private func requireTransaction() throws -> UUID {
        guard let id = openTransaction else {
            throw GeodatabaseError.transactionNotStarted(details: "No transaction is open.")
        }
        return id
    }

    private func geodatabase(of entry: Entry) -> Geodatabase? {
        (tables[entry.feature.layer] as? GeodatabaseFeatureTable)?.geodatabase
    }

    /// Whether a geodatabase has its edits of a transaction; nil for one that has none.
    private func has(_ transaction: UUID, in geodatabase: Geodatabase) async throws -> Bool? {
        let own = entries.filter { $0.transaction == transaction && self.geodatabase(of: $0) === geodatabase }
        return own.isEmpty ? nil : try await isMade(own)
    }

    /// Whether tables have edits: the first feature that they made, deleted or changed tells for all.
    private func isMade(_ entries: [Entry]) async throws -> Bool {
        for (reference, list) in Dictionary(grouping: entries, by: { current($0.feature) }) {
            guard let first = list.first, let last = list.last, let table = tables[reference.layer] else { continue }
            let (was, isNow) = (first.kind != .create, last.kind != .delete)
            let there = try await feature(reference).map { FeatureSnapshot($0) }
            if was != isNow { return (there != nil) == isNow }
            guard let there, let before = first.before, let after = last.after else { continue }
            for name in Self.editableChanges(from: before, to: after, in: table) {
                return there.attributes[name] == after.attributes[name]
            }
            if before.geometry != after.geometry { return there.geometry == after.geometry }
        }
        return false
    }

    private func redo(_ entry: Entry) async throws {
        let table = try table(of: entry)
        let there = try await feature(entry.feature)
        switch entry.kind {
        case .create:
            guard there == nil, let after = entry.after else { return }
            let feature = try Self.remake(after, in: table)
            try await table.add(feature)
            _ = try noteReturn(of: entry, as: feature)
        case .update, .move:
            guard let there, let before = entry.before, let after = entry.after else { return }
            let changed = Self.editableChanges(from: before, to: after, in: table)
            try Self.put(after, into: there, changed: changed, movedFrom: before, in: table)
            try await table.update(there)
        case .delete:
            if let there { try await table.delete(there) }
        }
    }
}
