import Fieldwork
import Foundation
import Testing

@testable import FieldworkCollect

/// A shape under edit: its steps, the way back, what is wrong with it.
@Suite struct SketchTests {
    private static func point(_ x: Double, _ y: Double) -> Point {
        Point(x: x, y: y, spatialReference: .webMercator)
    }

    private static func square(_ key: String = "k") throws -> SketchSession {
        let points = [(0.0, 0.0), (0, 100), (100, 100), (100, 0)].map { point($0.0, $0.1) }
        return try #require(SketchSession(key: key, shape: Polygon(points: points)))
    }

    private static func move(_ session: inout SketchSession, _ spot: SketchSpot, _ place: Point) -> Bool {
        session.apply("move vertex \(session.vertices.number(of: spot))") { editor in
            editor.choose(spot)
            editor.moveSelectedElement(to: place)
        }
    }

    private static func delete(_ session: inout SketchSession, _ spot: SketchSpot) -> Bool {
        session.apply("delete vertex \(session.vertices.number(of: spot))") { editor in
            editor.choose(spot)
            editor.deleteSelectedElement()
        }
    }

    private static func insert(_ session: inout SketchSession, _ place: Point, after spot: SketchSpot) -> Bool {
        session.apply("add vertex \(session.vertices.number(of: spot) + 1)") { editor in
            editor.choose(spot)
            editor.insertVertex(place)
        }
    }

    private static func withDirectory(_ test: (URL) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try test(directory)
    }

    private static func places(_ session: SketchSession) -> [[[Double]]] {
        session.vertices.parts.map { $0.map { [$0.x, $0.y] } }
    }

    private static func problem(_ session: SketchSession, _ kind: GeometryKind) -> SketchProblem? {
        SketchProblem(session.editor.geometry, kind)
    }

    @Test func aVertexThatNobodyTouchedKeepsItsCoordinatesHeightAndMeasure() throws {
        let points = [(0.1, 0.2, 5.0), (10.3, 0.7, 6), (20.9, 8.1, 7)].map {
            Point(x: $0.0, y: $0.1, z: $0.2, spatialReference: .webMercator)
        }
        let line = Polyline(points: points, spatialReference: .webMercator)
        var session = try #require(SketchSession(key: "k", shape: line))
        #expect(session.editor.geometry?.toJSON() == line.toJSON())
        #expect(Self.move(&session, .init(part: 0, index: 1), Self.point(11, 1)))
        let moved = try #require(session.editor.geometry as? Polyline)
        #expect(moved.parts[0].points.map(\.z) == [5, 6, 7])
        #expect(moved.parts[0].points.map(\.x) == [0.1, 11, 20.9])
    }

    @Test func everyStepIsTakenBackAndDoneAgainByName() throws {
        var session = try Self.square()
        let start = Self.places(session)
        #expect(Self.delete(&session, .init(part: 0, index: 1)))
        #expect(session.undoName == "delete vertex 2")
        #expect(session.vertices.chosen == nil)
        #expect(Self.insert(&session, Self.point(5, 5), after: .init(part: 0, index: 2)))
        #expect(session.vertices.chosen == .init(part: 0, index: 3))
        let end = Self.places(session)
        #expect(end == [[[0, 0], [100, 100], [100, 0], [5, 5]]])
        #expect(session.undoName == "add vertex 4")
        session.undo()
        #expect(session.redoName == "add vertex 4")
        session.undo()
        #expect(Self.places(session) == start)
        #expect(session.undoName == nil)
        #expect(!session.isChanged)
        session.redo()
        session.redo()
        #expect(Self.places(session) == end)
        #expect(session.vertices.chosen == .init(part: 0, index: 3))
        session.snapped = "Snapped to this shape"
        #expect(!Self.delete(&session, .init(part: 3, index: 9)))
        #expect(session.undoName == "add vertex 4")
        #expect(session.snapped == nil)
        #expect(Self.places(session) == end)
    }

