import Synchronization

/// A transaction that spans batches, for the one user of a file on a device (`Geodatabase.beginTransaction`). A server has
/// many users and opens none.
extension Writer {
    /// Opens a transaction. Returns when it is open; throws `StoreError.busy` inside another one.
    nonisolated func begin() throws {
        try executor.sync { try assumeIsolated { writer in try writer.beginTransaction() } }
    }

    /// Commits what was written since `begin`, or takes it back. A commit has survived the loss of power when it returns.
    nonisolated func end(keeps: Bool) throws {
        try executor.sync { try assumeIsolated { writer in try writer.endTransaction(keeps: keeps) } }
    }

    nonisolated func closeNow() { executor.sync { assumeIsolated { writer in writer.close() } } }

    private func beginTransaction() throws {
        let connection = try opened()
        guard !connection.isInTransaction else { throw StoreError(.busy, "A transaction is open already.") }
        try connection.begin()
        transactionStart = try ChangeLog.generation(on: connection) + 1
        isInTransaction.withLock { $0 = true }
    }

    func endTransaction(keeps: Bool) throws {
        let connection = try opened()
        guard isInTransaction.withLock({ $0 }) else { throw StoreError(.failure, "No transaction is open.") }
        guard connection.isInTransaction else {
            // A full disk or a failing one ends a transaction by itself.
            isInTransaction.withLock { $0 = false }
            transactionStart = nil
            if keeps { throw StoreError(.failure, "The transaction was undone when an edit in it failed.") }
            return
        }
        if keeps {
            try EditApplier.close(on: connection)
            // A commit that fails for now (another program reads the file's last state) leaves the transaction open.
            try connection.commit()
        } else {
            try connection.rollBack()
        }
        isInTransaction.withLock { $0 = false }
        transactionStart = nil
        moveLongLog()
    }
}
