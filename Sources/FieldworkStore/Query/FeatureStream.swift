import FieldworkREST
import Foundation
import Synchronization

/// The rest of an answer whose first piece is there already. It holds its reader until the last piece is taken or the
/// stream is dropped.
final class FeatureStream: Sendable {
    private struct State {
        var first: [UInt8]?
        var reader: Reader?
    }

    private let pool: ReaderPool
    private let state: Mutex<State>

    /// Takes a reader and computes the first piece, so that a query that can't be answered fails here and not in the
    /// middle of an answer. A common answer is this one piece: one hop to the reader and back.
    static func start<Encoder: FeatureEncoder>(
        _ query: FeatureQuery, in layer: StoredLayer, encoder: Encoder, pool: ReaderPool
    ) async throws -> EncodedFeatures {
        let now = Int64(Date.now.timeIntervalSince1970 * 1_000)
        return try await start(encoder: encoder, pool: pool) {
            try QueryCompiler(layer: layer, connection: $0, now: now).features(query)
        }
    }

    /// The same for any plan, which is made on the reader that runs it.
    static func start<Encoder: FeatureEncoder>(
        encoder: Encoder, pool: ReaderPool, plan: @escaping @Sendable (StoreConnection) throws -> QueryPlan
    ) async throws -> EncodedFeatures {
        try await start(pool: pool) { try FeatureCursor(plan($0), encoder: encoder, on: $0) }
    }

    /// The same for anything that gives its bytes in pieces, made on the reader that reads it.
    static func start(
        pool: ReaderPool, cursor: @escaping @Sendable (StoreConnection) throws -> any PieceSource
    ) async throws -> EncodedFeatures {
        let reader = try await pool.take(.stream)
        let piece: Reader.Piece
        do {
            piece = try await reader.first(size: EncodedFeatures.pieceSize, cursor: cursor)
        } catch {
            pool.giveBack(reader, .stream)
            throw error
        }
        if piece.isLast { pool.giveBack(reader, .stream) }
        let stream = FeatureStream(pool: pool, first: piece.bytes, reader: piece.isLast ? nil : reader)
        return EncodedFeatures { try await stream.next() }
    }

    private init(pool: ReaderPool, first: [UInt8], reader: Reader?) {
        self.pool = pool
        state = Mutex(State(first: first, reader: reader))
    }

    /// Pieces are taken one after the other.
    private func next() async throws -> [UInt8]? {
        let (first, reader) = state.withLock { state -> ([UInt8]?, Reader?) in
            defer { state.first = nil }
            return (state.first, state.reader)
        }
        if let first { return first }
        guard let reader else { return nil }
        do {
            try Task.checkCancellation()
            let piece = try await reader.next(size: EncodedFeatures.pieceSize)
            if piece.isLast { release() }
            return piece.bytes.isEmpty ? nil : piece.bytes
        } catch {
            await reader.closeCursor()
            release()
            throw error
        }
    }

    private func release() {
        let reader = state.withLock { state -> Reader? in
            defer { state.reader = nil }
            return state.reader
        }
        if let reader { pool.giveBack(reader, .stream) }
    }

    deinit {
        guard let reader = state.withLock({ $0.reader }) else { return }
        // The statement can only be closed on its reader; the task ends as soon as that is done.
        Task { [pool] in
            await reader.closeCursor()
            pool.giveBack(reader, .stream)
        }
    }
}
