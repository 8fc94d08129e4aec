import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// What a connection gathers before it writes it into the log: seen by itself and by others as if each page were written at once.
@Suite("Writes of the log that are gathered", .fewAtATime)
struct LogWritingTests {
    private let folder: TemporaryFolder
    private var path: String { folder.url.appending(path: "Numbers.sqlite").path }

    init() throws { folder = try TemporaryFolder() }

    private func writer() throws -> StoreConnection {
        let connection = try StoreConnection(path: path, mode: .create)
        try connection.prepareToWrite()
        // A transaction of more than a few pages does not fit into the cache and goes into the log before its end.
        try connection.execute("PRAGMA cache_size = 5")
        try connection.execute("CREATE TABLE IF NOT EXISTS numbers (n INTEGER PRIMARY KEY, text TEXT)")
        return connection
    }

    private func fill(_ numbers: ClosedRange<Int64>, _ connection: StoreConnection) throws {
        for number in numbers {
            try connection.run("INSERT INTO numbers VALUES (?1, printf('%.*c', 500, 'x') || ?1)") {
                try $0.bind(number, at: 1)
            }
        }
    }

    private func state(_ connection: StoreConnection) throws -> [Int64?] {
        try [
            connection.integer("SELECT count(*) FROM numbers"),
            connection.integer("SELECT count(*) FROM numbers WHERE text LIKE 'x%x' || n"),
        ]
    }

    private func isSound(_ connection: StoreConnection) throws -> Bool {
        try connection.text("PRAGMA integrity_check") == "ok"
    }

    @Test("A transaction reads its own pages that wait, whatever their number, and others read them after its commit")
    func ownPages() throws {
        let (one, other) = (try writer(), try StoreConnection(path: path, mode: .readOnly))
        try one.begin()
        try fill(1...3_000, one)
        #expect(try state(one) == [3_000, 3_000])
        #expect(try state(other) == [0, 0])
        try one.commit()
        #expect(try state(other) == [3_000, 3_000] && isSound(other))
    }

    // So many that some pages wait when it is rolled back, and none of them has been written.
    @Test(
        "Pages of a transaction that was rolled back never come after what another connection writes meanwhile",
        arguments: [100, 150, 200] as [Int64])
    func rolledBack(rows: Int64) throws {
        let one = try writer()
        // As another program writes, and as another connection of ours does.
        for other in [try StoreConnection(path: path, mode: .readOnly), try writer()] {
            try other.execute("PRAGMA query_only = OFF")
            try one.execute("DELETE FROM numbers")
            // A rollback that reads the log would write what waits.
            try one.checkpoint()
            try one.begin()
            try fill(1...rows, one)
            try one.rollBack()
            try other.execute("INSERT INTO numbers VALUES (1, 'x1')")
            try fill(1_001...1_010, one)
            let third = try StoreConnection(path: path, mode: .readOnly)
            #expect(try third.integer("SELECT count(*) FROM numbers") == 11 && isSound(third))
        }
    }

    @Test("A log that is read by a new process has all that was committed")
    func survives() throws {
        let one = try writer()
        try one.begin()
        try fill(1...500, one)
        try one.commit()
        try fill(501...510, one)
        // What a process that ends now leaves behind.
        let copy = folder.url.appending(path: "copy.sqlite").path
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        let found = try StoreConnection(path: copy, mode: .readWrite)
        #expect(try state(found) == [510, 510] && isSound(found))
    }
}
