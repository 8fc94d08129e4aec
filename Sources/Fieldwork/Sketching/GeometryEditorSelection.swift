/// What is selected, as it is written.
struct GeometryEditorSelection: Codable {
    enum Kind: String, Codable {
        case vertex, side, part, geometry
    }

    let kind: Kind
    let part: Int?
    /// The number of a vertex or of a side.
    let index: Int?

    /// nil for an element that this version doesn't know.
    init?(_ element: GeometryEditorElement) {
        switch element {
        case let vertex as GeometryEditorVertex: (kind, part, index) = (.vertex, vertex.partIndex, vertex.vertexIndex)
        case let side as GeometryEditorMidVertex: (kind, part, index) = (.side, side.partIndex, side.segmentIndex)
        case let whole as GeometryEditorPart: (kind, part, index) = (.part, whole.partIndex, nil)
        case is GeometryEditorGeometry: (kind, part, index) = (.geometry, nil, nil)
        default: return nil
        }
    }

    /// The element; nil where the sketch has no such one.
    func element(in sketch: GeometrySketch) -> GeometryEditorElement? {
        let (part, index) = (part ?? -1, index ?? -1)
        return switch kind {
        case .vertex:
            sketch.hasVertex(part, index) ? GeometryEditorVertex(partIndex: part, vertexIndex: index) : nil
        case .side:
            sketch.hasSegment(part, index) ? GeometryEditorMidVertex(partIndex: part, segmentIndex: index) : nil
        case .part: sketch.hasPart(part) ? GeometryEditorPart(partIndex: part) : nil
        case .geometry: sketch.isEmpty ? nil : GeometryEditorGeometry()
        }
    }
}
