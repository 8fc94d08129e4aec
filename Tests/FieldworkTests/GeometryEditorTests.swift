import FieldworkGeometry
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Editing geometries", .fewAtATime)
struct GeometryEditorTests {
    private static func point(_ x: Double, _ y: Double) -> Point {
        Point(x: x, y: y, spatialReference: .webMercator)
    }

    private static func vertices(_ editor: GeometryEditor, _ part: Int = 0) throws -> [[Double]] {
        let line = try #require(editor.geometry as? Multipart)
        return line.parts[part].points.map { [$0.x, $0.y] }
    }

    @Test("A line is drawn vertex by vertex, each step is taken back and done again, and the end gives it")
    func drawing() throws {
        let editor = GeometryEditor()
        #expect(editor.geometry == nil && !editor.isStarted && editor.tool is VertexTool)
        editor.insertVertex(Self.point(0, 0))
        #expect(editor.geometry == nil, "nothing is edited before the start")
        editor.start(withType: Polyline.self)
        #expect(editor.isStarted && editor.geometry?.isEmpty == true && !editor.canUndo)
        for x in [0.0, 10, 20] { editor.insertVertex(Self.point(x, 0)) }
        #expect(try Self.vertices(editor) == [[0, 0], [10, 0], [20, 0]])
        #expect((editor.selectedElement as? GeometryEditorVertex)?.vertexIndex == 2)
        editor.undo()
        editor.undo()
        #expect(try Self.vertices(editor) == [[0, 0]] && editor.canRedo)
        #expect((editor.selectedElement as? GeometryEditorVertex)?.vertexIndex == 0, "its selection comes back")
        editor.redo()
        editor.insertVertex(Self.point(10, 5))
        #expect(try Self.vertices(editor) == [[0, 0], [10, 0], [10, 5]] && !editor.canRedo)
        let line = try #require(editor.stop() as? Polyline)
        #expect(line.parts.count == 1 && line.spatialReference == .webMercator)
        #expect(!editor.isStarted && editor.geometry == nil && editor.selectedElement == nil && !editor.canUndo)
        #expect(editor.stop() == nil)
    }

    @Test("Vertices, sides, parts and the whole are selected, moved and deleted; what is not there is not selected")
    func changing() throws {
        let rings = [[(0.0, 0.0), (0, 10), (10, 10), (10, 0)], [(20, 0), (20, 10), (30, 10)]].map { ring in
            MutablePart(points: ring.map { Self.point($0.0, $0.1) }, spatialReference: .webMercator)
        }
        let editor = GeometryEditor()
        editor.start(withInitial: Polygon(parts: rings))
        editor.selectVertexAt(partIndex: 2, vertexIndex: 0)
        editor.selectVertexAt(partIndex: 1, vertexIndex: 3)
        editor.selectMidVertexAt(partIndex: 1, segmentIndex: 3)
        #expect(editor.selectedElement == nil)
        editor.selectMidVertexAt(partIndex: 1, segmentIndex: 2)
        #expect((editor.selectedElement as? GeometryEditorMidVertex)?.segmentIndex == 2, "rings close")
        editor.deleteSelectedElement()
        #expect(!editor.canUndo, "the middle of a side is nothing that could go, and selecting is no step")
        editor.moveSelectedElement(to: Self.point(30, 0))
        #expect(try Self.vertices(editor, 1) == [[20, 0], [20, 10], [30, 10], [30, 0]])
        editor.moveSelectedElement(x: 1, y: -1)
        #expect(try Self.vertices(editor, 1).last == [31, -1])
        editor.deleteSelectedElement()
        #expect(try Self.vertices(editor, 1).count == 3 && editor.selectedElement == nil)
        editor.selectPart(partIndex: 1)
        editor.moveSelectedElement(to: Self.point(125, 5))
        #expect(try Self.vertices(editor, 1) == [[120, 0], [120, 10], [130, 10]])
        #expect(try Self.vertices(editor, 0).first == [0, 0])
        editor.deleteSelectedElement()
        editor.selectGeometry()
        editor.moveSelectedElement(x: 5, y: 5)
        #expect(try Self.vertices(editor) == [[5, 5], [5, 15], [15, 15], [15, 5]])
        editor.clearGeometry()
        #expect(editor.geometry?.isEmpty == true && editor.selectedElement == nil)
        while editor.canUndo { editor.undo() }
        #expect(editor.geometry == Polygon(parts: rings))
    }

