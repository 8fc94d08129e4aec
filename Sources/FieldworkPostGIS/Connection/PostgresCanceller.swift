import CPostgres

/// Interrupts what a connection is doing, from any thread: for a caller that hung up. The statement then fails with
/// `PostgresError.Kind.cancelled`; when it was done before, nothing happens.
package final class PostgresCanceller: Sendable {
    /// libpq's copy of what a request to cancel needs. It is never changed, and `PQcancel` may be called on any thread.
    private struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer?
    }

    private let handle: Handle

    init(connection: OpaquePointer) { handle = Handle(pointer: PQgetCancel(connection)) }

    deinit { PQfreeCancel(handle.pointer) }

    /// Asks the server to stop, on a connection of its own. Waits until the request was sent; false when it was not.
    @discardableResult
    package func cancel() -> Bool {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            PQcancel(handle.pointer, buffer.baseAddress, Int32(buffer.count)) == 1
        }
    }
}
