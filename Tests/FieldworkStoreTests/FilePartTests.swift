import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// A database that is a stretch of a larger file.
@Suite("Databases within a file")
struct FilePartTests {
    private static func with(_ test: (_ file: URL, _ part: Range<Int>) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-part-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let alone = folder.appending(path: "alone.db")
        do {
            let connection = try StoreConnection(path: alone.path, mode: .create)
            // As geodatabases are: the header says that there may be a log.
            try connection.execute("PRAGMA journal_mode = WAL")
            try connection.execute("CREATE TABLE numbers (value INTEGER)")
            try connection.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO numbers SELECT i FROM n"
            )
        }
        let bytes = try Data(contentsOf: alone)
        // The name needs to be written as an address, and the stretch begins at no page.
        let file = folder.appending(path: "a file & 100 %?.zip")
        try (Data(repeating: 7, count: 1_234) + bytes + Data(repeating: 9, count: 777)).write(to: file)
        try test(file, 1_234..<(1_234 + bytes.count))
    }

    @Test(
        "It is read as if it were a file of its own, also where SQLite keeps what it sorts in a file, and leaves no trace"
    )
    func reads() throws {
        try Self.with { file, part in
            let before = try Data(contentsOf: file)
            do {
                let connection = try StoreConnection(path: file.path, mode: .part(part))
                #expect(try connection.integer("SELECT sum(value) FROM numbers") == 12_502_500)
                #expect(try connection.text("PRAGMA integrity_check") == "ok")
                try connection.execute("PRAGMA temp_store = FILE; PRAGMA cache_size = 10")
                let sorted =
                    "SELECT count(*) FROM (SELECT a.value FROM numbers a, numbers b WHERE b.value < 40 ORDER BY -a.value)"
                #expect(try connection.integer(sorted) == 195_000)
                #expect(throws: StoreError.self) { try connection.execute("DELETE FROM numbers") }
                try connection.execute("PRAGMA query_only = OFF")
                #expect(throws: StoreError.self) { try connection.execute("DELETE FROM numbers") }
            }
            #expect(try Data(contentsOf: file) == before)
            let names = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
            #expect(!names.contains { $0.hasPrefix(file.lastPathComponent + "-") }, "\(names)")
        }
    }

    @Test("A stretch that does not lie in the file, or is cut off, is an error and never other rows")
    func bounds() throws {
        try Self.with { file, part in
            for wrong in [0..<part.count, part.lowerBound..<(part.upperBound + 100_000), 9_000_000..<9_100_000] {
                #expect(throws: StoreError.self, "\(wrong)") {
                    let connection = try StoreConnection(path: file.path, mode: .part(wrong))
                    _ = try connection.integer("SELECT sum(value) FROM numbers")
                }
            }
            let short = part.lowerBound..<(part.upperBound - 8_192)
            #expect(throws: StoreError.self) {
                let connection = try StoreConnection(path: file.path, mode: .part(short))
                _ = try connection.integer("SELECT sum(value) FROM numbers")
            }
        }
    }
}
