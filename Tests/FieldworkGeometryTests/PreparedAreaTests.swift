import TestSupport
import Testing

@testable import FieldworkGeometry

@Suite("Prepared area")
struct PreparedAreaTests {
    /// A square of 100 with a square hole of 20 in its middle, and a small one apart from it.
    private let area =
        "MULTIPOLYGON (((0 0, 100 0, 100 100, 0 100, 0 0), (40 40, 60 40, 60 60, 40 60, 40 40)), ((200 0, 210 0, 210 10, 200 10, 200 0)))"

    @Test("A rectangle is inside, outside, or partly inside")
    func positions() throws {
        let prepared = try PreparedArea(try #require(try WellKnownText.geometry(from: area)))
        func position(_ xMin: Double, _ yMin: Double, _ side: Double) -> PreparedArea.Position {
            prepared.position(of: Envelope(xMin: xMin, yMin: yMin, xMax: xMin + side, yMax: yMin + side))
        }
        #expect(position(10, 10, 10) == .inside)
        #expect(position(0, 0, 10) == .inside, "at the edge, from inside")
        #expect(position(45, 45, 10) == .outside, "in the hole")
        #expect(position(35, 35, 30) == .partlyInside, "around the hole")
        #expect(position(100, 0, 10) == .partlyInside, "at the edge, from outside")
        #expect(position(150, 0, 10) == .outside)
        #expect(position(201, 1, 5) == .inside, "of the other part")
        #expect(position(.nan, 0, 10) == .outside)
    }

    @Test("It says of rectangles what the engine says of each by itself", arguments: 0..<100)
    func same(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let whole = try #require(try WellKnownText.geometry(from: area))
        let prepared = try PreparedArea(whole)
        for _ in 0..<20 {
            let (x, y) = (
                Double.random(in: -20...220, using: &generator), Double.random(in: -20...110, using: &generator)
            )
            let (width, height) = (
                Double.random(in: 1...60, using: &generator), Double.random(in: 1...60, using: &generator)
            )
            let rectangle = Envelope(xMin: x, yMin: y, xMax: x + width, yMax: y + height)
            let position = prepared.position(of: rectangle)
            #expect((position != .outside) == GeometryEngine.isGeometry(whole, intersecting: rectangle))
            #expect((position == .inside) == GeometryEngine.isGeometry(rectangle, within: whole))
        }
    }
}
