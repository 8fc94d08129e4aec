import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// Files that readers have mapped into memory, and that other programs shorten.
@Suite("Mapped files", .fewAtATime)
struct FileMappingTests {
    private let folder: TemporaryFolder
    private let url: URL
    private static let trees = 20_000

    init() async throws {
        folder = try TemporaryFolder()
        url = folder.url.appending(path: "Trees.gpkg")
        let file = try await GeoPackageStore.createFile(at: url, definition: Samples.service)
        let trees = (0..<Self.trees).map { Samples.tree("tree \($0)", x: Double($0 % 100), y: Double($0 / 100)) }
        _ = try await file.apply(Samples.batch(adds: trees, origin: .load))
        await file.close()
    }

    private static func countNames(_ connection: StoreConnection) throws -> Int {
        var count = 0
        try connection.run("SELECT species FROM Trees", row: { if $0.text(0).hasPrefix("tree ") { count += 1 } })
        return count
    }

    @Test("Readers keep no copies of what is in the file")
    func noCopies() async throws {
        let pool = ReaderPool(source: .file(url.path), readers: 1, streams: 1)
        let (names, kept) = try await pool.read { (try Self.countNames($0), $0.keptBytes) }
        #expect(names == Self.trees)
        #expect(kept < 100_000)
        await pool.close()
    }

    @Test("A read of a file that was shortened is an error, and the next one reads what is there then")
    func shortened() async throws {
        let pool = ReaderPool(source: .file(url.path), readers: 1, streams: 1)
        #expect(try await pool.read { try Self.countNames($0) } == Self.trees)
        let bytes = try Data(contentsOf: url)
        // Not at the border of a page: the rest of the last one is zeros by itself.
        try cut(to: bytes.count / 2)
        let error = await #expect(throws: StoreError.self) { try await pool.read { try Self.countNames($0) } }
        #expect(error?.code == .corrupt)
        try restore(bytes)
        #expect(try await pool.read { try Self.countNames($0) } == Self.trees)
        await pool.close()
    }

    @Test("A stream of a file that is shortened meanwhile ends in an error")
    func stream() async throws {
        let pool = ReaderPool(source: .file(url.path), readers: 1, streams: 1)
        let turn = pool.newTurn()
        let reader = try await pool.take(.stream, turn)
        let first = try await reader.first(turn, size: 1_000) { try Names(of: $0) }
        #expect(!first.isLast && first.bytes.starts(with: Array("tree 0".utf8)))
        try cut(to: 8_192)
        // SQLite knows of the pages as they were when the stream began, and asks for them.
        let error = await #expect(throws: StoreError.self) {
            while try await !reader.next(turn, size: 1_000).isLast {}
        }
        #expect(error?.code == .corrupt)
        #expect(error?.message == "A part of the file can't be read: it was shortened, or its disk fails.")
        // Nothing more comes of it.
        #expect(try await reader.next(turn, size: 1_000).bytes.isEmpty)
        pool.giveBack(reader, turn)
        await pool.close()
    }

    @Test("A file that is shortened does not disturb the readers of another one")
    func otherFile() async throws {
        let other = folder.url.appending(path: "Other.gpkg")
        try FileManager.default.copyItem(at: url, to: other)
        let pool = ReaderPool(source: .file(url.path), readers: 1, streams: 1)
        let others = ReaderPool(source: .file(other.path), readers: 2, streams: 1)
        #expect(try await pool.read { try Self.countNames($0) } == Self.trees)
        try cut(to: 8_192)
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for round in 0..<20 {
                group.addTask { try? await pool.read { try Self.countNames($0) } }
                group.addTask {
                    let count = try await others.read { try Self.countNames($0) }
                    #expect(count == Self.trees, "round \(round)")
                    return nil
                }
            }
            for try await count in group { #expect(count != Self.trees) }
        }
        await pool.close()
        await others.close()
    }

    @Test("A served file that is cut and put back answers again")
    func served() async throws {
        let store = try await GeoPackageStore.open(at: folder.url)
        #expect(try await Self.named(store) == Self.trees)
        let bytes = try Data(contentsOf: url)
        try cut(to: 8_192)
        await #expect(throws: StoreError.self) {
            _ = try await Self.named(store)
        }
        try restore(bytes)
        var found: Int?
        let end = ContinuousClock.now + .seconds(60)
        // Shortly after it was written a copy may still be under way.
        while found == nil, ContinuousClock.now < end {
            found = try? await Self.named(store)
            if found == nil { try await Task.sleep(for: .milliseconds(200)) }
        }
        #expect(found == Self.trees)
        try await store.close()
    }

    @Test("The same signal from elsewhere ends the process as ever")
    func elsewhere() async throws {
        await #expect(processExitsWith: .signal(SIGBUS)) {
            try #require(FileMapping.isGuarded)
            let path = NSTemporaryDirectory() + "fieldwork-\(UUID().uuidString)"
            let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
            unlink(path)
            try #require(descriptor >= 0 && ftruncate(descriptor, 8_192) == 0)
            let start = try #require(mmap(nil, 8_192, PROT_READ, MAP_SHARED, descriptor, 0))
            try #require(ftruncate(descriptor, 0) == 0)
            Issue.record("read \(start.load(fromByteOffset: 4_096, as: UInt8.self))")
        }
    }

    /// Counts the rows by reading them.
    private static func named(_ store: GeoPackageStore) async throws -> Int {
        try await store.count(
            FeatureQuery(condition: try SQLParser.parse(where: "species LIKE 'tree %'")), in: Samples.trees)
    }

    private func cut(to bytes: Int) throws {
        let file = try FileHandle(forWritingTo: url)
        try file.truncate(atOffset: UInt64(bytes))
        try file.close()
    }

    private func restore(_ bytes: Data) throws {
        let file = try FileHandle(forWritingTo: url)
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: bytes)
        try file.close()
    }
}

/// The names of trees, row by row.
private final class Names: PieceSource {
    private let statement: StoreStatement
    private(set) var isAtEnd = false

    init(of connection: StoreConnection) throws { statement = try connection.cached("SELECT species FROM Trees") }

    deinit { statement.finish() }

    func piece(of size: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < size, !isAtEnd {
            if try statement.step() { bytes += statement.textBytes(0) } else { isAtEnd = true }
        }
        return bytes
    }
}