    @Test("Points, multipoints and boxes are edited as what they are; others' references are brought into theirs")
    func kinds() throws {
        let editor = GeometryEditor()
        editor.start(withType: Point.self)
        editor.insertVertex(Self.point(1, 1))
        editor.insertVertex(Self.point(2, 2))
        #expect(editor.stop() == Self.point(2, 2), "a point is one")
        editor.start(withType: Multipoint.self)
        editor.insertVertex(Self.point(0, 0))
        editor.insertVertex(Point(x: 1, y: 0, spatialReference: .wgs84))
        let points = try #require(editor.geometry as? Multipoint).points
        #expect(points.count == 2 && abs(points[1].x - 111_319.49) < 0.01)
        editor.selectMidVertexAt(partIndex: 0, segmentIndex: 0)
        #expect(editor.selectedElement is GeometryEditorVertex, "points have no sides")
        editor.start(withInitial: Envelope(xMin: 0, yMin: 0, xMax: 10, yMax: 10, spatialReference: .webMercator))
        editor.selectVertexAt(partIndex: 0, vertexIndex: 2)
        editor.moveSelectedElement(to: Self.point(20, 5))
        var box = try #require(editor.geometry as? Envelope)
        #expect([box.xMin, box.yMin, box.xMax, box.yMax] == [0, 0, 20, 5])
        editor.insertVertex(Self.point(-5, 8))
        box = try #require(editor.geometry as? Envelope)
        #expect([box.xMin, box.yMin, box.xMax, box.yMax] == [-5, 0, 20, 8])
        editor.deleteSelectedElement()
        #expect(editor.geometry?.isEmpty == true)
        editor.replaceGeometry(with: Self.point(3, 3))
        #expect(editor.stop() == Self.point(3, 3))
    }

    @Test("Each state can be watched")
    func watching() async {
        let editor = GeometryEditor()
        var states = editor.$geometry.makeAsyncIterator()
        #expect(await states.next() == .some(nil))
        editor.start(withType: Point.self)
        #expect(await states.next()??.isEmpty == true)
        editor.insertVertex(Self.point(7, 7))
        #expect(await states.next() == Self.point(7, 7))
        editor.stop()
        #expect(await states.next() == .some(nil))
    }

    // MARK: What is kept

    private static func kept(_ editor: GeometryEditor) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(try #require(editor.savedState))
    }

    private static func editor(_ kept: Data) throws -> GeometryEditor {
        let editor = GeometryEditor()
        editor.start(withState: try JSONDecoder().decode(GeometryEditorState.self, from: kept))
        return editor
    }

    /// All that an editor shows, the coordinates to the last bit.
    private static func look(_ editor: GeometryEditor) -> [String] {
        let selected =
            switch editor.selectedElement {
            case let vertex as GeometryEditorVertex: "vertex \(vertex.partIndex) \(vertex.vertexIndex)"
            case let side as GeometryEditorMidVertex: "side \(side.partIndex) \(side.segmentIndex)"
            case let part as GeometryEditorPart: "part \(part.partIndex)"
            case is GeometryEditorGeometry: "all"
            default: "nothing"
            }
        let parts = editor.parts.map { part in
            part.map { point in
                [point.x, point.y, point.z, point.m].map { $0.map { String($0.bitPattern, radix: 16) } ?? "none" }
                    .joined(separator: " ")
            }.joined(separator: ", ")
        }
        let reference = editor.geometry?.spatialReference
        let kind = editor.geometry.map { "\(type(of: $0)) \(reference?.wkid?.rawValue ?? 0)" } ?? "nothing"
        return [kind, selected, editor.undoActionName ?? "-", editor.redoActionName ?? "-"] + parts
    }

    /// What an editor shows on its whole way back and forth.
    private static func way(_ editor: GeometryEditor) -> [[String]] {
        var way = [look(editor)]
        while editor.canUndo {
            editor.undo()
            way.append(look(editor))
        }
        while editor.canRedo {
            editor.redo()
            way.append(look(editor))
        }
        return way
    }

    /// An area under edit: steps on both sides, parts of one vertex and of none, and vertices with and without heights.
    private static func area() -> GeometryEditor {
        let editor = GeometryEditor()
        editor.start(withType: Polygon.self)
        for (number, place) in [(0.1 + 0.2, 1.0 / 3), (1e-7, 20_037_508.342789244), (-5, 7)].enumerated() {
            editor.insertVertex(point(place.0, place.1))
            editor.setActionName("add vertex \(number + 1)")
        }
        editor.insertVertex(Point(x: 2.0.squareRoot(), y: -4, z: 0.7, spatialReference: .webMercator))
        editor.addPart()
        editor.setActionName("new part")
        editor.insertVertex(Point(x: 3, y: 4, z: 1.1, m: 2.2, spatialReference: .webMercator))
        editor.addPart()
        editor.insertVertex(point(9, 9))
        editor.selectPart(partIndex: 0)
        editor.moveSelectedElement(x: 0.1, y: 0.1)
        editor.setActionName("move part")
        editor.selectMidVertexAt(partIndex: 0, segmentIndex: 3)
        for _ in 0..<3 { editor.undo() }
        return editor
    }

