import FieldworkREST
import Foundation

/// One read-only connection on a thread of its own. At most one statement stays open between calls: that of a stream.
actor Reader {
    private nonisolated let executor: QueueExecutor
    private let path: String
    private var connection: SQLiteConnection?
    private var cursor: (any PieceSource)?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(path: String, number: Int) {
        self.path = path
        executor = QueueExecutor(label: "fieldwork.reader.\(number)")
    }

    struct Piece: Sendable {
        var bytes: [UInt8]
        var isLast: Bool
    }

    /// Opens the connection at first use: an idle file costs nothing.
    private func opened() throws -> SQLiteConnection {
        if let connection { return connection }
        let opened = try SQLiteConnection(path: path, mode: .readOnly)
        connection = opened
        return opened
    }

    /// Opens a cursor and gives the first piece of the answer.
    func first(size: Int, cursor: @Sendable (SQLiteConnection) throws -> any PieceSource) throws -> Piece {
        self.cursor = try cursor(opened())
        return try next(size: size)
    }

    func next(size: Int) throws -> Piece {
        guard let cursor else { return Piece(bytes: [], isLast: true) }
        do {
            let bytes = try cursor.piece(of: size)
            let isLast = cursor.isAtEnd
            if isLast { self.cursor = nil }
            return Piece(bytes: bytes, isLast: isLast)
        } catch {
            self.cursor = nil
            throw error
        }
    }

    func closeCursor() { cursor = nil }

    /// Runs a short read.
    func read<Result: Sendable>(_ body: @Sendable (SQLiteConnection) throws -> Result) throws -> Result {
        try body(opened())
    }

    func close() {
        cursor = nil
        connection?.forgetStatements()
        connection = nil
    }
}
