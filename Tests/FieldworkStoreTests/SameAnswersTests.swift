import FieldworkGeometry
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

/// The same features in both stores, and the same questions: the answers are the same bytes.
@Suite(
    "Answers of both stores", .fewAtATime,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct SameAnswersTests {
    private let folder: TemporaryFolder
    private let stores: [any FeatureStore]

    init() async throws {
        folder = try TemporaryFolder()
        let address = try await TemporaryPostgres.shared.value.storeAddress()
        stores = [try await GeoPackageStore.open(at: folder.url), try await PostgresStore.open(address)]
        let batch = Samples.batch(adds: Self.trees(), usesGlobalIDs: true)
        for store in stores {
            try await store.createService(Samples.service)
            let result = try await store.apply(batch, to: Samples.name)
            try #require(!result.hasErrors)
        }
    }

    private static func trees() -> [FeatureEdit] {
        var generator = SeededGenerator(seed: 23)
        let words = ["", "a", "A", "ab", "Ba", "é", "a%b", "_", "10", "x y ", "Äpfel", "zz"]
        return (0..<150).map { number in
            var attributes: [(name: String, value: AttributeValue)] = [
                ("stems", .integer(Int64.random(in: -3...3, using: &generator)))
            ]
            if number % 5 > 0 {
                attributes.append(("height", .real(Double.random(in: 0...120, using: &generator))))
            }
            if number % 4 > 0 {
                attributes.append(
                    ("planted", .integer(Int64.random(in: -90_000_000_000...1_800_000_000_000, using: &generator))))
            }
            if number % 7 > 0 {
                attributes.append(("note \"x\"; DROP", .text(words.randomElement(using: &generator) ?? "")))
            }
            var bytes = [UInt8](repeating: 0, count: 16)
            for index in bytes.indices { bytes[index] = UInt8.random(in: 0...255, using: &generator) }
            let id = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            var tree = Samples.tree(
                words.randomElement(using: &generator) ?? "", x: Double.random(in: -1e6...1e6, using: &generator),
                y: Double.random(in: -1e6...1e6, using: &generator), globalID: id, attributes)
            if number % 11 == 0 { tree.geometry = .null }
            return tree
        }
    }

    private func close() async throws { for store in stores { try await store.close() } }

    /// Asks both stores; an answer that can't be given is told by its kind.
    /// - Returns: whether it was given.
    @discardableResult
    private func expectSame(
        _ question: String, _ ask: (any FeatureStore) async throws -> EncodedFeatures
    ) async throws -> Bool {
        var answers: [String] = []
        var isAnswered = true
        for store in stores {
            do {
                var bytes: [UInt8] = []
                for try await piece in try await ask(store) { bytes += piece }
                answers.append(String(decoding: bytes, as: UTF8.self))
            } catch let error as StoreError {
                answers.append("\(error.code)")
                isAnswered = false
            }
        }
        #expect(answers[0] == answers[1], "\(question)")
        return isAnswered
    }

    @Test("Features by 400 conditions, in every order, whole and by pages")
    func features() async throws {
        var random = RandomExpressions(seed: 99)
        let orders = ["species", "height", "planted", "stems", "note \"x\"; DROP", "GlobalID"]
        var answered = 0
        for number in 0..<400 {
            let condition = random.condition(depth: 3)
            let query = FeatureQuery(
                condition: condition,
                outFields: number % 3 == 0 ? ["species", "height", "planted"] : nil, returnsGeometry: number % 2 == 0,
                order: [.init(expression: .field(orders[number % 6]), isDescending: number % 4 < 2)],
                offset: number % 5 == 0 ? 3 : 0, limit: number % 3 == 1 ? 20 : nil)
            let encoder = try JSONFeatureEncoder(layer: Samples.treeLayer, query: query)
            let isAnswered = try await expectSame(condition.text) {
                try await $0.encodedFeatures(query, in: Samples.trees, encoder: encoder)
            }
            answered += isAnswered ? 1 : 0
        }
        #expect(answered == 400)
        try await close()
    }

    @Test("ROUND takes halves away from zero, below zero as above it")
    func halves() async throws {
        let half = SQLExpression.binary(.multiply, .field("stems"), .literal(.real(0.5)))
        let cases: [(rounded: Int64, stems: [Int64])] = [(-2, [-3]), (-1, [-2, -1]), (0, [0]), (1, [1, 2]), (2, [3])]
        for (rounded, stems) in cases {
            let query = FeatureQuery(
                condition: .binary(.equal, .function(.round, [half]), .literal(.integer(rounded))))
            let same = FeatureQuery(
                condition: .inList(.field("stems"), stems.map { .literal(.integer($0)) }, negated: false))
            for store in stores {
                let found = try await store.objectIDs(query, in: Samples.trees)
                let expected = try await store.objectIDs(same, in: Samples.trees)
                #expect(!found.isEmpty && found == expected, "\(rounded) in \(type(of: store))")
            }
        }
        try await close()
    }

    @Test("Features of every kind of relation with boxes, lines and triangles")
    func places() async throws {
        var generator = SeededGenerator(seed: 5)
        func point() -> Point {
            Point(
                x: Double.random(in: -1e6...1e6, using: &generator),
                y: Double.random(in: -1e6...1e6, using: &generator),
                spatialReference: .webMercator)
        }
        for number in 0..<60 {
            let (one, other, third) = (point(), point(), point())
            let shapes: [Geometry] = [
                Envelope(
                    xMin: min(one.x, other.x), yMin: min(one.y, other.y), xMax: max(one.x, other.x),
                    yMax: max(one.y, other.y), spatialReference: .webMercator),
                Polygon(points: [one, other, third], spatialReference: .webMercator),
                Envelope(xMin: one.x, yMin: -1e6, xMax: one.x, yMax: 1e6, spatialReference: .webMercator),
            ]
            let relations = SpatialFilter.Relation.allCases.filter { $0 != .relation }
            let query = FeatureQuery(
                spatialFilter: SpatialFilter(
                    geometry: shapes[number % 3], relation: relations[number % relations.count]))
            let encoder = try GeoJSONFeatureEncoder(layer: Samples.treeLayer, query: query)
            try await expectSame("\(relations[number % relations.count]) \(number % 3)") {
                try await $0.encodedFeatures(query, in: Samples.trees, encoder: encoder)
            }
        }
        try await close()
    }

    @Test("Statistics of every kind, by groups and over all")
    func statistics() async throws {
        for kind in StatisticsQuery.Kind.allCases {
            for field in ["height", "stems"] {
                for group in [nil, "species", "stems"] {
                    let result = FieldDefinition(name: "result", type: .double)
                    let query = StatisticsQuery(
                        features: FeatureQuery(),
                        statistics: [
                            .init(kind: kind, value: .field(field), fraction: 0.4, field: result)
                        ],
                        groups: group.map { name in
                            let field = Samples.treeFields.first { $0.name == name }
                            return [.init(value: .field(name), field: field ?? result)]
                        } ?? [])
                    try await expectSame("\(kind) of \(field) by \(group ?? "nothing")") {
                        try await $0.encodedStatistics(
                            query, in: Samples.trees, encoder: JSONFeatureEncoder(statistics: query))
                    }
                }
            }
        }
        try await close()
    }
}
