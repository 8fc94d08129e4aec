import Fieldwork
import Foundation

/// A transaction of an offline area: its edits are in the area's files together or not at all.
struct AreaTransaction: Sendable, Hashable {
    /// Edits that aren't taken back.
    let count: Int
    /// An earlier process began it and didn't end it.
    let isUnfinished: Bool
}

extension OpenMap {
    /// nil where no transaction is open.
    var transaction: AreaTransaction? {
        guard offline != nil, journal.openTransaction != nil else { return nil }
        return AreaTransaction(count: journal.transactionCount, isUnfinished: journal.isTransactionUnfinished)
    }

    func beginTransaction() throws {
        guard let offline else {
            throw CollectError(
                .notAllowed, "Transactions need an offline area.", nextStep: "Take an area offline and work in it.")
        }
        try journal.beginTransaction(in: offline.geodatabases)
    }

    /// Makes the edits of the transaction durable.
    /// - Returns: how many they are.
    func keepTransaction() async throws -> Int {
        try await journal.commitTransaction(in: try filesInTransaction())
    }

    /// Takes back all edits of the transaction.
    /// - Returns: how many they were.
    func discardTransaction() async throws -> Int {
        let count: Int
        do {
            count = try await journal.rollbackTransaction(in: try filesInTransaction())
        } catch EditJournalError.partlyCommitted(let details) {
            throw CollectError(.notAllowed, details, nextStep: "Keep all of it.")
        }
        forgetAll()
        await tiles.invalidate(Set(layers.map(\.id)))
        return count
    }

    private func filesInTransaction() throws -> [Geodatabase] {
        guard transaction != nil, let offline else {
            throw CollectError(
                .notAllowed, "No transaction is open.", nextStep: "It may have been ended in another window.")
        }
        return offline.geodatabases
    }
}
