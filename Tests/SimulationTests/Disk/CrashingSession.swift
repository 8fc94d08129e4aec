import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import Foundation

/// A session of a database that dies with its process: at a moment that the story chooses, before a statement, before a
/// COMMIT or after one, the connection is gone, as the system closes those of a killed process.
final class CrashingSession: DatabaseSession {
    private let process: SimulatedProcess
    private var real: PostgresConnection?

    init(_ real: PostgresConnection, _ process: SimulatedProcess) {
        self.real = real
        self.process = process
    }

    /// The connection of a process that lives, and goes on living over what comes.
    fileprivate func living() throws -> PostgresConnection {
        process.watch.count {}
        guard let real, !process.isDead else {
            self.real = nil
            throw StoreError(.busy, "The process is dead.")
        }
        return real
    }

    fileprivate var isAlive: Bool { real != nil && !process.isDead }

    var watch: WorkWatch? {
        get { real?.watch }
        set { real?.watch = newValue }
    }

    func perform(_ sql: String) throws { try living().perform(sql) }

    func statement(_ sql: String) throws -> any DatabaseStatement {
        guard let real, !process.isDead else { throw StoreError(.busy, "The process is dead.") }
        return CrashingStatement(try real.statement(sql), of: self)
    }

    func commitTransaction() throws {
        try living().commitTransaction()
        // It may die before it learns of that.
        _ = try living()
    }

    func rollBackTransaction() throws { try living().rollBackTransaction() }

    func load(into table: String, columns: [String]) throws -> any DatabaseLoad {
        try living().load(into: table, columns: columns)
    }

    var isInTransaction: Bool { isAlive && real?.isInTransaction == true }
}

/// A statement of a `CrashingSession`. What belongs to a connection that is gone is not touched any more.
private final class CrashingStatement: DatabaseStatement {
    private let real: any DatabaseStatement
    private let session: CrashingSession
    private var isRunning = false

    init(_ real: any DatabaseStatement, of session: CrashingSession) {
        self.real = real
        self.session = session
    }

    private func guarding<Result>(_ body: () throws -> Result) throws -> Result {
        // Rows that have come are there; a process dies before a statement.
        if !isRunning { _ = try session.living() }
        guard session.isAlive else { throw StoreError(.busy, "The process is dead.") }
        isRunning = true
        return try body()
    }

    func bind(_ value: AttributeValue, at index: Int) { real.bind(value, at: index) }
    func bind(blob: UnsafeRawBufferPointer, at index: Int) { real.bind(blob: blob, at: index) }

    var isStreamed: Bool {
        get { real.isStreamed }
        set { real.isStreamed = newValue }
    }

    var isPage: Bool {
        get { real.isPage }
        set { real.isPage = newValue }
    }

    func advance() throws -> Bool { try guarding { try real.advance() } }

    func runSorted(by column: Int, most: Int) throws -> Bool {
        try guarding { try real.runSorted(by: column, most: most) }
    }

    func advanceTellingConstraints() throws -> StoreStatement.Outcome {
        try guarding { try real.advanceTellingConstraints() }
    }

    var changedRows: Int { real.changedRows }

    func finish() {
        isRunning = false
        if session.isAlive { real.finish() }
    }

    func reset() {
        isRunning = false
        if session.isAlive { real.reset() }
    }

    var forms: [WireForm?] { real.forms }
    var cells: UnsafeBufferPointer<WireCell> { real.cells }
    func kind(_ column: Int) -> ColumnKind { real.kind(column) }
    func integer(_ column: Int) -> Int64 { real.integer(column) }
    func double(_ column: Int) -> Double { real.double(column) }
    func textBytes(_ column: Int) -> UnsafeRawBufferPointer { real.textBytes(column) }
    func blob(_ column: Int) -> UnsafeRawBufferPointer { real.blob(column) }
}