    @Test("What was kept goes on as it was: each coordinate to the last bit, the selection, and all steps both ways")
    func keeping() throws {
        for isForward in [false, true] {
            let editor = Self.area()
            #expect(editor.canUndo && editor.canRedo && editor.parts.map(\.count) == [4, 1])
            if isForward { for _ in 0..<2 { editor.redo() } }
            let kept = try Self.kept(editor)
            let again = try Self.editor(kept)
            #expect(again.geometry == editor.geometry)
            #expect(try Self.kept(again) == kept)
            let way = Self.way(try Self.editor(kept))
            #expect(way == Self.way(editor))
            #expect(way.count > 10 && Set(way.map { $0[2] }).isSuperset(of: ["new part", "move part", "add vertex 2"]))
            editor.insertVertex(Self.point(8, 8))
            while again.canRedo { again.redo() }
            again.insertVertex(Self.point(8, 8))
            #expect(Self.look(again) == Self.look(editor))
        }
    }

    @Test(
        "Each kind, selection and reference is kept, also of nothing",
        arguments: [
            Point(x: 1, y: 2, z: 3, spatialReference: .wgs84),
            Multipoint(points: [Point(x: 1, y: 2), Point(x: 3, y: 4)], spatialReference: .wgs84),
            Polyline(points: [Point(x: 0, y: 0, z: nil, m: .nan), Point(x: 9, y: 1, z: nil, m: 4)]),
            Polygon(points: [(0.0, 0.0), (0, 10), (10, 0)].map { Point(x: $0.0, y: $0.1) }),
            Envelope(
                xMin: 0, yMin: 1, xMax: 10, yMax: 11,
                spatialReference: SpatialReference(wkText: GeometryEditorTests.utm)),
            Polygon(points: [], spatialReference: .webMercator),
        ] as [Geometry])
    func kindsKept(_ geometry: Geometry) throws {
        let editor = GeometryEditor()
        #expect(editor.savedState == nil)
        editor.start(withInitial: geometry)
        let selections: [(GeometryEditor) -> Void] = [
            { $0.selectGeometry() }, { $0.selectPart(partIndex: 0) }, { $0.clearSelection() },
            { $0.selectMidVertexAt(partIndex: 0, segmentIndex: 0) },
            { $0.selectVertexAt(partIndex: 0, vertexIndex: 0) },
        ]
        for select in selections {
            select(editor)
            let again = try Self.editor(try Self.kept(editor))
            #expect(Self.look(again) == Self.look(editor))
            #expect(again.geometry == geometry && again.geometry?.spatialReference == geometry.spatialReference)
        }
        let state = try #require(editor.savedState)
        editor.selectVertexAt(partIndex: 0, vertexIndex: 0)
        editor.insertVertex(Self.point(20, 20))
        editor.stop()
        #expect(editor.savedState == nil)
        editor.start(withState: state)
        #expect(editor.geometry == geometry && !editor.canUndo, "what was kept doesn't change with the editor")
        editor.start(withType: type(of: geometry))
        editor.insertVertex(Self.point(20, 20))
        #expect(Self.way(try Self.editor(try Self.kept(editor))) == Self.way(editor), "begun with one vertex")
    }

    private static let utm = """
        PROJCS["WGS_1984_UTM_Zone_14N",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",\
        SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],\
        PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],\
        PARAMETER["Central_Meridian",-99.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],\
        UNIT["Meter",1.0]]
        """