    @Test func aVertexIsAddedToTheLastPartWhicheverIsChosen() throws {
        var session = SketchSession(key: "k", template: nil, kind: .line)
        #expect(!session.apply("new part") { $0.addPart() })
        for x in [0.0, 1, 2] { session.append(Self.point(x, 0)) }
        session.choose(.init(part: 0, index: 0))
        session.append(Self.point(3, 0))
        #expect(session.undoName == "add vertex 4")
        #expect(session.apply("new part") { $0.addPart() })
        session.choose(.init(part: 0, index: 1))
        session.append(Self.point(9, 9))
        #expect(Self.places(session) == [[[0, 0], [1, 0], [2, 0], [3, 0]], [[9, 9]]])
        #expect(session.vertices.chosen == .init(part: 1, index: 0))
        #expect(session.vertices.number(of: .init(part: 1, index: 0)) == 5)
        for text in ["-1.0", "0.-1", "0.9223372036854775807", "2.0"] {
            let spot = try #require(SketchSpot(text))
            #expect(session.vertices.number(of: spot) == 0, "there is no \(text)")
            session.choose(spot)
            #expect(session.vertices.chosen == nil)
        }
    }

    @Test func aCrossingAndTooFewVerticesAreProblemsAndACrossingIsRemoved() throws {
        var session = try Self.square()
        #expect(Self.problem(session, .polygon) == nil)
        #expect(Self.move(&session, .init(part: 0, index: 1), Self.point(150, 50)))
        #expect(Self.problem(session, .polygon) == .crossing)
        let shape = try #require(session.editor.geometry)
        let repaired = try #require(GeometryEngine.simplify(shape))
        #expect(session.apply("remove the crossing") { $0.replaceGeometry(with: repaired) })
        #expect(Self.problem(session, .polygon) == nil)
        let line = SketchSession(key: "k", template: nil, kind: .line)
        #expect(Self.problem(line, .line) == .tooFew(2))
    }

    @Test func aSketchThatWasBegunIsThereAfterTheProcess() throws {
        try Self.withDirectory { directory in
            let shelf = SketchShelf(directory: directory)
            var session = try Self.square("/f/0/1/geometry")
            #expect(Self.move(&session, .init(part: 0, index: 0), Self.point(-1, 1.0 / 3)))
            #expect(Self.move(&session, .init(part: 0, index: 2), Self.point(99, 99)))
            session.undo()
            (session.template, session.snaps, session.snapped) = ("t1", false, "Snapped to this shape")
            try shelf.put(session)
            let again = try #require(shelf.session(session.key, kind: .polygon, reference: .webMercator))
            #expect(again.vertices.parts == session.vertices.parts)
            #expect(again.vertices.chosen == session.vertices.chosen)
            #expect(again.undoName == "move vertex 1")
            #expect(again.redoName == "move vertex 3")
            #expect(again.id == session.id)
            #expect(again.base == session.base)
            #expect(again.template == "t1")
            #expect(!again.snaps)
            #expect(again.snapped == "Snapped to this shape")
            #expect(shelf.session("/f/0/2/geometry", kind: .polygon, reference: nil) == nil)
            shelf.remove(session.key)
            #expect(shelf.session(session.key, kind: .polygon, reference: .webMercator) == nil)
        }
    }

    // MARK: Earlier versions

    /// What the version before wrote, after "add vertex 4", "move vertex 1", "new part", "add vertex 5", two steps
    /// back.
    private static let earlier = """
        {"id":"5E3C1F0A-7B7B-4A0E-9C55-0D2B7A1C9E11","key":"/f/0/1/geometry","template":"t1",\
        "base":"e30=","snaps":false,"snapped":"Snapped to this shape",\
        "sketch":{"chosen":{"part":0,"index":0},"parts":[[{"x":-0.30000000000000004,"y":1,"z":5},\
        {"x":0,"y":100,"z":6},{"x":100,"y":100,"z":7},{"x":100,"y":0,"z":7}]]},\
        "past":[{"name":"add vertex 4","sketch":{"chosen":{"part":0,"index":2},\
        "parts":[[{"x":0,"y":0,"z":5},{"x":0,"y":100,"z":6},{"x":100,"y":100,"z":7}]]}},\
        {"name":"move vertex 1","sketch":{"chosen":{"part":0,"index":3},\
        "parts":[[{"x":0,"y":0,"z":5},{"x":0,"y":100,"z":6},{"x":100,"y":100,"z":7},{"x":100,"y":0,"z":7}]]}}],\
        "future":[{"name":"add vertex 5","sketch":{"chosen":{"part":1,"index":0},\
        "parts":[[{"x":-0.30000000000000004,"y":1,"z":5},{"x":0,"y":100,"z":6},{"x":100,"y":100,"z":7},\
        {"x":100,"y":0,"z":7}],[{"x":40,"y":40,"z":7}]]}},\
        {"name":"new part","sketch":{"parts":[[{"x":-0.30000000000000004,"y":1,"z":5},{"x":0,"y":100,"z":6},\
        {"x":100,"y":100,"z":7},{"x":100,"y":0,"z":7}],[]]}}]}
        """

