import FieldworkREST
import Foundation

/// One read-only connection on a thread of its own. At most one statement stays open between calls: that of a stream.
actor Reader: ConnectionBudget.Holder {
    private nonisolated let executor: QueueExecutor
    private let source: ConnectionSource
    private var connection: StoreConnection?
    private var cursor: (any PieceSource)?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(source: ConnectionSource, number: Int) {
        self.source = source
        executor = QueueExecutor(label: "fieldwork.reader.\(number)")
    }

    struct Piece: Sendable {
        var bytes: [UInt8]
        var isLast: Bool
    }

    /// Opens the connection at first use: an idle file costs nothing.
    private func opened() throws -> StoreConnection {
        if let connection { return connection }
        let opened = try source.openWithinBudget(.readOnly) { try $0.mapFile() }
        connection = opened
        return opened
    }

    /// Runs something that uses the connection, which others may need afterwards.
    private func using<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let budget = source.budget else { return try body() }
        budget.begin(self)
        defer { if connection != nil, cursor == nil, budget.end(self) { closeConnection() } }
        return try body()
    }

    func closeIdleConnection() -> Bool {
        guard connection != nil, cursor == nil else { return false }
        closeConnection()
        return true
    }

    private func closeConnection() {
        guard connection != nil else { return }
        connection?.forgetStatements()
        connection = nil
        source.budget?.giveBack(self)
    }

    /// Opens a cursor and gives the first piece of the answer.
    func first(
        _ turn: ReaderTurn, size: Int, isGlance: Bool = false,
        cursor: @Sendable (StoreConnection) throws -> any PieceSource
    ) throws -> Piece {
        try watched(turn, isGlance) { connection in
            self.cursor = try cursor(connection)
            return try piece(size)
        }
    }

    func next(_ turn: ReaderTurn, size: Int) throws -> Piece {
        // Of a store that was closed nothing is opened again.
        guard cursor != nil else { return Piece(bytes: [], isLast: true) }
        return try watched(turn) { _ in try piece(size) }
    }

    /// Runs something within the limits of whoever asked for it. What fails leaves no cursor behind.
    private func watched<Result>(
        _ turn: ReaderTurn, _ isGlance: Bool = false, _ body: (StoreConnection) throws -> Result
    ) throws -> Result {
        try using {
            let connection = try opened()
            do {
                return try FileMapping.guarding {
                    try connection.watch.run(turn.allowance, turn: turn, isGlance: isGlance) { try body(connection) }
                }
            } catch {
                cursor = nil
                if error is UnreadablePage { try giveUpFile() }
                throw error
            }
        }
    }

    /// Closes the connection: pages that could not be read stay zeros in its mapping.
    private func giveUpFile() throws {
        closeConnection()
        try source.watch?.check()
        throw StoreError(
            .corrupt,
            "A part of \(source.watch?.name ?? "the file") can't be read: it was shortened, or its disk fails.")
    }

    private func piece(_ size: Int) throws -> Piece {
        guard let cursor else { return Piece(bytes: [], isLast: true) }
        let bytes = try cursor.piece(of: size)
        let isLast = cursor.isAtEnd
        if isLast { self.cursor = nil }
        return Piece(bytes: bytes, isLast: isLast)
    }

    func closeCursor() { using { cursor = nil } }

    /// Runs a read.
    func read<Result: Sendable>(
        _ turn: ReaderTurn, isGlance: Bool = false, _ body: @Sendable (StoreConnection) throws -> Result
    ) throws -> Result {
        try watched(turn, isGlance) { try body($0) }
    }

    /// Runs a glance on the caller's thread, without the way to another one and back. Only for whoever has taken the reader.
    /// - Returns: nil when the connection is not open yet, which may take longer, and when the glance turned out to be none.
    nonisolated func atOnce<Result: Sendable>(_ body: @Sendable (isolated Reader) throws -> Result) throws -> Result? {
        do {
            return try executor.sync { try assumeIsolated { $0.connection == nil ? nil : try body($0) } }
        } catch is NoGlance {
            return nil
        }
    }

    /// Gives back the pages that the connection keeps.
    func releaseMemory() { connection?.releaseMemory() }

    func close() {
        cursor = nil
        closeConnection()
    }
}