    @Test("Damaged states throw; a selection of what is not there is dropped")
    func damage() throws {
        let editor = GeometryEditor()
        editor.start(withType: Polyline.self)
        for x in [1.0, 2, 3] { editor.insertVertex(Self.point(x, 0)) }
        let kept = String(decoding: try Self.kept(editor), as: UTF8.self)
        func read(_ old: String, _ new: String) throws -> GeometryEditor {
            try #require(kept.contains(old), "\(kept)")
            return try Self.editor(Data(kept.replacingOccurrences(of: old, with: new).utf8))
        }
        for (old, new) in [
            ("[[0,1,2]]", "[[0,1,3]]"), ("[[0,1,2]]", "[[-1,1,2]]"), ("[[0,1,2]]", "[[0],[],[1,2]]"),
            ("[[0,1,2]]", "[[]]"), ("\"kind\":\"polyline\"", "\"kind\":\"circle\""),
            ("\"kind\":\"polyline\"", "\"kind\":\"point\""), ("\"kind\":\"polyline\"", "\"kind\":\"envelope\""),
            ("\"reference\":0", "\"reference\":7"), ("\"wkid\":3857", "\"wkid\":1"), ("\"wkid\":3857", "\"wkt\":\"?\""),
            ("[1,0]", "[1]"), ("[1,0]", "[null,0]"), ("points", "paths"), ("\"kind\":\"vertex\"", "\"kind\":\"knot\""),
        ] {
            #expect(throws: (any Error).self, "\(new)") { try read(old, new) }
        }
        for index in [3, -1, Int.max, Int.min] {
            let again = try read("\"index\":2", "\"index\":\(index)")
            #expect(again.selectedElement == nil && again.geometry == editor.geometry && again.canUndo)
        }
        #expect(try read("\"kind\":\"vertex\"", "\"kind\":\"side\"").selectedElement == nil, "a line ends there")
        for length in stride(from: 0, to: kept.utf8.count, by: 7) {
            #expect(throws: (any Error).self) { try Self.editor(Data(kept.utf8.prefix(length))) }
        }
    }

    // MARK: Names and parts

    @Test("A step has the name that it got, and takes it along when it is taken back and done again")
    func names() {
        let editor = GeometryEditor()
        editor.setActionName("nothing yet")
        editor.start(withType: Polyline.self)
        editor.setActionName("no step")
        #expect(editor.undoActionName == nil && editor.redoActionName == nil)
        editor.insertVertex(Self.point(0, 0))
        editor.setActionName("begin")
        editor.insertVertex(Self.point(1, 0))
        #expect(editor.undoActionName == nil, "the new step has none yet")
        editor.setActionName("go on")
        editor.undo()
        #expect(editor.undoActionName == "begin" && editor.redoActionName == "go on")
        editor.redo()
        #expect(editor.undoActionName == "go on" && editor.redoActionName == nil)
        editor.setActionName("")
        #expect(editor.undoActionName == nil && editor.canUndo)
        editor.undo()
        editor.undo()
        #expect(editor.undoActionName == nil && editor.redoActionName == "begin")
        editor.insertVertex(Self.point(2, 0))
        #expect(editor.redoActionName == nil)
    }

    @Test("A new part takes the next vertices; it is in the geometry from its first vertex on")
    func newPart() throws {
        let editor = GeometryEditor()
        editor.addPart()
        editor.start(withType: Polyline.self)
        editor.addPart()
        #expect(!editor.canUndo, "there is no part yet")
        for x in [0.0, 1] { editor.insertVertex(Self.point(x, 0)) }
        let one = try #require(editor.geometry)
        editor.addPart()
        editor.setActionName("new part")
        #expect(editor.parts.map(\.count) == [2, 0] && editor.geometry == one && editor.selectedElement == nil)
        editor.addPart()
        editor.undo()
        #expect(editor.parts.map(\.count) == [2], "the second call was no step")
        editor.redo()
        editor.selectGeometry()
        editor.moveSelectedElement(x: 0, y: 5)
        editor.selectVertexAt(partIndex: 0, vertexIndex: 0)
        editor.insertVertex(Self.point(0.5, 5))
        #expect(editor.parts.map(\.count) == [3, 0], "the chosen vertex goes before")
        editor.clearSelection()
        editor.insertVertex(Self.point(7, 7))
        editor.insertVertex(Self.point(8, 8))
        #expect(try Self.vertices(editor, 1) == [[7, 7], [8, 8]])
        editor.addPart()
        for _ in 0..<2 {
            editor.selectPart(partIndex: 0)
            editor.deleteSelectedElement()
        }
        #expect(editor.parts.isEmpty && editor.geometry?.isEmpty == true, "an empty part alone is none")
        for kind in [Point.self, Multipoint.self, Envelope.self] as [Geometry.Type] {
            editor.start(withType: kind)
            editor.insertVertex(Self.point(0, 0))
            let before = editor.parts
            editor.addPart()
            #expect(editor.parts == before, "\(kind) has no parts")
        }
    }

