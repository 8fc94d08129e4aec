import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// Statistics by group that one walk over the features finds out, beside the same from SQLite.
@Suite("Statistics by group", .fewAtATime)
struct GroupFoldTests {
    private let folder: TemporaryFolder
    private let file: GeoPackageFile

    init() async throws {
        folder = try TemporaryFolder()
        file = try await GeoPackageStore.createFile(
            at: folder.url.appending(path: "Trees.gpkg"), definition: Samples.service)
    }

    /// - Parameter wild: species that nearly every tree has for itself.
    private func fill(_ count: Int, wild: Bool = false) async throws {
        var generator = SeededGenerator(seed: 31)
        let words = ["", "a", "A", "ab", "Ba", "é", "a%b", "10", "x y ", "Äpfel", "more than eight"]
        let trees = (0..<count).map { number in
            var attributes: [(name: String, value: AttributeValue)] = [
                ("stems", .integer(Int64.random(in: -3...3, using: &generator)))
            ]
            // Eighths: their sums are exact, whatever a version of SQLite does about rounding.
            if number % 5 > 0 {
                attributes.append(("height", .real(Double(Int.random(in: 0...960, using: &generator)) / 8)))
            }
            if number % 4 > 0 {
                attributes.append(("planted", .integer(Int64.random(in: 0...5, using: &generator) * 86_400_000)))
            }
            if number % 7 > 0 {
                attributes.append(("note \"x\"; DROP", .text(words.randomElement(using: &generator) ?? "")))
            }
            let species = wild ? "tree \(number)" : words.randomElement(using: &generator) ?? ""
            return Samples.tree(species, x: Double(number), y: 0, attributes)
        }
        let result = try await file.apply(Samples.batch(adds: trees, origin: .load))
        try #require(!result.hasErrors)
    }

    private func field(_ name: String) throws -> FieldDefinition {
        try #require(Samples.treeFields.first { $0.name == name })
    }

    private func query(
        _ groups: [String], _ statistics: [(StatisticsQuery.Kind, String?)], features: FeatureQuery = FeatureQuery(),
        order: [FeatureQuery.OrderTerm] = []
    ) throws -> StatisticsQuery {
        StatisticsQuery(
            features: features,
            statistics: statistics.enumerated().map { index, statistic in
                .init(
                    kind: statistic.0, value: statistic.1.map { .field($0) },
                    field: FieldDefinition(name: "result \(index)", type: .double))
            },
            groups: try groups.map { .init(value: .field($0), field: try field($0)) }, order: order)
    }

