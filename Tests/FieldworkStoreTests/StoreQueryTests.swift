import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Queries on a store", .fewAtATime, .everyStore)
struct StoreQueryTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore

    /// A hundred trees on a grid of ten by ten, numbered row by row from the lower left.
    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.anyStore(in: folder)
        let trees = (0..<100).map { number -> FeatureEdit in
            let height: AttributeValue = number % 7 == 0 ? .null : .real(Double(number))
            let planted = AttributeValue.integer(Int64(number) * 86_400_000)
            return Samples.tree(
                number % 2 == 0 ? "Acer" : "Quercus", x: Double(number % 10), y: Double(number / 10),
                [("height", height), ("stems", .integer(Int64(number % 3))), ("planted", planted)])
        }
        _ = try await store.apply(Samples.batch(adds: trees), to: Samples.name)
    }

    private func ids(_ query: FeatureQuery) async throws -> [Int64] {
        try await store.objectIDs(query, in: Samples.trees)
    }

    private func ids(where condition: SQLExpression) async throws -> [Int64] {
        try await ids(FeatureQuery(condition: condition))
    }

    @Test("Features go to the encoder value by value, in the order of the layer's fields")
    func encoding() async throws {
        var query = FeatureQuery(objectIDs: [3], outFields: ["planted", "species", "OBJECTID"])
        #expect(try await store.lines(query) == ["begin", "0=3|1='Acer'|2=172800000|(2.0 0.0)", "end"])
        query.returnsGeometry = false
        #expect(try await store.lines(query) == ["begin", "0=3|1='Acer'|2=172800000", "end"])
        query.objectIDs = []
        #expect(try await store.lines(query) == ["begin", "end"])
    }

    @Test("A limit cuts the answer and tells so")
    func limits() async throws {
        var query = FeatureQuery(outFields: ["OBJECTID"], returnsGeometry: false, limit: 3)
        #expect(try await store.lines(query) == ["begin", "0=1", "0=2", "0=3", "more"])
        query.offset = 98
        #expect(try await store.lines(query) == ["begin", "0=99", "0=100", "end"])
        query.offset = 97
        #expect(try await store.lines(query) == ["begin", "0=98", "0=99", "0=100", "end"])
        query.offset = 1_000
        #expect(try await store.lines(query) == ["begin", "end"])
        query = FeatureQuery(outFields: ["OBJECTID"], returnsGeometry: false, limit: 0)
        #expect(try await store.lines(query) == ["begin", "more"])
    }

    @Test("Pages by offset cover the layer once, with gaps among the ids and without", arguments: [false, true])
    func paging(hasGaps: Bool) async throws {
        if hasGaps {
            _ = try await store.apply(Samples.batch(deletes: [.objectID(7), .objectID(50)]), to: Samples.name)
        }
        var seen: [Int64] = []
        for offset in stride(from: 0, to: 110, by: 11) {
            seen += try await store.records(FeatureQuery(offset: offset, limit: 11), in: Samples.trees).map(\.objectID)
        }
        #expect(seen == (1...100).filter { !hasGaps || ($0 != 7 && $0 != 50) })
    }

    @Test("Order by fields, descending too, with the object id as the last word")
    func order() async throws {
        let query = FeatureQuery(
            order: [
                .init(expression: .field("stems"), isDescending: true), .init(expression: .field("species")),
            ], limit: 4)
        #expect(try await ids(query) == [3, 9, 15, 21])
        #expect(
            try await ids(FeatureQuery(order: [.init(expression: .field("OBJECTID"), isDescending: true)], limit: 2))
                == [100, 99])
    }

    @Test("Pages by values that many features share cover the layer once")
    func pagesOfSharedValues() async throws {
        var seen: [Int64] = []
        for offset in stride(from: 0, to: 100, by: 7) {
            seen += try await ids(
                FeatureQuery(
                    order: [.init(expression: .field("species"), isDescending: true)], offset: offset, limit: 7))
        }
        #expect(seen.count == 100 && Set(seen).count == 100)
        // Those of one value come in the order of their ids.
        #expect(Array(seen.prefix(3)) == [2, 4, 6] && Array(seen.suffix(2)) == [97, 99])
    }

    @Test("Features without a value come first, and last in descending order")
    func orderOfNulls() async throws {
        func ordered(isDescending: Bool) async throws -> [Int64] {
            try await ids(FeatureQuery(order: [.init(expression: .field("height"), isDescending: isDescending)]))
        }
        let without = (0..<100).filter { $0 % 7 == 0 }.map { Int64($0 + 1) }
        let ascending = try await ordered(isDescending: false)
        #expect(Array(ascending.prefix(15)) == without && ascending.last == 100)
        let descending = try await ordered(isDescending: true)
        #expect(Array(descending.suffix(15)) == without && descending.first == 100)
    }

    @Test("Halves are rounded away from zero, and cut towards it")
    func halves() async throws {
        func ids(where text: String) async throws -> [Int64] {
            try await self.ids(where: try SQLParser.parse(where: text).bound(to: Samples.treeLayer))
        }
        // The tree 4 is 3 high.
        #expect(try await ids(where: "ROUND(height * -0.5) = -2 AND OBJECTID = 4") == [4])
        #expect(try await ids(where: "ROUND(height * 0.5) = 2 AND OBJECTID = 4") == [4])
        #expect(try await ids(where: "ROUND(height * -0.1) = -0 AND OBJECTID = 4") == [4])
        #expect(try await ids(where: "TRUNCATE(height * -0.5) = -1 AND OBJECTID = 4") == [4])
    }

    @Test("Conditions follow three-valued logic")
    func conditions() async throws {
        let isTall = SQLExpression.binary(.greater, .field("height"), .literal(.integer(90)))
        #expect(try await ids(where: isTall) == [93, 94, 95, 96, 97, 98, 100])
        #expect(try await ids(where: .not(isTall)).count == 100 - 7 - 15, "an unknown height is not small either")
        #expect(try await ids(where: .isNull(.field("height"), negated: false)).count == 15)
        #expect(
            try await ids(
                where: .inList(.field("stems"), [.literal(.integer(1)), .literal(.integer(2))], negated: true)
            )
            .count == 34)
        #expect(
            try await ids(
                where: .between(
                    .field("OBJECTID"), lower: .literal(.integer(5)), upper: .literal(.integer(7)), negated: false))
                == [5, 6, 7])
    }

    @Test("LIKE tells upper from lower case and knows an escape")
    func like() async throws {
        func like(_ pattern: String, escape: Character? = nil) async throws -> Int {
            try await ids(
                where: .like(.field("species"), pattern: .literal(.string(pattern)), escape: escape, negated: false)
            ).count
        }
        #expect(try await like("A%") == 50)
        #expect(try await like("a%") == 0)
        #expect(try await like("_cer") == 50)
        #expect(try await like("A!%", escape: "!") == 0)
    }

    @Test("Dates compare with dates, timestamps and text that is a date")
    func dates() async throws {
        let day: Int64 = 86_400_000
        #expect(
            try await ids(where: .binary(.less, .field("planted"), .literal(.timestamp(2 * day)))) == [1, 2])
        #expect(
            try await ids(where: .binary(.equal, .field("planted"), .literal(.string("1970-01-03")))) == [3])
        #expect(
            try await ids(
                where: .binary(
                    .greaterOrEqual, .binary(.add, .field("planted"), .literal(.interval(day))),
                    .literal(.date(100 * day))))
                == [100])
        #expect(
            try await ids(
                where: .binary(.equal, .extract(.month, from: .field("planted")), .literal(.integer(2)))
            ).count == 28)
        await #expect(throws: StoreError.self) {
            try await ids(where: .binary(.equal, .field("planted"), .literal(.string("soon"))))
        }
    }

    @Test("A value stays a value, whatever it says, and so does a name")
    func injection() async throws {
        var texts = ["' OR 1=1 --", "\"; DROP TABLE \"Trees\"; --", "Acer\\", "Acer' || species || '", "$1", "?"]
        // A database's texts can't hold the character: it refuses the question.
        if StoreKind.current == .geoPackage { texts.append("Acer\u{0}") }
        for text in texts {
            #expect(try await ids(where: .binary(.equal, .field("species"), .literal(.string(text)))) == [])
        }
        #expect(try await ids(where: .isNull(.field("note \"x\"; DROP"), negated: false)).count == 100)
        await #expect(throws: StoreError.self) {
            try await ids(where: .isNull(.field("OBJECTID\" OR 1=1 --"), negated: false))
        }
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 100)
    }

    @Test("A chain of ten thousand conditions is answered; one nested as deep is refused")
    func longAndDeep() async throws {
        let term = SQLExpression.binary(.notEqual, .field("OBJECTID"), .literal(.integer(0)))
        let chain = (1..<10_000).reduce(term) { chain, _ in .binary(.and, chain, term) }
        #expect(try await ids(where: chain).count == 100)
        let deep = (0..<10_000).reduce(term) { inner, _ in .not(inner) }
        await #expect(throws: StoreError.self) { try await ids(where: deep) }
    }

    @Test("Distinct values are given once")
    func distinct() async throws {
        let query = FeatureQuery(
            outFields: ["species", "stems"], returnsGeometry: false, returnsDistinctValues: true,
            order: [.init(expression: .field("species"))])
        #expect(try await store.lines(query).count == 8)
        #expect(try await store.count(query, in: Samples.trees) == 6)
        // With geometries a row is distinct from one that stands elsewhere.
        var placed = query
        placed.returnsGeometry = true
        let count = try await store.count(placed, in: Samples.trees)
        #expect(count > 6)
        #expect(try await store.lines(placed).count == count + 2)
    }

    @Test("Counts and extents")
    func countsAndExtents() async throws {
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 100)
        #expect(try await store.count(FeatureQuery(limit: 30), in: Samples.trees) == 30)
        #expect(try await store.count(FeatureQuery(offset: 90, limit: 30), in: Samples.trees) == 10)
        let whole = try await store.extent(FeatureQuery(), in: Samples.trees)
        #expect(whole.count == 100)
        #expect(whole.extent == Envelope(xMin: 0, yMin: 0, xMax: 9, yMax: 9, spatialReference: .webMercator))
        let part = try await store.extent(
            FeatureQuery(condition: .binary(.lessOrEqual, .field("OBJECTID"), .literal(.integer(3)))), in: Samples.trees
        )
        #expect(part.count == 3)
        #expect(part.extent == Envelope(xMin: 0, yMin: 0, xMax: 2, yMax: 0, spatialReference: .webMercator))
        let none = try await store.extent(FeatureQuery(objectIDs: [1_000]), in: Samples.trees)
        #expect(none.extent == nil && none.count == 0)
    }

    @Test("An exact extent survives coordinates that the R-tree rounds")
    func exactExtent() async throws {
        _ = try await store.apply(
            Samples.batch(adds: [
                Samples.tree("far", x: -13_654_321.123_456_7, y: 5_700_000.765_432_1),
                Samples.tree("far", x: -13_654_321.123_456_6, y: 5_700_000.765_432_2),
            ]), to: Samples.name)
        let extent = try #require(try await store.extent(FeatureQuery(), in: Samples.trees).extent)
        #expect(extent.xMin == -13_654_321.123_456_7)
        #expect(extent.yMax == 5_700_000.765_432_2)
    }

    @Test("The outermost feature is found where the R-tree rounds another one further out", arguments: [-1.0, 1.0])
    func unevenRounding(sign: Double) async throws {
        // In 32 bits -13,661,993 is itself and -13,661,992.5 is -13,661,994.
        _ = try await store.apply(
            Samples.batch(adds: [
                Samples.tree("out", x: sign * 13_661_993, y: sign * 13_661_993),
                Samples.tree("in", x: sign * 13_661_992.5, y: sign * 13_661_992.5),
            ]), to: Samples.name)
        let whole = try #require(try await store.extent(FeatureQuery(), in: Samples.trees).extent)
        let slow = try await store.extent(
            FeatureQuery(condition: try SQLParser.parse(where: "OBJECTID > 0")), in: Samples.trees)
        #expect(whole == slow.extent)
        #expect((sign < 0 ? whole.xMin : whole.xMax) == sign * 13_661_993)
        #expect((sign < 0 ? whole.yMin : whole.yMax) == sign * 13_661_993)
    }

    @Test("A box finds what lies in it and on its edge, and nothing that only rounding puts there")
    func boxes() async throws {
        func ids(_ box: Envelope, _ relation: SpatialFilter.Relation = .intersects) async throws -> [Int64] {
            try await self.ids(FeatureQuery(spatialFilter: SpatialFilter(geometry: box, relation: relation)))
        }
        #expect(try await ids(Envelope(xMin: 0, yMin: 0, xMax: 1, yMax: 1)) == [1, 2, 11, 12])
        #expect(try await ids(Envelope(xMin: 0, yMin: 0, xMax: 1, yMax: 1), .contains) == [])
        #expect(try await ids(Envelope(xMin: 0.5, yMin: 0.5, xMax: 1.5, yMax: 1.5), .contains) == [12])
        #expect(try await ids(Envelope(xMin: -5, yMin: -5, xMax: 50, yMax: 50)).count == 100)
        #expect(try await ids(Envelope(xMin: -5, yMin: -5, xMax: 4.5, yMax: 50), .disjoint).count == 50)
        #expect(try await ids(Envelope(xMin: 1 + 1e-12, yMin: 0, xMax: 2 - 1e-12, yMax: 0)) == [])
        #expect(try await ids(Envelope(xMin: 0.5, yMin: 0.5, xMax: 0.6, yMax: 0.6)) == [])
    }

    @Test("A spatial filter and a condition, a limit, a count go together")
    func spatialAndMore() async throws {
        let filter = SpatialFilter(geometry: Envelope(xMin: 0, yMin: 0, xMax: 3, yMax: 3))
        let query = FeatureQuery(
            condition: .binary(.equal, .field("species"), .literal(.string("Acer"))), spatialFilter: filter, limit: 5)
        #expect(try await ids(query) == [1, 3, 11, 13, 21])
        #expect(try await store.count(query, in: Samples.trees) == 5)
        #expect(try await store.count(FeatureQuery(spatialFilter: filter), in: Samples.trees) == 16)
        #expect(try await store.extent(FeatureQuery(spatialFilter: filter), in: Samples.trees).extent?.xMax == 3)
        #expect(try await store.lines(query).last == "more")
    }

    @Test("Global ids find their features")
    func globalIDs() async throws {
        let records = try await store.records(FeatureQuery(objectIDs: [5, 9]), in: Samples.trees)
        let ids = records.compactMap(\.globalID)
        #expect(ids.count == 2)
        #expect(try await self.ids(FeatureQuery(globalIDs: ids)) == [5, 9])
        #expect(try await self.ids(FeatureQuery(globalIDs: [ids[1]])) == [9])
    }

    @Test("A query that makes no sense is refused")
    func refused() async throws {
        await #expect(throws: StoreError.self) {
            try await store.lines(FeatureQuery(outFields: ["nowhere"]))
        }
        await #expect(throws: StoreError.self) {
            try await store.count(
                FeatureQuery(spatialFilter: SpatialFilter(geometry: Point(x: 0, y: 0))), in: Samples.visits)
        }
        await #expect(throws: StoreError.self) {
            try await store.count(
                FeatureQuery(
                    spatialFilter: SpatialFilter(geometry: Point(x: 0, y: 0), relation: .relation, pattern: "x")),
                in: Samples.trees)
        }
    }
}
