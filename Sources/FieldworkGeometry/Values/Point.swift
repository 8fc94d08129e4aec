/// A position: x (east or longitude) and y (north or latitude) in units of its spatial reference, perhaps a height and a
/// measure.
public final class Point: Geometry, @unchecked Sendable {
    /// A point of two coordinates in units of its spatial reference.
    public init(x: Double, y: Double, spatialReference: SpatialReference? = nil) {
        super.init(vertices: Vertices(coordinates: [x, y]), spatialReference: spatialReference)
    }

    /// A point with a height, a measure, or both; nil for none.
    public init(x: Double, y: Double, z: Double?, m: Double? = nil, spatialReference: SpatialReference? = nil) {
        super.init(
            vertices: Vertices(coordinates: [x, y] + [z, m].compactMap { $0 }, hasZ: z != nil, hasM: m != nil),
            spatialReference: spatialReference)
    }

    /// A point by WGS 84 degrees.
    public convenience init(latitude: Double, longitude: Double) {
        self.init(x: longitude, y: latitude, spatialReference: .wgs84)
    }

    /// East, or longitude, in units of the spatial reference.
    public var x: Double { vertices.coordinates[0] }
    /// North, or latitude, in units of the spatial reference.
    public var y: Double { vertices.coordinates[1] }
    /// The height; nil when the point has none.
    public var z: Double? { vertices.z(0) }
    /// The measure; nil when the point has none.
    public var m: Double? { vertices.m(0) }

    public override var isEmpty: Bool { x.isNaN || y.isNaN }
}
