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
    private let watch: WorkWatch
    /// Away while rows are encoded: then it is a value of one owner, which nothing has to look out for.
    private var encoder: Encoder?
    private var features = 0
    /// How a session sends the columns; known with its first row.
    private var forms: [WireForm?] = []
    private(set) var isAtEnd = false

    init(_ plan: QueryPlan, encoder: Encoder, on connection: StoreConnection) throws {
        kinds = plan.columns.map(\.kind)
        hasGeometry = plan.hasGeometry
        aggregates = plan.aggregates
        limit = plan.limit ?? .max
        watch = connection.watch
        // A page comes faster whole.
        if limit > Limits.rowsOfPage {
            statement = try plan.statement(on: connection)
            statement.stream()
        } else {
            statement = try plan.statementOfPage(on: connection)
        }
        var encoder = encoder
        encoder.bytes.reserveCapacity(16 * 1_024)
        encoder.begin()
        self.encoder = encoder
    }

    deinit {
        if !isAtEnd { statement.finish() }
    }

    /// Encodes rows until about `size` bytes are there or the rows end.
    func piece(of size: Int) throws -> [UInt8] {
        guard var encoder = encoder.take() else { return [] }
        defer { self.encoder = encoder }
        // Held once, not for each value.
        let (statement, kinds) = (statement, kinds)
        while encoder.bytes.count < size {
            let hasRow = try statement.step()
            guard hasRow, features < limit else {
                encoder.end(exceededTransferLimit: hasRow)
                isAtEnd = true
                // At once: an open statement holds its snapshot, and with it the log of all later changes.
                statement.finish()
                break
            }
            features += 1
            if features % Limits.rowsBetweenChecks == 0 { try watch.check() }
            try encodeRow(of: statement, kinds, to: &encoder)
        }
        var taken: [UInt8] = []
        swap(&taken, &encoder.bytes)
        return taken
    }

    @inline(__always)
    private func encodeRow(
        of statement: StoreStatement, _ kinds: [StoredColumn.Kind], to encoder: inout Encoder
    ) throws {
        encoder.beginFeature()
        if let session = statement.session {
            encodeColumns(of: session, to: &encoder)
            try encodeRest(to: &encoder) { SessionValue(statement: session, column: $0) }
        } else {
            for index in kinds.indices { kinds[index].encode(statement.value(index), index, to: &encoder) }
            try encodeRest(to: &encoder) { statement.value($0) }
        }
        encoder.endFeature()
    }

    private func encodeColumns(of session: any DatabaseStatement, to encoder: inout Encoder) {
        if features == 1 { forms = zip(kinds, session.forms).map { $0.wireForm($1) } }
        let (cells, forms) = (session.cells, forms)
        for index in kinds.indices {
            if let form = forms[index] {
                kinds[index].encode(WireValue(cell: cells[index], form: form), index, to: &encoder)
            } else {
                kinds[index].encode(SessionValue(statement: session, column: index), index, to: &encoder)
            }
        }
    }

    @inline(__always)
    private func encodeRest(to encoder: inout Encoder, _ value: (Int) -> some StoredValue) throws {
        if hasGeometry {
            let value = value(kinds.count)
            let blob = value.type == SQLITE_BLOB ? value.blob : nil
            if let blob, blob.count >= Limits.largeValueBytes {
                try encodeLarge(blob, to: &encoder)
            } else {
                try encoder.geometry(blob)
            }
        }
        for number in 0..<aggregates { try encodeAggregate(value(kinds.count + number), number, to: &encoder) }
    }

    /// A geometry takes several times its bytes while it is encoded.
    private func encodeLarge(_ blob: UnsafeRawBufferPointer, to encoder: inout Encoder) throws {
        let (bytes, isTooMuch) = blob.count.multipliedReportingOverflow(by: Limits.encodedBytesPerByte)
        try watch.charge(isTooMuch ? .max : bytes)
        defer { watch.giveBack(bytes) }
        try encoder.geometry(blob)
    }

    private func encodeAggregate(_ value: some StoredValue, _ number: Int, to encoder: inout Encoder) throws {
        // In place of a geometry stands why there is none.
        if value.type == SQLITE_TEXT {
            throw StoreError(.invalidQuery, String(decoding: value.textBytes, as: UTF8.self))
        }
        try encoder.aggregate(value.type == SQLITE_BLOB ? value.blob : nil, number: number)
    }
}

/// A cursor of any encoder.
protocol PieceSource {
    var isAtEnd: Bool { get }
    func piece(of size: Int) throws -> [UInt8]
}

extension FeatureCursor: PieceSource {}
