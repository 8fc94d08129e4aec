import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// Reads of a few rows, which run on the thread of whoever asks.
@Suite("Reads of a few rows", .fewAtATime)
struct GlanceTests {
    private let folder: TemporaryFolder
    private let file: GeoPackageFile

    init() async throws {
        folder = try TemporaryFolder()
        file = try await GeoPackageStore.createFile(
            at: folder.url.appending(path: "Trees.gpkg"), definition: Samples.service)
        let trees = (0..<200).map { Samples.tree("tree \($0)", x: Double($0), y: Double($0)) }
        _ = try await file.apply(Samples.batch(adds: trees, origin: .load))
    }

    @Test(
        "They run on the thread that asks once the reader's connection is open; all others on a thread of the reader's own"
    )
    func threads() async throws {
        let pool = ReaderPool(source: file.source, readers: 1, streams: 1)
        let asking = MarkedThread()
        func isOnAskingThread(isGlance: Bool) async throws -> Bool {
            try await withTaskExecutorPreference(asking) {
                try await pool.read(isGlance: isGlance) { _ in MarkedThread.isCurrent }
            }
        }
        #expect(try await !isOnAskingThread(isGlance: true), "opening may take long")
        #expect(try await isOnAskingThread(isGlance: true))
        #expect(try await !isOnAskingThread(isGlance: false))
        #expect(try await isOnAskingThread(isGlance: true))
        await pool.close()
        await #expect(throws: StoreError.self) { _ = try await isOnAskingThread(isGlance: true) }
    }

    @Test(
        "One that takes longer than the asking thread may be held up begins again on the reader's own",
        arguments: [true, false])
    func longer(hasLimits: Bool) async throws {
        let pool = ReaderPool(source: file.source, readers: 1, streams: 1)
        _ = try await pool.read { try $0.integer("SELECT 1") }
        let allowance = hasLimits ? WorkAllowance(time: .seconds(60), memory: 1 << 20) : nil
        func isOnAskingThread(numbers: Int) async throws -> Bool {
            try await WorkAllowance.$current.withValue(allowance) {
                try await withTaskExecutorPreference(MarkedThread()) {
                    try await pool.read(isGlance: true) { connection in
                        let counted = try connection.integer(
                            """
                            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(numbers))
                            SELECT count(*) FROM n
                            """)
                        #expect(counted == Int64(numbers))
                        return MarkedThread.isCurrent
                    }
                }
            }
        }
        #expect(try await !isOnAskingThread(numbers: 1_000_000))
        // The limit of time ended with that read: a short one stays on the asking thread.
        #expect(try await isOnAskingThread(numbers: 2))
    }

    @Test("Features that are related to few others are one, unless there is a condition or a past moment to look at")
    func related() throws {
        var trees = Samples.treeLayer
        var visits = Samples.visitTable
        trees.relationships = [
            RelationshipDefinition(
                id: 0, name: "Visits", relatedTableID: 1, cardinality: .oneToMany, role: .origin, keyField: "GlobalID")
        ]
        visits.relationships = [
            RelationshipDefinition(
                id: 0, name: "Trees", relatedTableID: 0, cardinality: .oneToMany, role: .destination, keyField: "tree")
        ]
        let service = ServiceDefinition(name: Samples.name, description: "", layers: [trees, visits])
        let path = try #require(RelationshipPath(trees.relationships[0], of: trees, in: service))
        let table = try file.layer(1)
        let most = FieldworkStore.Limits.glancedFeatures
        var query = RelatedQuery(
            path: path, sources: .objectIDs(Array(1...Int64(most))), features: FeatureQuery(limit: 1_000))
        #expect(query.isGlance(at: table))
        query.sources = .globalIDs((0...most).map { _ in UUID() })
        #expect(!query.isGlance(at: table))
        query.sources = .objectIDs([1])
        query.features.moment = 0
        #expect(!query.isGlance(at: table))
        query.features.moment = nil
        query.features.condition = try SQLParser.parse(where: "remark LIKE '%1%'")
        #expect(!query.isGlance(at: table))
    }

