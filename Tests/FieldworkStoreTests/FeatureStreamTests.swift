import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

@Suite("Answers in pieces", .fewAtATime)
struct FeatureStreamTests {
    private let folder: TemporaryFolder
    private let file: GeoPackageFile
    /// Enough rows that an answer takes many pieces.
    private static let rows = 20_000

    init() async throws {
        folder = try TemporaryFolder()
        file = try await GeoPackageStore.createFile(
            at: folder.url.appending(path: "Trees.gpkg"), definition: Samples.service)
        let trees = (0..<Self.rows).map { Samples.tree("tree \($0)", x: Double($0 % 100), y: Double($0 / 100)) }
        _ = try await file.apply(Samples.batch(adds: trees, origin: .load))
    }

    @Test("A long answer comes in pieces of about the promised size and is complete")
    func pieces() async throws {
        var pieces: [Int] = []
        var lines = 0
        for try await piece in try await file.encodedFeatures(FeatureQuery(), in: 0, encoder: TextEncoder()) {
            pieces.append(piece.count)
            lines += piece.count { $0 == 0x0A }
        }
        #expect(lines == Self.rows + 2)
        #expect(pieces.count > 3)
        #expect(pieces.allSatisfy { $0 <= EncodedFeatures.pieceSize + 4_096 })
        #expect(file.readers.openStreams == 0)
    }

    @Test("An answer is of one moment, also when edits come between its pieces")
    func snapshot() async throws {
        var iterator = try await file.encodedFeatures(FeatureQuery(), in: 0, encoder: TextEncoder()).makeAsyncIterator()
        var bytes = try #require(try await iterator.next())
        let deletes = (1...Int64(Self.rows)).filter { $0 % 2 == 0 }.map(FeatureIdentifier.objectID)
        _ = try await file.apply(Samples.batch(deletes: deletes))
        while let piece = try await iterator.next() { bytes += piece }
        #expect(bytes.count { $0 == 0x0A } == Self.rows + 2)
        #expect(try await file.count(FeatureQuery(), in: 0) == Self.rows / 2)
    }

    @Test("More streams than there are readers for wait their turn and all end")
    func manyStreams() async throws {
        try await withThrowingTaskGroup(of: Int.self) { [file] group in
            for _ in 0..<Limits.openStreamsPerFile * 3 {
                group.addTask {
                    var count = 0
                    for try await piece in try await file.encodedFeatures(FeatureQuery(), in: 0, encoder: TextEncoder())
                    {
                        count += piece.count { $0 == 0x0A }
                    }
                    return count
                }
            }
            for try await count in group { #expect(count == Self.rows + 2) }
        }
        #expect(file.readers.openStreams == 0)
    }

    @Test("While all streams are taken slowly, short reads still get through")
    func shortReadsPass() async throws {
        var open: [EncodedFeatures] = []
        for _ in 0..<Limits.openStreamsPerFile {
            open.append(try await file.encodedFeatures(FeatureQuery(), in: 0, encoder: TextEncoder()))
        }
        #expect(file.readers.openStreams == Limits.openStreamsPerFile)
        #expect(try await file.count(FeatureQuery(), in: 0) == Self.rows)
        #expect(open.count == Limits.openStreamsPerFile)
    }

    @Test("A dropped stream gives its reader back, and the next one gets it")
    func droppedStream() async throws {
        for _ in 0..<Limits.openStreamsPerFile * 3 {
            var iterator = try await file.encodedFeatures(FeatureQuery(), in: 0, encoder: TextEncoder())
                .makeAsyncIterator()
            #expect(try await iterator.next() != nil)
        }
        // Each of the rounds above would wait for ever if the rounds before had kept their readers.
        #expect(try await file.count(FeatureQuery(), in: 0) == Self.rows)
    }

    @Test("Waiting for a stream ends when the task is cancelled")
    func cancelledWait() async throws {
        var open: [EncodedFeatures] = []
        for _ in 0..<Limits.openStreamsPerFile {
            open.append(try await file.encodedFeatures(FeatureQuery(), in: 0, encoder: TextEncoder()))
        }
        let waiting = Task { [file] in
            _ = try await file.encodedFeatures(FeatureQuery(), in: 0, encoder: TextEncoder())
        }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(open.count == Limits.openStreamsPerFile)
    }
}
