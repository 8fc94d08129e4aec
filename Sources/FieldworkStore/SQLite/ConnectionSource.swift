/// Where the connections of one service's data come from: a file, or a database that is no file.
package struct ConnectionSource: Sendable {
    let open: @Sendable (StoreConnection.Mode) throws -> StoreConnection
    /// How many may be open at a time, of this source and others; nil for a file that is opened by itself.
    var budget: ConnectionBudget?
    /// Whether it is a file of this machine, which answers what touches a few rows faster than another thread would begin to ask.
    var isFile = false
    /// Notices when the file is replaced; nil for a database that is no file.
    var watch: FileWatch?

    /// Opens a connection when the budget has one; who closes it gives it back.
    /// - Parameter prepare: what makes it ready; a connection for which it fails is not kept.
    func openWithinBudget(
        _ mode: StoreConnection.Mode, prepare: (StoreConnection) throws -> Void
    ) throws -> StoreConnection {
        try budget?.take()
        do {
            let connection = try open(mode)
            try prepare(connection)
            return connection
        } catch {
            budget?.giveBack(nil)
            throw error
        }
    }

    /// Looks at one state of the data, however long that takes and whoever writes meanwhile.
    func readOneState<Result>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        let connection = try open(.readOnly)
        try connection.begin(connection.dialect.beginReading)
        defer { try? connection.rollBack() }
        if !connection.dialect.isSQLite { try connection.execute(SQLDialect.withoutTimeLimits) }
        return try body(connection)
    }

    /// A database that is a stretch of a file, which never changes. Whoever writes gets an error.
    static func part(_ part: Range<Int>, of path: String) -> ConnectionSource {
        var source = ConnectionSource { _ in try StoreConnection(path: path, mode: .part(part)) }
        source.isFile = true
        return source
    }

    static func file(
        _ path: String, watch: FileWatch? = nil, within budget: ConnectionBudget? = nil
    ) -> ConnectionSource {
        var source = ConnectionSource {
            try watch?.checkPatiently()
            let connection = try StoreConnection(path: path, mode: $0)
            // A writer's first turns the log on.
            if $0 == .readOnly { try connection.hold(watch) }
            return connection
        }
        source.isFile = true
        source.watch = watch
        source.budget = budget
        return source
    }

    /// - Parameter open: makes a session that only reads, or one that writes too.
    package static func sessions(
        _ open: @escaping @Sendable (_ writes: Bool) throws -> any DatabaseSession
    ) -> ConnectionSource {
        sessions(within: nil, open)
    }

    static func sessions(
        within budget: ConnectionBudget?, _ open: @escaping @Sendable (_ writes: Bool) throws -> any DatabaseSession
    ) -> ConnectionSource {
        ConnectionSource(open: { try StoreConnection(session: open($0 != .readOnly)) }, budget: budget)
    }
}
