import Fieldwork
import Foundation

/// The editing of one shape, with all its steps: on disk after each of them, so that nothing is lost with the process.
struct SketchSession: Sendable {
    /// The edit that comes of it: saved twice it is one.
    let id: UUID
    /// The feature's address; for a new one that of its layer.
    let key: String
    /// What is added.
    var template: String?
    /// The shape as it was when the editing began, as the protocol's JSON.
    let base: Data?
    /// Edits the shape. A copy of the session has the same one.
    let editor: GeometryEditor
    var snaps = true
    /// What the last vertex was snapped to.
    var snapped: String?

    /// The shape of a new feature.
    init(key: String, template: String?, kind: GeometryKind) {
        (id, self.key, self.template, base) = (UUID(), key, template, nil)
        editor = GeometryEditor(kind)
    }

    /// nil for a geometry without vertices to edit, or with arcs, which vertices alone would lose.
    init?(key: String, shape: Geometry?) {
        guard let shape = shape as? Multipart, !shape.hasCurves else { return nil }
        (id, self.key, template, base) = (UUID(), key, nil, shape.toJSON())
        editor = GeometryEditor()
        editor.start(withInitial: shape)
        // What has no place can't be edited.
        guard editor.isStarted else { return nil }
    }

    init(_ kept: KeptSketch, editor: GeometryEditor) {
        (id, key, template, base) = (kept.id, kept.key, kept.template, kept.base)
        (snaps, snapped) = (kept.snaps, kept.snapped)
        self.editor = editor
    }

    var vertices: SketchVertices { SketchVertices(editor) }
    var undoName: String? { editor.undoActionName }
    var redoName: String? { editor.redoActionName }
    var isChanged: Bool { editor.canUndo }

    // MARK: Steps

    /// Does a step that can be taken back by its name. What changes nothing is none.
    /// - Returns: whether it is one.
    @discardableResult
    mutating func apply(_ name: String, _ change: (GeometryEditor) -> Void) -> Bool {
        let before = editor.parts
        change(editor)
        let isStep = editor.parts != before
        // Without a step the name would go to the one before.
        if isStep { editor.setActionName(name) }
        snapped = nil
        return isStep
    }

    mutating func choose(_ spot: SketchSpot?) {
        editor.choose(spot)
        snapped = nil
    }

    mutating func undo() {
        editor.undo()
        snapped = nil
    }

    mutating func redo() {
        editor.redo()
        snapped = nil
    }

    /// Goes on with the last part, whichever vertex is chosen.
    mutating func append(_ point: Point) {
        let vertices = vertices
        apply("add vertex \(vertices.count + 1)") { editor in
            editor.choose(vertices.last)
            editor.insertVertex(point)
        }
    }
}

extension GeometryEditor {
    /// An editor of an empty line or area.
    convenience init(_ kind: GeometryKind) {
        self.init()
        start(withType: kind == .line ? Polyline.self : Polygon.self)
    }

    /// Selects a vertex; nothing where there is no such one.
    func choose(_ spot: SketchSpot?) {
        clearSelection()
        if let spot { selectVertexAt(partIndex: spot.part, vertexIndex: spot.index) }
    }
}
