import FieldworkGeometry
import FieldworkREST
import Foundation
import Synchronization

/// The rest of an answer whose first piece is there already. It holds its reader until the last piece is taken or the
/// stream is dropped.
final class FeatureStream: Sendable {
    private struct State {
        var first: [UInt8]?
        var reader: Reader?
        /// Bytes of the piece that was given last.
        var held = 0
    }

    private let pool: ReaderPool
    private let turn: ReaderTurn
    private let state: Mutex<State>

    /// Takes a reader and computes the first piece, so that a query that can't be answered fails here and not in the
    /// middle of an answer. A common answer is this one piece: one hop to the reader and back.
    static func start<Encoder: FeatureEncoder>(
        _ query: FeatureQuery, in layer: StoredLayer, encoder: Encoder, pool: ReaderPool
    ) async throws -> EncodedFeatures {
        let now = Int64(Date.now.timeIntervalSince1970 * 1_000)
        return try await start(pool: pool, isGlance: query.isGlance(at: layer)) {
            try FeatureCursor(
                QueryCompiler(layer: layer, connection: $0, now: now).features(query), encoder: encoder, on: $0)
        }
    }

    /// The same for any plan, which is made on the reader that runs it.
    static func start<Encoder: FeatureEncoder>(
        encoder: Encoder, pool: ReaderPool, isGlance: Bool = false,
        plan: @escaping @Sendable (StoreConnection) throws -> QueryPlan
    ) async throws -> EncodedFeatures {
        try await start(pool: pool, isGlance: isGlance) { try FeatureCursor(plan($0), encoder: encoder, on: $0) }
    }

    /// The same for anything that gives its bytes in pieces, made on the reader that reads it.
    /// - Parameter isGlance: whether it touches a few rows only; see `FeatureQuery.isGlance`.
    static func start(
        pool: ReaderPool, isGlance: Bool = false,
        cursor: @escaping @Sendable (StoreConnection) throws -> any PieceSource
    ) async throws -> EncodedFeatures {
        let turn = pool.newTurn()
        // Work without limits may be long from the beginning.
        var purpose = turn.allowance == nil ? ReaderPool.Purpose.stream : .read
        // Bytes that are charged for a piece that is made again.
        var notGiven = 0
        while true {
            let reader = try await pool.take(purpose, turn)
            do {
                let piece = try await first(of: reader, turn, isGlance && pool.runsGlancesAtOnce, cursor)
                do {
                    try turn.allowance?.charge(piece.bytes.count)
                } catch {
                    await reader.closeCursor()
                    throw error
                }
                if piece.isLast {
                    pool.giveBack(reader, turn)
                    return single(piece.bytes)
                }
                notGiven = piece.bytes.count
                if turn.becomesLong() {
                    let stream = FeatureStream(pool: pool, turn: turn, first: piece.bytes, reader: reader)
                    return EncodedFeatures { try await stream.next() }
                }
            } catch is PlaceNeeded {
            } catch {
                pool.giveBack(reader, turn)
                throw error
            }
            // Nothing was given yet: the same again when there is a place for it.
            await reader.closeCursor()
            turn.allowance?.giveBack(notGiven)
            notGiven = 0
            pool.giveBack(reader, turn)
            purpose = .stream
        }
    }

    private static func first(
        of reader: Reader, _ turn: ReaderTurn, _ isAtOnce: Bool,
        _ cursor: @escaping @Sendable (StoreConnection) throws -> any PieceSource
    ) async throws -> Reader.Piece {
        let size = EncodedFeatures.pieceSize
        if isAtOnce,
            let piece = try reader.atOnce({ try $0.first(turn, size: size, isGlance: true, cursor: cursor) })
        {
            return piece
        }
        return try await reader.first(turn, size: size, cursor: cursor)
    }

    private static func single(_ bytes: [UInt8]) -> EncodedFeatures {
        let piece = Mutex<[UInt8]?>(bytes)
        return EncodedFeatures { piece.withLock { $0.take() } }
    }

    private init(pool: ReaderPool, turn: ReaderTurn, first: [UInt8], reader: Reader) {
        self.pool = pool
        self.turn = turn
        state = Mutex(State(first: first, reader: reader, held: first.count))
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
            hold(0)
            let piece = try await reader.next(turn, size: EncodedFeatures.pieceSize)
            try turn.allowance?.charge(piece.bytes.count)
            hold(piece.bytes.count)
            if piece.isLast { release() }
            return piece.bytes.isEmpty ? nil : piece.bytes
        } catch {
            await reader.closeCursor()
            release()
            throw error
        }
    }

    /// Notes what is charged for the piece that was given last, and gives back what was charged for the one before.
    private func hold(_ bytes: Int) {
        let before = state.withLock { state -> Int in
            defer { state.held = bytes }
            return state.held
        }
        turn.allowance?.giveBack(before)
    }

    private func release() {
        let reader = state.withLock { state -> Reader? in
            defer { state.reader = nil }
            return state.reader
        }
        if let reader { pool.giveBack(reader, turn) }
    }

    deinit {
        guard let reader = state.withLock({ $0.reader }) else { return }
        // The statement can only be closed on its reader; the task ends as soon as that is done.
        Task { [pool, turn] in
            await reader.closeCursor()
            pool.giveBack(reader, turn)
        }
    }
}
