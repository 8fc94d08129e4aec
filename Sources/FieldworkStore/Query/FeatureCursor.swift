import FieldworkREST
import Foundation
import GRDBSQLite

/// Steps the rows of a plan into an encoder, a piece at a time. Lives on its reader and never leaves it.
final class FeatureCursor<Encoder: FeatureEncoder> {
    // The kinds alone: copying a whole column for each value would count references.
    private let kinds: [StoredColumn.Kind]
    private let hasGeometry: Bool
    private let aggregates: Int
    private let limit: Int
    private let statement: StoreStatement
    private var encoder: Encoder
    private var features = 0
    private var hasBegun = false
    private(set) var isAtEnd = false

    init(_ plan: QueryPlan, encoder: Encoder, on connection: StoreConnection) throws {
        kinds = plan.columns.map(\.kind)
        hasGeometry = plan.hasGeometry
        aggregates = plan.aggregates
        limit = plan.limit ?? .max
        self.encoder = encoder
        statement = try plan.statement(on: connection)
        // A page comes faster whole.
        if limit > Limits.rowsOfPage { statement.stream() }
    }

    deinit {
        if !isAtEnd { statement.finish() }
    }

    /// Encodes rows until about `size` bytes are there or the rows end.
    func piece(of size: Int) throws -> [UInt8] {
        if !hasBegun {
            hasBegun = true
            encoder.bytes.reserveCapacity(16 * 1_024)
            encoder.begin()
        }
        while encoder.bytes.count < size {
            guard try statement.step() else { return finish(exceeded: false) }
            if features >= limit { return finish(exceeded: true) }
            features += 1
            try encodeRow()
        }
        return takeBytes()
    }

    private func encodeRow() throws {
        if let session = statement.session {
            try encodeRow { SessionValue(statement: session, column: $0) }
        } else {
            try encodeRow { statement.value($0) }
        }
    }

    @inline(__always)
    private func encodeRow(_ value: (Int) -> some StoredValue) throws {
        encoder.beginFeature()
        for index in kinds.indices { kinds[index].encode(value(index), index, to: &encoder) }
        if hasGeometry {
            let value = value(kinds.count)
            try encoder.geometry(value.type == SQLITE_BLOB ? value.blob : nil)
        }
        for number in 0..<aggregates { try encodeAggregate(value(kinds.count + number), number) }
        encoder.endFeature()
    }

    private func encodeAggregate(_ value: some StoredValue, _ number: Int) throws {
        // In place of a geometry stands why there is none.
        if value.type == SQLITE_TEXT {
            throw StoreError(.invalidQuery, String(decoding: value.textBytes, as: UTF8.self))
        }
        try encoder.aggregate(value.type == SQLITE_BLOB ? value.blob : nil, number: number)
    }

    private func finish(exceeded: Bool) -> [UInt8] {
        encoder.end(exceededTransferLimit: exceeded)
        isAtEnd = true
        // At once: an open statement holds its snapshot, and with it the log of all later changes.
        statement.finish()
        return takeBytes()
    }

    private func takeBytes() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &encoder.bytes)
        return taken
    }
}

/// A cursor of any encoder.
protocol PieceSource {
    var isAtEnd: Bool { get }
    func piece(of size: Int) throws -> [UInt8]
}

extension FeatureCursor: PieceSource {}
