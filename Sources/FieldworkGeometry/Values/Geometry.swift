/// A shape on the ground. Immutable, so that it is shared freely between tasks; compared by kind, spatial reference and
/// coordinates.
///
/// The class and its subclasses are `@unchecked Sendable` because the language allows a checked conformance to final
/// classes only: every stored property is a `let` of a Sendable value type.
public class Geometry: @unchecked Sendable, Equatable, Hashable {
    /// The reference of the coordinates; nil when it is not known.
    public let spatialReference: SpatialReference?
    /// All vertices; curves are densified here.
    package let vertices: Vertices

    init(vertices: Vertices, spatialReference: SpatialReference?) {
        self.vertices = vertices
        self.spatialReference = spatialReference
    }

    /// Whether it has no vertex.
    public var isEmpty: Bool { vertices.count == 0 }
    /// Whether the vertices have a height.
    public var hasZ: Bool { vertices.hasZ }
    /// Whether the vertices have a measure.
    public var hasM: Bool { vertices.hasM }
    /// Whether some segment is a true curve.
    public var hasCurves: Bool { false }

    /// The smallest envelope around it, in its own spatial reference; empty for an empty geometry.
    public var extent: Envelope { Envelope(around: vertices, spatialReference: spatialReference) }

    /// Point, curve or area.
    public var dimension: Dimension { .point }

    /// Whether it has enough vertices for its kind.
    public var sketchIsValid: Bool { !isEmpty }

    /// How many directions a geometry extends in.
    public enum Dimension: Sendable {
        /// None, one or two directions.
        case point, curve, area
    }

    /// Whether both have the same kind, spatial reference and coordinates.
    public static func == (one: Geometry, other: Geometry) -> Bool {
        one === other || (type(of: one) == type(of: other) && one.hasSameContent(as: other))
    }

    func hasSameContent(as other: Geometry) -> Bool {
        spatialReference == other.spatialReference && vertices == other.vertices
    }

    /// Equal values give equal hashes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type(of: self)))
        hasher.combine(vertices)
    }

    /// Whether both have the same kind and structure, and no vertex differs by more than a tolerance in units of the
    /// spatial reference.
    public func isEqual(to other: Geometry, tolerance: Double) -> Bool {
        type(of: self) == type(of: other) && spatialReference == other.spatialReference
            && vertices.isEqual(to: other.vertices, tolerance: tolerance)
    }
}