    private func lines(_ query: StatisticsQuery) async throws -> [String] {
        var bytes: [UInt8] = []
        for try await piece in try await file.encodedStatistics(query, in: 0, encoder: TextEncoder()) { bytes += piece }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// SQL of the statement that answers.
    private func sql(_ query: StatisticsQuery) async throws -> String {
        let layer = try file.layer(0)
        return try await file.readers.read { connection in
            try StatisticsCompiler(
                features: QueryCompiler(layer: layer, connection: connection, now: 0), query: query
            ).plan().sql
        }
    }

    /// Asks twice: a condition on the groups, which all fulfil, leaves them to SQLite.
    @discardableResult
    private func expectSame(_ query: StatisticsQuery, isFolded: Bool = true) async throws -> [String] {
        var other = query
        other.having = try SQLParser.parse(where: "1=1")
        let isRead = try await sql(query).contains("\"Trees\"")
        #expect(isRead != isFolded)
        #expect(try await sql(other).contains("GROUP BY"))
        let answer = try await lines(query)
        #expect(try await answer == lines(other))
        return answer
    }

    private static let kinds: [StatisticsQuery.Kind] = [
        .count, .sum, .minimum, .maximum, .average, .standardDeviation, .variance,
    ]

    @Test("They are SQLite's to the last digit, for every kind, value and group")
    func same() async throws {
        try await fill(3_000)
        for groups in [["species"], ["stems"], ["height"], ["planted"], ["species", "note \"x\"; DROP"]] {
            for value in ["height", "stems"] {
                let answer = try await expectSame(query(groups, Self.kinds.map { ($0, value) }))
                #expect(groups == ["height"] || answer.count > 5)
            }
        }
        for value in ["note \"x\"; DROP", "planted", "species"] {
            try await expectSame(
                query(["stems"], [(.minimum, value), (.maximum, value), (.count, value), (.count, nil)]))
        }
    }

    @Test("Order, pages, conditions and boxes are as before; of no features there are no groups")
    func pages() async throws {
        try await fill(500)
        let sums: [(StatisticsQuery.Kind, String?)] = [(.sum, "height"), (.count, nil)]
        let order = [FeatureQuery.OrderTerm(expression: .field("result 1"), isDescending: true)]
        for (offset, limit) in [(0, 3), (2, 4), (100, 5)] {
            let page = FeatureQuery(offset: offset, limit: limit)
            try await expectSame(query(["species"], sums, features: page, order: order))
        }
        let condition = FeatureQuery(condition: try SQLParser.parse(where: "height > 60 AND species <> 'ab'"))
        try await expectSame(query(["species", "stems"], sums, features: condition))
        let box = Envelope(xMin: 10, yMin: -1, xMax: 90, yMax: 1, spatialReference: .webMercator)
        try await expectSame(
            query(["species"], sums, features: FeatureQuery(spatialFilter: SpatialFilter(geometry: box))))
        let nothing = FeatureQuery(condition: try SQLParser.parse(where: "1=0"))
        #expect(try await expectSame(query(["species"], sums, features: nothing)) == ["begin", "end"])
    }

    @Test("Many groups, long texts, values of another type and texts that are compared otherwise are left to SQLite")
    func others() async throws {
        try await fill(FieldworkStore.Limits.foldedGroups + 1, wild: true)
        let counted: [(StatisticsQuery.Kind, String?)] = [(.count, nil), (.sum, "stems"), (.maximum, "stems")]
        try await expectSame(query(["species"], counted), isFolded: false)
        try await expectSame(query(["stems"], counted))
        // Too many values, though each group is one of few.
        let many = Array(repeating: counted[0], count: FieldworkStore.Limits.foldedValues / 6)
        try await expectSame(query(["stems"], many), isFolded: false)
        let path = folder.url.appending(path: "Trees.gpkg").path
        func change(_ sql: String) throws {
            let connection = try StoreConnection(path: path, mode: .readWrite)
            try connection.execute(sql)
        }
        try change("UPDATE \"Trees\" SET \"stems\" = 'many' WHERE \"OBJECTID\" = 7")
        try await expectSame(query(["condition"], counted), isFolded: false)
        // 2.0 and 2 are one group.
        try change("UPDATE \"Trees\" SET \"stems\" = 1.5 WHERE \"OBJECTID\" = 7")
        try await expectSame(query(["stems"], counted), isFolded: false)
        try change(
            "UPDATE \"Trees\" SET \"stems\" = 1, \"species\" = CASE \"OBJECTID\" % 2 WHEN 0 THEN 'oak' ELSE 'OAK' END")
        #expect(try await expectSame(query(["species"], counted)).count == 4)
        try change(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, '"species" TEXT(20)', '"species" TEXT(20) COLLATE NOCASE')
                WHERE name = 'Trees';
            PRAGMA writable_schema = RESET
            """)
        await file.readers.close()
        let again = try await GeoPackageStore.openFile(at: folder.url.appending(path: "Trees.gpkg"))
        var bytes: [UInt8] = []
        let grouped = try query(["species"], counted)
        for try await piece in try await again.encodedStatistics(grouped, in: 0, encoder: TextEncoder()) {
            bytes += piece
        }
        #expect(String(decoding: bytes, as: UTF8.self).split(separator: "\n").count == 3)
    }
}