    private static func withEarlier(_ text: String, _ test: (SketchShelf, SketchSession?) throws -> Void) throws {
        try withDirectory { directory in
            let file = directory.appending(path: "\(StableHash.hex("/f/0/1/geometry")).json")
            try Data(text.utf8).write(to: file)
            let shelf = SketchShelf(directory: directory)
            try test(shelf, shelf.session("/f/0/1/geometry", kind: .polygon, reference: .webMercator))
        }
    }

    @Test func aSketchOfAnEarlierVersionGoesOnWithAllItsSteps() throws {
        try Self.withEarlier(Self.earlier) { shelf, session in
            var session = try #require(session)
            #expect(session.id.uuidString == "5E3C1F0A-7B7B-4A0E-9C55-0D2B7A1C9E11")
            #expect(session.template == "t1")
            #expect(session.base == Data("{}".utf8))
            #expect(!session.snaps)
            #expect(session.snapped == "Snapped to this shape")
            let now: [[[Double]]] = [[[-0.30000000000000004, 1], [0, 100], [100, 100], [100, 0]]]
            #expect(Self.places(session) == now)
            #expect(session.vertices.parts[0].map(\.z) == [5, 6, 7, 7])
            #expect(session.editor.geometry?.spatialReference == .webMercator)
            #expect(session.vertices.chosen == .init(part: 0, index: 0))
            #expect(session.undoName == "move vertex 1")
            #expect(session.redoName == "new part")

            session.redo()
            #expect(session.vertices.parts.map(\.count) == [4, 0])
            #expect(session.redoName == "add vertex 5")
            session.redo()
            #expect(Self.places(session) == now + [[[40, 40]]])
            #expect(session.redoName == nil)
            for name in ["add vertex 5", "new part", "move vertex 1", "add vertex 4"] {
                #expect(session.undoName == name)
                session.undo()
            }
            #expect(Self.places(session) == [[[0, 0], [0, 100], [100, 100]]])
            #expect(session.vertices.chosen == .init(part: 0, index: 2))
            #expect(!session.isChanged)
            session.redo()
            #expect(session.vertices.chosen == .init(part: 0, index: 3))

            session.append(Self.point(50, -20))
            try shelf.put(session)
            var again = try #require(shelf.session(session.key, kind: .polygon, reference: .webMercator))
            #expect(again.undoName == "add vertex 5")
            #expect(again.vertices.parts[0].last?.z == 7)
            again.undo()
            #expect(again.undoName == "add vertex 4")
            #expect(again.redoName == "add vertex 5")
        }
    }

    @Test func aSketchOfAnEarlierVersionThatWasJustBegunOrIsDamagedIsReadOrLeft() throws {
        let head = #"{"id":"5E3C1F0A-7B7B-4A0E-9C55-0D2B7A1C9E11","key":"/f/0/1/geometry","snaps":true,"#
        let begun = #""sketch":{"parts":[[{"x":1,"y":2}]]},"future":[]"#
        let first = #","past":[{"name":"add vertex 1","sketch":{"parts":[]}}]}"#
        try Self.withEarlier(head + begun + first) { _, session in
            var session = try #require(session)
            #expect(Self.places(session) == [[[1, 2]]])
            session.undo()
            #expect(session.vertices.count == 0)
            #expect(session.redoName == "add vertex 1")
        }
        try Self.withEarlier(head + begun + "}") { _, session in #expect(session == nil) }
    }
}
