/// What of a geometry is selected in a `GeometryEditor`. It never changes; a class that others inherit from can't be checked.
public class GeometryEditorElement: @unchecked Sendable {
    init() {}
}

/// A vertex; of a point the point itself.
public final class GeometryEditorVertex: GeometryEditorElement, @unchecked Sendable {
    /// The number of its part.
    public let partIndex: Int
    /// Its number within the part.
    public let vertexIndex: Int

    init(partIndex: Int, vertexIndex: Int) {
        self.partIndex = partIndex
        self.vertexIndex = vertexIndex
    }
}

/// The middle of a side: moving it makes a vertex there.
public final class GeometryEditorMidVertex: GeometryEditorElement, @unchecked Sendable {
    /// The number of its part.
    public let partIndex: Int
    /// The number of the side, which is that of the vertex where it begins.
    public let segmentIndex: Int

    init(partIndex: Int, segmentIndex: Int) {
        self.partIndex = partIndex
        self.segmentIndex = segmentIndex
    }
}

/// A path or a ring.
public final class GeometryEditorPart: GeometryEditorElement, @unchecked Sendable {
    /// Its number.
    public let partIndex: Int

    init(partIndex: Int) { self.partIndex = partIndex }
}

/// The whole geometry.
public final class GeometryEditorGeometry: GeometryEditorElement, @unchecked Sendable {}

/// How a pointer edits. Nothing here has one: a tool says to whoever draws how people want to edit. It
/// never changes; a class that others inherit from can't be checked.
public class GeometryEditorTool: @unchecked Sendable {
    init() {}
}

/// Vertex by vertex.
public final class VertexTool: GeometryEditorTool, @unchecked Sendable {
    /// The usual tool.
    public override init() {}
}
