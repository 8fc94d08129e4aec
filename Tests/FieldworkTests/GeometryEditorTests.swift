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
}
