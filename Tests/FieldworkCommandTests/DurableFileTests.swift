import Foundation
import TestSupport
import Testing

@testable import FieldworkCommand
@testable import FieldworkPublishing

@Suite("Files put in their place", .fewAtATime)
struct DurableFileTests {
    private func withFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        let folder = URL.temporaryDirectory.appending(path: "fieldwork-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }

    @Test("A file that is there is never replaced by placing, and the new one stays where it was made")
    func keepsWhatIsThere() async throws {
        try await withFolder { folder in
            let target = folder.appending(path: "Trees.gpkg")
            let made = folder.appending(path: "made")
            try Data("old".utf8).write(to: target)
            try Data("new".utf8).write(to: made)
            #expect(throws: PublishingError.self) { try DurableFile.place(made, at: target) }
            #expect(try Data(contentsOf: target) == Data("old".utf8))
            #expect(try Data(contentsOf: made) == Data("new".utf8))
        }
    }

    @Test("Of many that place a file under one name at once, one wins and its file is whole")
    func oneWins() async throws {
        try await withFolder { folder in
            let target = folder.appending(path: "Trees.gpkg")
            let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        let made = folder.appending(path: "made-\(number)")
                        try Data(repeating: UInt8(number), count: 10_000).write(to: made)
                        do {
                            try DurableFile.place(made, at: target)
                            return number
                        } catch is PublishingError {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: [Int]()) { $0 += [$1].compactMap { $0 } }
            }
            let winner = try #require(winners.first)
            #expect(winners.count == 1)
            #expect(try Data(contentsOf: target) == Data(repeating: UInt8(winner), count: 10_000))
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "made-\(winner)").path))
        }
    }

    @Test("A GeoPackage with a write-ahead log beside it is not moved")
    func refusesOpenFile() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "Trees.gpkg")
            try Data("database".utf8).write(to: file)
            try DurableFile.requireNoLog(beside: file)
            try Data().write(to: folder.appending(path: "Trees.gpkg-wal"))
            try DurableFile.requireNoLog(beside: file)
            try Data("pages".utf8).write(to: folder.appending(path: "Trees.gpkg-wal"))
            #expect(throws: PublishingError.self) { try DurableFile.requireNoLog(beside: file) }
        }
    }
}