    @Test("A query for a few features by id takes that way, one for more does not")
    func queries() async throws {
        let pool = file.readers
        _ = try await pool.read { try $0.integer("SELECT 1") }
        func isOnAskingThread(_ query: FeatureQuery) async throws -> Bool {
            try await withTaskExecutorPreference(MarkedThread()) {
                var bytes: [UInt8] = []
                for try await piece in try await file.encodedFeatures(query, in: 0, encoder: ThreadEncoder()) {
                    bytes += piece
                }
                return bytes == [1]
            }
        }
        #expect(try await isOnAskingThread(FeatureQuery(objectIDs: [3, 5])))
        #expect(try await !isOnAskingThread(FeatureQuery(objectIDs: Array(1...150))))
        #expect(try await !isOnAskingThread(FeatureQuery()))
    }

    @Test("Only a few features by id are such a read, and only where their geometries are single points")
    func which() throws {
        let trees = try file.layer(0)
        let few = FeatureQuery(objectIDs: Array(1...Int64(FieldworkStore.Limits.glancedFeatures)))
        #expect(few.isGlance(at: trees))
        #expect(!FeatureQuery().isGlance(at: trees))
        var many = few
        many.objectIDs?.append(99)
        #expect(!many.isGlance(at: trees))
        var filtered = few
        filtered.condition = try SQLParser.parse(where: "species LIKE '%1%'")
        #expect(!filtered.isGlance(at: trees))
        var inBox = few
        inBox.spatialFilter = SpatialFilter(geometry: Envelope(xMin: 0, yMin: 0, xMax: 1, yMax: 1))
        #expect(!inBox.isGlance(at: trees))
        var areas = Samples.treeLayer
        areas.geometryType = .polygon
        let areaLayer = try StoredLayer(definition: areas, tableName: "Areas", geometryColumn: "geom", srsID: 3857)
        #expect(!few.isGlance(at: areaLayer))
    }

    @Test("They say the same as any other read")
    func sameAnswers() async throws {
        for ids in [[7], [3, 99, 1], [1_000], Array(1...100), [5, 5, 2]] as [[Int64]] {
            var other = FeatureQuery(objectIDs: ids)
            // Of every row true, and no glance.
            other.condition = try SQLParser.parse(where: "1=1")
            let trees = try file.layer(0)
            #expect(FeatureQuery(objectIDs: ids).isGlance(at: trees) && !other.isGlance(at: trees))
            let few = try await lines(FeatureQuery(objectIDs: ids))
            #expect(try await few == lines(other))
        }
        #expect(try await file.count(FeatureQuery(), in: 0) == 200)
    }

    private func lines(_ query: FeatureQuery) async throws -> [String] {
        var bytes: [UInt8] = []
        for try await piece in try await file.encodedFeatures(query, in: 0, encoder: TextEncoder()) { bytes += piece }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

/// Runs jobs on threads that are known while they do.
private final class MarkedThread: TaskExecutor {
    private let queue = DispatchQueue(label: "asking")
    private static let mark = "fieldwork.asking"

    static var isCurrent: Bool { Thread.current.threadDictionary[mark] != nil }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            Thread.current.threadDictionary[Self.mark] = true
            job.runSynchronously(on: self.asUnownedTaskExecutor())
            Thread.current.threadDictionary[Self.mark] = nil
        }
    }
}

/// Writes 1 when the features are encoded on the asking thread, else 0.
private struct ThreadEncoder: FeatureEncoder {
    var bytes: [UInt8] = []

    mutating func begin() {}
    mutating func beginFeature() {}
    mutating func null(column: Int) {}
    mutating func integer(_ value: Int64, column: Int) {}
    mutating func real(_ value: Double, column: Int) {}
    mutating func text(_ value: UnsafeRawBufferPointer, column: Int) {}
    mutating func data(_ value: UnsafeRawBufferPointer, column: Int) {}
    mutating func geometry(_ blob: UnsafeRawBufferPointer?) throws {}
    mutating func endFeature() {}
    mutating func end(exceededTransferLimit: Bool) { bytes = [MarkedThread.isCurrent ? 1 : 0] }
}
