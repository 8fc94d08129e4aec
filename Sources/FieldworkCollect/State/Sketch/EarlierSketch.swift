import Fieldwork

/// What is edited, in the files of earlier versions, which had an editor of the app's own: the shape before or after
/// each step. The steps are done again in the editor, which takes them back by their names then.
struct EarlierSketch: Decodable {
    struct Vertex: Decodable, Hashable {
        var x: Double
        var y: Double
        var z: Double?
        var m: Double?
    }

    struct Shape: Decodable, Hashable {
        /// The last one may be empty.
        var parts: [[Vertex]]
        var chosen: SketchSpot?
    }

    struct Step: Decodable {
        var name: String
        /// How the shape was on the other side of the step.
        var sketch: Shape
    }

    let sketch: Shape
    /// The last one is taken back first.
    let past: [Step]
    /// The last one is done again first.
    let future: [Step]

    /// An editor with the shape and its steps. A step that changed nothing is none any more.
    func editor(_ kind: GeometryKind, _ reference: SpatialReference?) -> GeometryEditor {
        let editor = GeometryEditor(kind)
        let first = past.first?.sketch ?? sketch
        if first.parts.contains(where: { !$0.isEmpty }) {
            editor.start(withInitial: first.geometry(kind, reference))
        }
        editor.choose(first.chosen)
        var before = first
        for (step, after) in zip(past, past.dropFirst().map(\.sketch) + [sketch]) {
            _ = Self.replay(step.name, from: before, to: after, editor, kind, reference)
            before = after
        }
        var undone = 0
        for step in future.reversed() {
            undone += Self.replay(step.name, from: before, to: step.sketch, editor, kind, reference) ? 1 : 0
            before = step.sketch
        }
        for _ in 0..<undone { editor.undo() }
        editor.choose(sketch.chosen)
        return editor
    }

    /// - Returns: whether the editor made a step of it.
    private static func replay(
        _ name: String, from before: Shape, to after: Shape, _ editor: GeometryEditor, _ kind: GeometryKind,
        _ reference: SpatialReference?
    ) -> Bool {
        let parts = editor.parts
        if after.parts == before.parts + [[]] {
            editor.addPart()
        } else {
            editor.replaceGeometry(with: after.geometry(kind, reference))
        }
        guard editor.parts != parts else { return false }
        editor.setActionName(name)
        editor.choose(after.chosen)
        return true
    }
}

extension EarlierSketch.Shape {
    fileprivate func geometry(_ kind: GeometryKind, _ reference: SpatialReference?) -> Geometry {
        let made = parts.filter { !$0.isEmpty }.map { part in
            MutablePart(
                points: part.map { Point(x: $0.x, y: $0.y, z: $0.z, m: $0.m, spatialReference: reference) },
                spatialReference: reference)
        }
        return kind == .line ? Polyline(parts: made, spatialReference: reference) : Polygon(parts: made)
    }
}
