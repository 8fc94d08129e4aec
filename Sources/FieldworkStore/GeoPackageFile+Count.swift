import FieldworkREST
import Foundation
import Synchronization

extension GeoPackageFile {
    /// How many features a layer has, without suspending: for properties that answer at once. Edits of an open transaction
    /// count. It reads one kept number, whatever the size of the layer. Throws `StoreError`.
    package func countNow(in layerID: Int) throws -> Int {
        let id = Int64(try layer(layerID).definition.id)
        return isInTransaction ? try writer.countNow(in: id) : try counter.count(id)
    }
}

/// A connection for counts alone, opened at the first and kept: opening one costs a thousand times what the count does.
final class FeatureCounter: Sendable {
    private enum State {
        case unopened, closed
        case opened(StoreConnection)
    }

    private let source: ConnectionSource
    private let state = Mutex(State.unopened)

    init(_ source: ConnectionSource) { self.source = source }

    /// The number of features that the last commit left. After `close` the connection is not kept.
    func count(_ layerID: Int64) throws -> Int {
        try state.withLock { state in
            if case .opened(let connection) = state { return try Self.count(layerID, on: connection) }
            let connection = try source.open(.readOnly)
            if case .unopened = state { state = .opened(connection) }
            return try Self.count(layerID, on: connection)
        }
    }

    func close() {
        state.withLock { state in
            if case .opened(let connection) = state { connection.forgetStatements() }
            state = .closed
        }
    }

    /// Whether a connection is kept now; for tests.
    var isOpen: Bool { state.withLock { if case .opened = $0 { true } else { false } } }

    fileprivate static func count(_ layerID: Int64, on connection: StoreConnection) throws -> Int {
        let count = try connection.integer("SELECT row_count FROM fieldwork_counts WHERE layer_id = ?") {
            try $0.bind(layerID, at: 1)
        }
        return Int(count ?? 0)
    }
}

extension Writer {
    /// The count as the open transaction sees it.
    nonisolated fileprivate func countNow(in layerID: Int64) throws -> Int {
        try executor.sync {
            try assumeIsolated { writer in try FeatureCounter.count(layerID, on: writer.opened()) }
        }
    }
}
