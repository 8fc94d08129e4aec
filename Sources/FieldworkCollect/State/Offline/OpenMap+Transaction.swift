import Fieldwork
import Foundation

/// A transaction of an offline area: its edits are in the file together or not at all. The file takes them back when the
/// process ends in the middle; the journal has them still, and they are made again at the next start.
struct AreaTransaction: Sendable, Hashable {
    /// Edits that aren't taken back.
    let count: Int
    /// An earlier process began it and didn't end it.
    let isUnfinished: Bool
}

extension OpenMap {
    /// nil where no transaction is open.
    var transaction: AreaTransaction? {
        guard offline != nil, let id = journal.openTransaction else { return nil }
        let count = journal.entries.count { $0.transaction == id && !$0.isUndone && $0.undoes == nil }
        return AreaTransaction(count: count, isUnfinished: journal.isTransactionUnfinished)
    }

    func beginTransaction() throws {
        guard let offline else {
            throw CollectError(
                .notAllowed, "Transactions need an offline area.", nextStep: "Take an area offline and work in it.")
        }
        do {
            for geodatabase in offline.geodatabases { try geodatabase.beginTransaction() }
            try journal.beginTransaction(UUID())
        } catch {
            for geodatabase in offline.geodatabases where geodatabase.isInTransaction {
                try geodatabase.rollbackTransaction()
            }
            throw error
        }
    }

    /// Makes the edits of the transaction durable, at once: in several files one after the other. When that is broken off, by a full disk
    /// or the end of the process, what is in one file for good is brought into the others by the next call or the next start.
    /// - Returns: how many they are.
    func keepTransaction() async throws -> Int {
        let (open, offline) = try openTransaction()
        for part in offline.parts {
            if !part.geodatabase.isInTransaction, try await isKept(in: part) != false { continue }
            try part.geodatabase.commitTransaction()
        }
        try journal.endTransaction(isKept: true)
        return open.count
    }

    /// Takes back all edits of the transaction.
    /// - Returns: how many they were.
    func discardTransaction() async throws -> Int {
        let (open, offline) = try openTransaction()
        for part in offline.parts where !part.geodatabase.isInTransaction {
            guard try await isKept(in: part) != true else {
                throw CollectError(
                    .notAllowed, "A part of the transaction is kept already.", nextStep: "Keep all of it.")
            }
        }
        // Told first: a crash in between must not bring back what was thrown away.
        try journal.endTransaction(isKept: false)
        for geodatabase in offline.geodatabases where geodatabase.isInTransaction {
            try geodatabase.rollbackTransaction()
        }
        forgetAll()
        await tiles.invalidate(Set(layers.map(\.id)))
        return open.count
    }

    private func openTransaction() throws -> (AreaTransaction, OfflineWork) {
        guard let transaction, let offline else {
            throw CollectError(
                .notAllowed, "No transaction is open.", nextStep: "It may have been ended in another window.")
        }
        return (transaction, offline)
    }

    // MARK: After a crash

    /// Opens the transaction again that an earlier process left open, with all its edits.
    func recoverTransaction() async throws {
        guard let offline, let id = journal.openTransaction else { return }
        let entries = journal.entries.filter { $0.transaction == id }
        // The process may have ended between a file's commit and the journal's line about it.
        var kept: [Geodatabase] = []
        var isWhole = true
        for part in offline.parts {
            switch try await isKept(in: part) {
            case true: kept.append(part.geodatabase)
            case false: isWhole = false
            default: break
            }
        }
        if !kept.isEmpty, isWhole {
            try journal.endTransaction(isKept: true)
            return
        }
        for geodatabase in offline.geodatabases { try geodatabase.beginTransaction() }
        for entry in entries where !kept.contains(where: { $0 === geodatabase(of: entry) }) {
            do {
                try await redo(entry)
            } catch {
                let reason = (error as? any ArcGISError)?.details ?? "\(error)"
                try journal.setProgress(.refused("It could not be made again: \(reason)"), of: [entry.id])
            }
        }
        // What one file has for good, the user wanted to keep.
        if !kept.isEmpty { _ = try await keepTransaction() }
    }

    private func geodatabase(of entry: EditEntry) -> Geodatabase? {
        (layer(entry.feature.layer)?.table as? GeodatabaseFeatureTable)?.geodatabase
    }

    /// Whether a file has its edits of the open transaction; nil for one that has none.
    private func isKept(in part: OfflineWork.Part) async throws -> Bool? {
        guard let id = journal.openTransaction else { return nil }
        let entries = journal.entries.filter { $0.transaction == id && geodatabase(of: $0) === part.geodatabase }
        return entries.isEmpty ? nil : try await isInFile(entries)
    }

    private func redo(_ entry: EditEntry) async throws {
        guard let layer = layer(entry.feature.layer) else {
            throw CollectError(.notFound, "The layer isn't in the area any more.")
        }
        let there = try await row(entry.feature)
        switch entry.kind {
        case .create:
            guard there == nil, let after = entry.after else { return }
            let feature = try remake(after, in: layer)
            try await layer.table.add(feature)
            if let reference = layer.reference(of: feature) {
                try journal.setAlias(journal.current(entry.feature), now: reference)
            }
        case .update, .move:
            guard let there, let before = entry.before, let after = entry.after else { return }
            for name in Self.changes(from: before, to: after, layer) {
                let value = after.attributes[name] ?? .null
                there.setAttributeValue(value.value(for: layer.field(named: name)?.type), forKey: name)
            }
            if before.geometry != after.geometry {
                there.geometry = try after.geometry.map { try Geometry.fromJSON($0) }
            }
            try await layer.table.update(there)
        case .delete:
            if let there { try await layer.table.delete(there) }
        }
    }

    private func row(_ reference: FeatureReference) async throws -> Feature? {
        do {
            return try await find(reference).feature
        } catch let error as CollectError where error.code == .notFound {
            return nil
        }
    }

    /// Whether the file has the edits: the first feature that they made, deleted or changed tells for all.
    private func isInFile(_ entries: [EditEntry]) async throws -> Bool {
        for (reference, list) in Dictionary(grouping: entries, by: { journal.current($0.feature) }) {
            guard let first = list.first, let last = list.last, let layer = layer(reference.layer) else { continue }
            let (was, isNow) = (first.kind != .create, last.kind != .delete)
            let there = try await row(reference).map(FeatureSnapshot.init)
            if was != isNow { return (there != nil) == isNow }
            guard let there, let before = first.before, let after = last.after else { continue }
            for name in Self.changes(from: before, to: after, layer) {
                return there.attributes[name] == after.attributes[name]
            }
            if before.geometry != after.geometry { return there.geometry == after.geometry }
        }
        return false
    }

    /// The editable fields whose values differ.
    private static func changes(from before: FeatureSnapshot, to after: FeatureSnapshot, _ layer: MapLayer) -> [String]
    {
        Set(before.attributes.keys).union(after.attributes.keys).filter {
            before.attributes[$0] != after.attributes[$0] && layer.field(named: $0)?.isEditable == true
        }.sorted()
    }
}