    @Test("A vertex has the height and measure of the one before it, or keeps its own, unless the point has some")
    func heights() throws {
        let points = [(0.0, 5.0, 50.0), (10, 6, 60), (20, 7, 70)].map {
            Point(x: $0.0, y: 0, z: $0.1, m: $0.2, spatialReference: .webMercator)
        }
        let editor = GeometryEditor()
        editor.start(withInitial: Polyline(points: points))
        func heights() -> [[Double?]] { editor.parts.joined().map { [$0.z, $0.m] } }
        editor.selectVertexAt(partIndex: 0, vertexIndex: 0)
        editor.insertVertex(Self.point(5, 0))
        editor.insertVertex(Point(x: 6, y: 0, z: 1, spatialReference: .webMercator))
        #expect(heights() == [[5, 50], [5, 50], [1, 50], [6, 60], [7, 70]])
        editor.selectVertexAt(partIndex: 0, vertexIndex: 4)
        editor.moveSelectedElement(to: Self.point(21, 1))
        editor.selectVertexAt(partIndex: 0, vertexIndex: 3)
        editor.moveSelectedElement(to: Point(x: 11, y: 1, z: nil, m: 61, spatialReference: .webMercator))
        editor.moveSelectedElement(x: 1, y: 1)
        editor.selectMidVertexAt(partIndex: 0, segmentIndex: 3)
        editor.moveSelectedElement(to: Self.point(15, 3))
        #expect(heights().suffix(3) == [[6, 61], [6, 61], [7, 70]])
        #expect(editor.parts[0].map(\.x) == [0, 5, 6, 12, 15, 21])
        editor.addPart()
        editor.insertVertex(Self.point(50, 0))
        #expect(heights().last == [7, 70], "a new part goes on from the one before")
        editor.start(withInitial: points[0])
        editor.insertVertex(Self.point(1, 1))
        #expect(editor.geometry == Point(x: 1, y: 1, z: 5, m: 50, spatialReference: .webMercator))
        editor.start(withType: Polyline.self)
        editor.insertVertex(Self.point(0, 0))
        editor.insertVertex(Self.point(1, 1))
        #expect(heights() == [[nil, nil], [nil, nil]])
    }

    @Test("A ring that ends with its first vertex repeated stays closed when that one moves")
    func closedRings() throws {
        let builder = PolygonBuilder(spatialReference: .webMercator)
        for place in [(0.0, 0.0), (0, 10), (10, 10), (0, 0)] { builder.addPoint(x: place.0, y: place.1) }
        let ring = builder.toGeometry()
        #expect(ring.parts[0].points.count == 4, "builders leave it as it is given")
        let editor = GeometryEditor()
        editor.start(withInitial: ring)
        editor.selectVertexAt(partIndex: 0, vertexIndex: 0)
        editor.moveSelectedElement(to: Self.point(-5, -5))
        #expect(try Self.vertices(editor) == [[-5, -5], [0, 10], [10, 10]])
        editor.selectVertexAt(partIndex: 0, vertexIndex: 2)
        editor.insertVertex(Self.point(-5, -5))
        #expect(editor.parts[0].count == 4 && (editor.selectedElement as? GeometryEditorVertex)?.vertexIndex == 3)
        #expect(try Self.vertices(editor).count == 3, "one that is put there is edited, and is not in the geometry")
        editor.moveSelectedElement(to: Self.point(5, -5))
        #expect(try Self.vertices(editor).count == 4)
        editor.start(withInitial: ring.toPolyline())
        #expect(editor.parts[0].count == 5, "a line may end where it begins")
    }

    @Test("A place that is none changes nothing, so that what is kept can be read")
    func noPlace() throws {
        let editor = GeometryEditor()
        editor.start(withInitial: Polyline(points: [Self.point(0, 0), Self.point(1e308, 0)]))
        editor.insertVertex(Self.point(.nan, 0))
        editor.insertVertex(Self.point(0, .infinity))
        editor.selectVertexAt(partIndex: 0, vertexIndex: 1)
        editor.moveSelectedElement(to: Self.point(.infinity, 0))
        editor.moveSelectedElement(x: 1e308, y: 0)
        editor.selectGeometry()
        editor.moveSelectedElement(x: 1.5e308, y: 0)
        #expect(!editor.canUndo)
        #expect(try Self.editor(try Self.kept(editor)).geometry == editor.geometry)
        editor.start(withInitial: Polyline(points: [Self.point(0, 0), Self.point(.nan, 0)]))
        #expect(try Self.vertices(editor).count == 2 && editor.parts[0][1].x == 1e308, "nor does such a line begin")
    }
}
