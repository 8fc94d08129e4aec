import Fieldwork
import Foundation
import Testing

@testable import FieldworkCollect

/// A shape under edit: its steps, the way back, what is wrong with it.
@Suite struct SketchTests {
    private static func vertex(_ x: Double, _ y: Double) -> Sketch.Vertex { Sketch.Vertex(x: x, y: y) }

    private static func square() throws -> Sketch {
        let points = [(0.0, 0.0), (0, 100), (100, 100), (100, 0)].map {
            Point(x: $0.0, y: $0.1, spatialReference: .webMercator)
        }
        return try #require(Sketch(Polygon(points: points)))
    }

    @Test func aVertexThatNobodyTouchedKeepsItsCoordinatesHeightAndMeasure() throws {
        let points = [(0.1, 0.2, 5.0), (10.3, 0.7, 6), (20.9, 8.1, 7)].map {
            Point(x: $0.0, y: $0.1, z: $0.2, spatialReference: .webMercator)
        }
        let line = Polyline(points: points, spatialReference: .webMercator)
        var sketch = try #require(Sketch(line))
        #expect(sketch.geometry(.line, .webMercator).toJSON() == line.toJSON())
        let isMoved = sketch.move(.init(part: 0, index: 1), to: Self.vertex(11, 1))
        #expect(isMoved)
        let moved = try #require(sketch.geometry(.line, .webMercator) as? Polyline)
        #expect(moved.parts[0].points.map(\.z) == [5, 6, 7])
        #expect(moved.parts[0].points.map(\.x) == [0.1, 11, 20.9])
    }

    @Test func everyStepIsTakenBackAndDoneAgainByName() throws {
        var session = SketchSession(key: "k", template: nil, base: nil, sketch: try Self.square())
        let start = session.sketch
        #expect(session.apply("delete vertex 2") { $0.remove(.init(part: 0, index: 1)) })
        #expect(session.apply("add vertex 4") { $0.insert(Self.vertex(5, 5), after: .init(part: 0, index: 2)) })
        let end = session.sketch
        #expect(session.undoName == "add vertex 4")
        session.undo()
        #expect(session.redoName == "add vertex 4")
        session.undo()
        #expect(session.sketch == start)
        #expect(session.undoName == nil)
        session.redo()
        session.redo()
        #expect(session.sketch == end)
        #expect(!session.apply("nothing") { $0.remove(.init(part: 3, index: 9)) })
        #expect(session.sketch == end)
    }

    @Test func aCrossingAndTooFewVerticesAreProblemsAndACrossingIsRemoved() throws {
        var sketch = try Self.square()
        #expect(sketch.problem(.polygon, .webMercator) == nil)
        let isMoved = sketch.move(.init(part: 0, index: 1), to: Self.vertex(150, 50))
        #expect(isMoved)
        #expect(sketch.problem(.polygon, .webMercator) == .crossing)
        let repaired = try #require(Sketch(GeometryEngine.simplify(sketch.geometry(.polygon, .webMercator))))
        #expect(repaired.problem(.polygon, .webMercator) == nil)
        #expect(Sketch().problem(.line, .webMercator) == .tooFew(2))
    }

    @Test func aSketchThatWasBegunIsThereAfterTheProcess() throws {
        var session = SketchSession(key: "/f/0/1/geometry", template: nil, base: nil, sketch: try Self.square())
        #expect(session.apply("move vertex 1") { $0.move(.init(part: 0, index: 0), to: Self.vertex(-1, -1)) })
        let again = try JSONDecoder().decode(SketchSession.self, from: try JSONEncoder().encode(session))
        #expect(again.sketch == session.sketch)
        #expect(again.undoName == "move vertex 1")
        #expect(again.id == session.id)
    }
}
