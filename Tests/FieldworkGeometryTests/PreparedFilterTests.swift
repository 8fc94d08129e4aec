import Testing

@testable import FieldworkGeometry

@Suite("Prepared filter")
struct PreparedFilterTests {
    private func holds(_ filter: PreparedFilter, _ text: String) throws -> Bool {
        let geometry = try #require(try WellKnownText.geometry(from: text))
        let blob = GeoPackageBinary.blob(for: geometry, srsID: 0)
        return try blob.withUnsafeBytes { try filter.holds(blob: $0) }
    }

    @Test("Each relation reads from the filter to the feature")
    func relations() throws {
        let box = Envelope(xMin: 0, yMin: 0, xMax: 10, yMax: 10)
        #expect(try holds(PreparedFilter(box, relation: .contains), "POINT (5 5)"))
        #expect(try !holds(PreparedFilter(box, relation: .contains), "POINT (0 5)"))
        #expect(try holds(PreparedFilter(box, relation: .intersects), "POINT (0 5)"))
        #expect(try holds(PreparedFilter(box, relation: .touches), "POINT (0 5)"))
        #expect(try holds(PreparedFilter(box, relation: .within), "POLYGON ((-1 -1, 11 -1, 11 11, -1 11, -1 -1))"))
        #expect(try holds(PreparedFilter(box, relation: .crosses), "LINESTRING (-5 5, 5 5)"))
        #expect(try holds(PreparedFilter(box, relation: .overlaps), "POLYGON ((5 5, 15 5, 15 15, 5 15, 5 5))"))
        #expect(try holds(PreparedFilter(box, relation: .disjoint), "POINT (20 5)"))
        #expect(try holds(PreparedFilter(box, relation: .equals), "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))"))
        #expect(try holds(PreparedFilter(box, relation: .matches(pattern: "T********")), "POINT (5 5)"))
    }

    @Test("A rectangle decides by its sides exactly what GEOS decides", arguments: 0..<300)
    func rectangle(seed: Int) throws {
        var maker = GeometryMaker(seed: UInt64(seed))
        let feature = maker.geometry()
        let x = Double.random(in: -200...400, using: &maker.generator)
        let box = Envelope(xMin: x, yMin: -30, xMax: x + 90, yMax: 25)
        let blob = GeoPackageBinary.blob(for: feature, srsID: 0)
        for (relation, same) in [(PreparedFilter.Relation.intersects, true), (.disjoint, false)] {
            let byBox = try PreparedFilter(box, relation: relation)
            let byPolygon = try PreparedFilter(box.toPolygon(), relation: relation)
            let answer = try blob.withUnsafeBytes { try byBox.holds(blob: $0) }
            #expect(try answer == blob.withUnsafeBytes { try byPolygon.holds(blob: $0) })
            #expect(answer == (GeometryEngine.isGeometry(box, intersecting: feature) == same))
        }
    }
}
