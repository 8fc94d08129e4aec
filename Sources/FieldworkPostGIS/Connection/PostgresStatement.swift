import CPostgres
package import FieldworkREST
package import FieldworkStore
import Foundation

/// A prepared statement of a connection; used only where its connection may be used.
package final class PostgresStatement {
    // The connection keeps its statements: one that kept the connection in turn would hold it open for ever.
    private unowned let connection: PostgresConnection
    private let sql: String
    private var name: String?
    /// The making of the connection on which it was prepared.
    private var epoch = 0
    private var argumentTypes: [Oid] = []
    private var arguments: [PostgresArgument] = []
    private var values: [AttributeValue] = []
    private let row = PostgresRow()
    private var state = State.idle
    /// All of the result was taken from the server.
    private var isWhole = false
    /// Taken from the cache and not yet finished.
    var isInUse = false
    /// It stays with the connection when it is finished.
    var isKept = false
    /// Rows are taken from the server one by one, so that an answer of any length needs the memory of one row. A page of
    /// known length comes faster whole.
    package var isStreamed = false
    /// The rows are a page: they come whole, or one by one where they are so wide that they would take much memory.
    package var isPage = false
    /// The page turned out to be wide.
    private(set) var isWide = false
    /// Bytes that are charged for the rows at hand.
    private var charged = 0

    private enum State {
        case idle, hasRows, atEnd
    }

    init(_ sql: String, on connection: PostgresConnection) {
        self.sql = sql
        self.connection = connection
    }

    // MARK: Arguments, counted from 1

    package func bind(_ value: AttributeValue, at index: Int) {
        if values.count < index { values += Array(repeating: .null, count: index - values.count) }
        values[index - 1] = value
    }

    package func bind(_ value: Int64, at index: Int) { bind(.integer(value), at: index) }
    package func bind(_ value: Double, at index: Int) { bind(.real(value), at: index) }
    package func bind(_ value: String?, at index: Int) { bind(value.map(AttributeValue.text) ?? .null, at: index) }
    package func bindNull(at index: Int) { bind(.null, at: index) }
    package func bind(blob: UnsafeRawBufferPointer, at index: Int) { bind(.data(Data(blob)), at: index) }

    // MARK: Execution

    private func prepare() throws(PostgresError) {
        try connection.restoreIfBroken()
        guard name == nil || epoch != connection.epoch else { return }
        let name = connection.newStatementName()
        argumentTypes = try connection.heeding { () throws(PostgresError) in
            try connection.answer { PQsendPrepare(connection.pointer, name, sql, 0, nil) }.check(on: connection.pointer)
            return try types(of: name)
        }
        self.name = name
        epoch = connection.epoch
    }

    /// A description has four bytes for each; libpq takes 30,000.
    private static let describedArguments = 7_000

    private func types(of name: String) throws(PostgresError) -> [Oid] {
        guard values.count > Self.describedArguments else {
            let described = connection.answer { PQsendDescribePrepared(connection.pointer, name) }
            try described.check(on: connection.pointer)
            return (0..<PQnparams(described.pointer)).map { PQparamtype(described.pointer, $0) }
        }
        // libpq takes a longer description for a broken connection; a row may be of any length.
        let told = connection.answer(
            to: """
                SELECT pg_catalog.array_to_string(parameter_types::pg_catalog.oid[], ' ')
                FROM pg_catalog.pg_prepared_statements WHERE name = '\(name)'
                """)
        try told.check(on: connection.pointer)
        guard PQntuples(told.pointer) == 1, let text = PQgetvalue(told.pointer, 0, 0) else {
            throw PostgresError(.failure, "The statement's arguments are not known.")
        }
        return String(cString: text).split(separator: " ").compactMap { Oid($0) }
    }

    /// Drops it on the server too.
    func deallocate() {
        defer { self.name = nil }
        guard let name, epoch == connection.epoch, PQstatus(connection.pointer) == CONNECTION_OK else { return }
        PQclear(PQexec(connection.pointer, "DEALLOCATE \(name)"))
    }

    private func send() throws(PostgresError) {
        try prepare()
        guard let name else { throw PostgresError(.failure, "A statement was not prepared.") }
        guard values.count <= argumentTypes.count else {
            throw PostgresError(.invalidStatement, "\(values.count) arguments for \(argumentTypes.count) marks.")
        }
        arguments = []
        arguments.reserveCapacity(argumentTypes.count)
        for (index, type) in argumentTypes.enumerated() {
            let value = index < values.count ? values[index] : .null
            arguments.append(
                try PostgresArgument.encode(value, as: type, geometryType: connection.geometryType))
        }
        // What is asked for again must not lie within a transaction, which would be broken by then.
        let mayBeAskedAgain = isPage && !isWide && PQtransactionStatus(connection.pointer) == PQTRANS_IDLE
        connection.begin(most: mayBeAskedAgain ? Limits.pageBytes : nil)
        let sent = arguments.withPointers { pointers, lengths, formats in
            PQsendQueryPrepared(
                connection.pointer, name, Int32(arguments.count), pointers, lengths, formats, 1)
        }
        guard sent == 1 else { throw PostgresError(connection: connection.pointer) }
        if comesByRow { PQsetSingleRowMode(connection.pointer) }
        row.begin(geometryType: connection.geometryType)
        isWhole = false
        state = .hasRows
    }

    /// Advances to the next row; false at the end. The first call runs the statement.
    package func step() throws(PostgresError) -> Bool {
        while true {
            switch state {
            case .atEnd: return false
            case .idle: try send()
            case .hasRows:
                if row.advance() { return true }
                if isWhole {
                    state = .atEnd
                } else {
                    try connection.heeding { () throws(PostgresError) in try takeResult() }
                }
            }
        }
    }

    private var comesByRow: Bool { isStreamed || isWide }

    /// Runs the statement and puts its rows in the order of a column of whole numbers, which has no NULL.
    /// - Returns: false when there are more than so many rows, when a row can't be given in the form that was asked for, or within
    ///   a transaction, which would be broken then.
    func sort(by column: Int, most: Int) throws(PostgresError) -> Bool {
        guard PQtransactionStatus(connection.pointer) == PQTRANS_IDLE else { return false }
        try send()
        do {
            try connection.heeding { () throws(PostgresError) in try takeResult() }
        } catch {
            guard error.isOfForm else { throw error }
            return false
        }
        guard state == .hasRows, row.count <= most else { return false }
        row.sort(by: column)
        return true
    }

    /// Takes the next of the results that the statement gives: one a row when it is streamed, else one.
    private func takeResult() throws(PostgresError) {
        guard let pointer = connection.nextResult() else {
            state = .atEnd
            return
        }
        let status = PQresultStatus(pointer)
        guard status == PGRES_TUPLES_OK || status == PGRES_SINGLE_TUPLE || status == PGRES_COMMAND_OK else {
            let error = PostgresError(result: pointer, connection: connection.pointer)
            PQclear(pointer)
            drain()
            guard connection.isTooLarge, error.kind == .cancelled else { throw error }
            // To be asked again, one row at a time.
            isWide = true
            state = .idle
            return
        }
        try hold(pointer)
        row.take(pointer)
        // What came whole leaves the connection free for other statements while its rows are looked at.
        if !comesByRow { while let rest = connection.nextResult() { PQclear(rest) } }
        isWhole = !comesByRow
    }

    /// Charges the work for rows that have come, in place of those before them.
    private func hold(_ result: OpaquePointer) throws(PostgresError) {
        let bytes = PQresultMemorySize(result)
        guard bytes >= Limits.chargedBytes || charged > 0 else { return }
        if comesByRow, bytes > Limits.rowBytesKept { connection.noteLargeRow() }
        connection.watch?.giveBack(charged)
        charged = 0
        guard connection.watch?.holds(bytes) ?? true else {
            PQclear(result)
            if comesByRow { connection.cancel() }
            drain()
            throw PostgresError(.cancelled, "The rows take more memory than there is for them.")
        }
        charged = bytes
    }

    /// Takes what else the server sends for this statement; libpq wants it all taken before the next one.
    private func drain() {
        while let pointer = connection.nextResult() { PQclear(pointer) }
        state = .atEnd
    }

    /// Rows that the statement changed; known after its last row.
    package var changedRows: Int { row.changedRows }

    /// Ends the execution and forgets the arguments: ready for the next user. What the server has yet to send is
    /// not waited for but cancelled.
    package func finish() {
        reset()
        values.removeAll(keepingCapacity: true)
        isStreamed = false
        isPage = false
        isWide = false
        isInUse = false
        if !isKept { deallocate() }
    }

    /// Ends the execution, keeps the arguments: for the next of many rows.
    package func reset() {
        if state == .hasRows {
            if comesByRow { connection.cancel() }
            if !isWhole { drain() }
        }
        row.clear()
        connection.watch?.giveBack(charged)
        charged = 0
        state = .idle
    }

    // MARK: Columns of the row, counted from 0

    package var forms: [WireForm?] { row.forms }
    package var cells: UnsafeBufferPointer<WireCell> { row.cells }

    /// How a GeoPackage would keep the value.
    package func kind(_ column: Int) -> ColumnKind { row.kind(column) }
    package func isNull(_ column: Int) -> Bool { row.isNull(column) }
    package func integer(_ column: Int) -> Int64 { row.integer(column) }
    package func double(_ column: Int) -> Double { row.double(column) }
    package func text(_ column: Int) -> String { String(decoding: row.textBytes(column), as: UTF8.self) }
    package func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
    /// UTF-8 that stays until the next step.
    package func textBytes(_ column: Int) -> UnsafeRawBufferPointer { row.textBytes(column) }
    /// Bytes that stay until the next step; a geometry in GeoPackage's form.
    package func blob(_ column: Int) -> UnsafeRawBufferPointer { row.blob(column) }
}

extension [PostgresArgument] {
    /// Gives libpq the arguments where they lie.
    fileprivate func withPointers<Result>(
        _ body: ([UnsafePointer<CChar>?], [Int32], [Int32]) -> Result
    ) -> Result {
        // One block for all: pointers to many arrays can't be held open at once.
        let size = reduce(0) { $0 + ($1.bytes?.count ?? 0) + 1 }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Swift.max(size, 1)) { block in
            var pointers: [UnsafePointer<CChar>?] = []
            var offset = 0
            for argument in self {
                guard let bytes = argument.bytes, let start = block.baseAddress else {
                    pointers.append(nil)
                    continue
                }
                let place = start + offset
                bytes.withUnsafeBytes { source in
                    if let from = source.baseAddress, !source.isEmpty {
                        UnsafeMutableRawPointer(place).copyMemory(from: from, byteCount: source.count)
                    }
                }
                // libpq finds the end of a text argument by its zero.
                place[bytes.count] = 0
                pointers.append(UnsafePointer(place))
                offset += bytes.count + 1
            }
            return body(pointers, map { Int32($0.bytes?.count ?? 0) }, map { $0.isBinary ? 1 : 0 })
        }
    }
}
