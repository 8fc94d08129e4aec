import Fieldwork

/// The vertices of a shape under edit, as pages count and list them.
struct SketchVertices: Sendable {
    /// The rings of an area, without their first vertex at the end; the parts of a line. In the coordinates of the
    /// layer.
    let parts: [[Point]]
    /// The chosen one.
    let chosen: SketchSpot?

    init(_ editor: GeometryEditor) {
        parts = editor.parts
        chosen = (editor.selectedElement as? GeometryEditorVertex).map {
            SketchSpot(part: $0.partIndex, index: $0.vertexIndex)
        }
    }

    var count: Int { parts.reduce(0) { $0 + $1.count } }

    var spots: [SketchSpot] {
        parts.indices.flatMap { part in parts[part].indices.map { SketchSpot(part: part, index: $0) } }
    }

    /// The last vertex of the last part; nil where that is empty.
    var last: SketchSpot? {
        guard let part = parts.indices.last, let index = parts[part].indices.last else { return nil }
        return SketchSpot(part: part, index: index)
    }

    subscript(spot: SketchSpot) -> Point? {
        guard parts.indices.contains(spot.part), parts[spot.part].indices.contains(spot.index) else { return nil }
        return parts[spot.part][spot.index]
    }

    /// Which of all it is, counted from 1; 0 where there is no such vertex.
    func number(of spot: SketchSpot) -> Int {
        guard self[spot] != nil else { return 0 }
        return parts.prefix(spot.part).reduce(0) { $0 + $1.count } + spot.index + 1
    }
}
