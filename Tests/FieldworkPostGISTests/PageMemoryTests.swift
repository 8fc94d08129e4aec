import FieldworkGeometry
import TemporaryPostgres
import TestSupport
import Testing

@testable import FieldworkPostGIS
@testable import FieldworkStore

@Suite(
    "Memory of rows from PostgreSQL", .fewAtATime,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct PageMemoryTests {
    /// Rows of so many bytes each.
    private static func sql(rows: Int, bytes: Int) -> String {
        "SELECT i::int8, repeat('x', \(bytes)) FROM generate_series(1, \(rows)) AS s (i)"
    }

    private static let wide = sql(rows: 100, bytes: FieldworkPostGIS.Limits.pageBytes / 10)

    private struct Page: Equatable {
        var rows: Int
        var isWide: Bool
    }

    private static func page(_ sql: String, on connection: PostgresConnection) throws -> Page {
        let statement = try connection.cached(sql)
        defer { statement.finish() }
        statement.isPage = true
        var rows = 0
        while try statement.step() {
            rows += 1
            #expect(statement.integer(0) == Int64(rows))
        }
        return Page(rows: rows, isWide: statement.isWide)
    }

    @Test("A page comes whole; one that is too wide for that comes row by row, with every row once and in order")
    func pages() async throws {
        let connection = try await TemporaryPostgres.shared.value.connection()
        let narrow = try Self.page(Self.sql(rows: 1_000, bytes: 1_000), on: connection)
        #expect(narrow == Page(rows: 1_000, isWide: false))
        let wide = try Self.page(Self.wide, on: connection)
        #expect(wide == Page(rows: 100, isWide: true))
        let again = try connection.integer("SELECT 7::int8")
        #expect(again == 7)
    }

    @Test("Within a transaction, which a cancellation would end, a wide page comes whole")
    func transaction() async throws {
        let connection = try await TemporaryPostgres.shared.value.connection()
        try connection.transaction {
            let wide = try Self.page(Self.wide, on: connection)
            #expect(wide == Page(rows: 100, isWide: false))
        }
    }

    @Test("A page that is to be sorted is not, where it is too wide to be held whole")
    func sorted() async throws {
        let connection = try await TemporaryPostgres.shared.value.connection()
        for (sql, isSorted) in [(Self.sql(rows: 1_000, bytes: 1_000), true), (Self.wide, false)] {
            let statement = try connection.cached(sql)
            statement.isPage = true
            let result = try statement.sort(by: 0, most: 10_000)
            #expect(result == isSorted)
            statement.finish()
        }
    }

    @Test("A connection on which a row of many megabytes came is made anew, and one of small rows is not")
    func buffers() async throws {
        let connection = try await TemporaryPostgres.shared.value.connection()
        for (bytes, isNew) in [(100_000, false), (FieldworkPostGIS.Limits.pageBytes, true)] {
            let before = try connection.integer("SELECT pg_backend_pid()::int8")
            let statement = try connection.cached(Self.sql(rows: 3, bytes: bytes))
            statement.isStreamed = true
            while try statement.step() {}
            statement.finish()
            let after = try connection.integer("SELECT pg_backend_pid()::int8")
            #expect((before != after) == isNew)
        }
    }

    @Test("Rows at hand are charged to the work that reads them, and given back with them", arguments: [false, true])
    func charges(_ isStreamed: Bool) async throws {
        let connection = try await TemporaryPostgres.shared.value.connection()
        let watch = WorkWatch()
        connection.watch = watch
        // Whole it takes all of that, row by row no more than one.
        let sql = isStreamed ? Self.sql(rows: 3, bytes: 2_000_000) : Self.sql(rows: 2_000, bytes: 1_000)
        // The library takes blocks for rows, up to twice what is in them.
        let enough = WorkAllowance(time: .seconds(600), memory: 8_000_000)
        try watch.run(enough) {
            let statement = try connection.cached(sql)
            statement.isStreamed = isStreamed
            while try statement.step() { #expect(enough.heldBytes >= 2_000_000) }
            statement.finish()
            #expect(enough.heldBytes == 0)
        }
        let small = WorkAllowance(time: .seconds(600), memory: 1_500_000)
        #expect(throws: AllowanceError.memoryIsUp(1_500_000)) {
            try watch.run(small) {
                let statement = try connection.cached(sql)
                defer { statement.finish() }
                statement.isStreamed = isStreamed
                while try statement.step() {}
            }
        }
        let next = try connection.integer("SELECT 7::int8")
        #expect(next == 7)
    }
}
