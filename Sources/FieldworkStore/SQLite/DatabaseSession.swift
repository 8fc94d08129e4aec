package import FieldworkREST

/// A connection to a database that is no file: what `StoreConnection` asks of it. It stands behind the store's statements as
/// SQLite does and gives values in the forms of a GeoPackage: GUIDs as text, geometries as GeoPackage binary, dates as
/// milliseconds since 1970.
///
/// It is not thread-safe and never leaves the actor that owns it. All its errors are `StoreError`.
package protocol DatabaseSession: AnyObject {
    /// Ends what runs on the session, while it waits for the database, too.
    var watch: WorkWatch? { get set }
    /// Runs SQL of ours that takes no arguments.
    func perform(_ sql: String) throws
    /// A statement that is ready to be bound; whoever takes it finishes it when done. One in use is not given twice.
    func statement(_ sql: String) throws -> any DatabaseStatement
    /// Throws `StoreError.inDoubt` when it may have been committed without having been confirmed; after every other error it
    /// was not.
    func commitTransaction() throws
    /// Also ends a transaction that was lost with its connection, in which every statement fails until then.
    func rollBackTransaction() throws
    /// Begins a bulk load into a table that the search path finds. Nothing else runs on the session until it is finished.
    func load(into table: String, columns: [String]) throws -> any DatabaseLoad
    var isInTransaction: Bool { get }
}

/// A bulk load into one table. One that is not finished is given up with its object, and with its transaction.
package protocol DatabaseLoad: AnyObject {
    /// Adds a row, its values in the order of the columns.
    func add(_ values: [AttributeValue]) throws
    /// Throws what the database refused.
    /// - Returns: the number of rows that came.
    func finish() throws -> Int
}

/// A prepared statement of a `DatabaseSession`. Arguments count from 1, columns from 0.
package protocol DatabaseStatement: AnyObject {
    func bind(_ value: AttributeValue, at index: Int)
    func bind(blob: UnsafeRawBufferPointer, at index: Int)
    /// Whether rows come one by one, so that an answer of any length needs the memory of one row.
    var isStreamed: Bool { get set }
    /// Whether the rows are a page, which comes whole unless that would take much memory.
    var isPage: Bool { get set }
    /// Advances to the next row; false at the end.
    func advance() throws -> Bool
    /// Runs the statement, and puts its rows in the order of a column of whole numbers: ready to advance to the first.
    /// - Returns: false when there are more than so many rows, when one has not the form that was asked for, or within a transaction:
    ///   there is nothing to advance to then.
    func runSorted(by column: Int, most: Int) throws -> Bool
    /// The same where a broken constraint may be the caller's data: that is told, every other failure is thrown.
    func advanceTellingConstraints() throws -> StoreStatement.Outcome
    /// Rows that the statement changed; known after its last row.
    var changedRows: Int { get }
    /// Ends the execution and forgets the arguments.
    func finish()
    /// Ends the execution, keeps the arguments.
    func reset()

    /// How the columns of the rows are sent; nil for one whose values the session translates. Known from the first row on.
    var forms: [WireForm?] { get }
    /// Where the values of the row lie, until the next step.
    var cells: UnsafeBufferPointer<WireCell> { get }
    func kind(_ column: Int) -> ColumnKind
    func integer(_ column: Int) -> Int64
    func double(_ column: Int) -> Double
    /// UTF-8 that stays until the next step.
    func textBytes(_ column: Int) -> UnsafeRawBufferPointer
    /// Bytes that stay until the next step.
    func blob(_ column: Int) -> UnsafeRawBufferPointer
}

/// How a column of a row is kept, by SQLite's own numbers.
package enum ColumnKind: Int32, Sendable {
    case integer = 1
    case real = 2
    case text = 3
    case blob = 4
    case null = 5
}
