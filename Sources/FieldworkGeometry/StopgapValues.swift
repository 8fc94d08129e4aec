// Stands in until the geometry module lands: delete this file then.
/// A shape on the ground: an immutable value in a class, so that it is shared freely between tasks.
public class Geometry: @unchecked Sendable, Equatable {
    /// The reference of the coordinates; nil when it is not known.
    public let spatialReference: SpatialReference?
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

    /// The smallest envelope around it, in its own reference.
    public var extent: Envelope { vertices.envelope(spatialReference: spatialReference) }

    /// Whether both have the same kind, reference and coordinates.
    public static func == (one: Geometry, other: Geometry) -> Bool {
        type(of: one) == type(of: other) && one.spatialReference == other.spatialReference && one.vertices == other.vertices
    }
}

extension Geometry: Hashable {
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type(of: self)))
        hasher.combine(vertices)
    }
}

/// The vertices of a geometry in one array: x, y, then z and m where there are any; parts by the index of their first vertex.
package struct Vertices: Sendable, Hashable {
    package var coordinates: [Double]
    package var hasZ: Bool
    package var hasM: Bool
    package var partStarts: [Int]

    package init(coordinates: [Double] = [], hasZ: Bool = false, hasM: Bool = false, partStarts: [Int] = [0]) {
        self.coordinates = coordinates
        self.hasZ = hasZ
        self.hasM = hasM
        self.partStarts = partStarts
    }

    package var stride: Int { 2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0) }
    package var count: Int { coordinates.count / stride }

    func envelope(spatialReference: SpatialReference?) -> Envelope {
        var (xMin, yMin, xMax, yMax) = (Double.infinity, Double.infinity, -Double.infinity, -Double.infinity)
        for index in Swift.stride(from: 0, to: coordinates.count, by: stride) {
            xMin = min(xMin, coordinates[index])
            xMax = max(xMax, coordinates[index])
            yMin = min(yMin, coordinates[index + 1])
            yMax = max(yMax, coordinates[index + 1])
        }
        guard count > 0 else { return Envelope(xMin: .nan, yMin: .nan, xMax: .nan, yMax: .nan, spatialReference: spatialReference) }
        return Envelope(xMin: xMin, yMin: yMin, xMax: xMax, yMax: yMax, spatialReference: spatialReference)
    }
}
/// A position.
public final class Point: Geometry, @unchecked Sendable {
    /// A point of two coordinates in units of its reference.
    public init(x: Double, y: Double, spatialReference: SpatialReference? = nil) {
        super.init(vertices: Vertices(coordinates: [x, y]), spatialReference: spatialReference)
    }

    /// A point with a height, a measure, or both.
    public init(x: Double, y: Double, z: Double?, m: Double? = nil, spatialReference: SpatialReference? = nil) {
        super.init(
            vertices: Vertices(coordinates: [x, y] + [z, m].compactMap { $0 }, hasZ: z != nil, hasM: m != nil),
            spatialReference: spatialReference)
    }

    /// A point by WGS 84 degrees.
    public convenience init(latitude: Double, longitude: Double) {
        self.init(x: longitude, y: latitude, spatialReference: .wgs84)
    }

    /// The first coordinate: east, or longitude.
    public var x: Double { vertices.coordinates[0] }
    /// The second coordinate: north, or latitude.
    public var y: Double { vertices.coordinates[1] }
    /// The height.
    public var z: Double? { hasZ ? vertices.coordinates[2] : nil }
    /// The measure.
    public var m: Double? { hasM ? vertices.coordinates[hasZ ? 3 : 2] : nil }
}

/// Several positions.
public final class Multipoint: Geometry, @unchecked Sendable {
    /// Points in order.
    public init<S: Sequence>(points: S, spatialReference: SpatialReference? = nil) where S.Element == Point {
        super.init(vertices: Vertices(points: Array(points)), spatialReference: spatialReference)
    }
}

/// A geometry of parts.
public class Multipart: Geometry, @unchecked Sendable {}

/// One or more paths.
public final class Polyline: Multipart, @unchecked Sendable {
    /// One path.
    public init<S: Sequence>(points: S, spatialReference: SpatialReference? = nil) where S.Element == Point {
        super.init(vertices: Vertices(points: Array(points)), spatialReference: spatialReference)
    }
}

/// One or more rings.
public final class Polygon: Multipart, @unchecked Sendable {
    /// One ring.
    public init<S: Sequence>(points: S, spatialReference: SpatialReference? = nil) where S.Element == Point {
        super.init(vertices: Vertices(points: Array(points)), spatialReference: spatialReference)
    }
}

/// A rectangle along the axes of its reference.
public final class Envelope: Geometry, @unchecked Sendable {
    /// By its sides.
    public init(xMin: Double, yMin: Double, xMax: Double, yMax: Double, spatialReference: SpatialReference? = nil) {
        super.init(vertices: Vertices(coordinates: [xMin, yMin, xMax, yMax]), spatialReference: spatialReference)
    }

    public override var isEmpty: Bool { xMin.isNaN }
    public override var extent: Envelope { self }
    /// The west side.
    public var xMin: Double { vertices.coordinates[0] }
    /// The south side.
    public var yMin: Double { vertices.coordinates[1] }
    /// The east side.
    public var xMax: Double { vertices.coordinates[2] }
    /// The north side.
    public var yMax: Double { vertices.coordinates[3] }
}

extension Vertices {
    init(points: [Point]) {
        self.init(
            coordinates: points.flatMap { [$0.x, $0.y] }, hasZ: false, hasM: false)
    }
}
/// The number of a spatial reference in the EPSG register or the vendor's own.
public struct WKID: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int

    /// A positive number.
    public init?(rawValue: Int) {
        guard rawValue > 0 else { return nil }
        self.rawValue = rawValue
    }

    /// A positive number.
    public init?(_ rawValue: Int) { self.init(rawValue: rawValue) }
}

/// What coordinates mean.
public final class SpatialReference: Sendable, Hashable {
    /// Its number, when it has one.
    public let wkid: WKID?
    /// Its description.
    public let wkText: String

    /// By number.
    public init?(wkid: WKID, verticalWKID: WKID? = nil) {
        self.wkid = wkid
        wkText = ""
    }

    private init(number: Int) {
        wkid = WKID(number)
        wkText = ""
    }

    /// Degrees on the WGS 84 ellipsoid.
    public static let wgs84 = SpatialReference(number: 4_326)
    /// Metres of the web's Mercator projection.
    public static let webMercator = SpatialReference(number: 3_857)

    public static func == (one: SpatialReference, other: SpatialReference) -> Bool { one.wkid == other.wkid }
    public func hash(into hasher: inout Hasher) { hasher.combine(wkid) }
}
