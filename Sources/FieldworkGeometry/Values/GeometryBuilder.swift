internal import Synchronization

/// Makes a geometry vertex by vertex. A builder may be shared between tasks: its state is behind a lock.
public class GeometryBuilder: @unchecked Sendable {
    // Unchecked because the class has subclasses; its stored properties are a lock and a constant.

    /// The reference of the coordinates.
    public let spatialReference: SpatialReference?
    let partPoints: Mutex<[[Point]]>

    init(spatialReference: SpatialReference?, parts: [[Point]]) {
        self.spatialReference = spatialReference
        partPoints = Mutex(parts)
    }

    /// A builder that starts from a geometry, of its kind.
    public static func makeBuilder(geometry: Geometry) -> GeometryBuilder {
        switch geometry {
        case let point as Point: PointBuilder(point: point)
        case let multipoint as Multipoint: MultipointBuilder(multipoint: multipoint)
        case let polyline as Polyline: PolylineBuilder(polyline: polyline)
        case let polygon as Polygon: PolygonBuilder(polygon: polygon)
        default: EnvelopeBuilder(envelope: geometry.extent)
        }
    }

    /// The geometry as it stands.
    public func toGeometry() -> Geometry { Multipoint(points: vertices, spatialReference: spatialReference) }

    /// The extent as it stands; nil while there is no vertex.
    public var extent: Envelope? { isEmpty ? nil : toGeometry().extent }
    /// Whether there is no vertex yet.
    public var isEmpty: Bool { vertices.isEmpty }
    /// Whether some vertex has a height.
    public var hasZ: Bool { vertices.contains(where: \.hasZ) }
    /// Whether some vertex has a measure.
    public var hasM: Bool { vertices.contains(where: \.hasM) }
    /// Whether some segment is a curve.
    public var hasCurves: Bool { false }
    /// Whether there are enough vertices for the kind.
    public var sketchIsValid: Bool { toGeometry().sketchIsValid }

    var vertices: [Point] { partPoints.withLock { Array($0.joined()) } }

    func append(_ point: Point) {
        partPoints.withLock { parts in
            if parts.isEmpty { parts.append([]) }
            parts[parts.count - 1].append(point)
        }
    }
}

/// Makes a point.
public final class PointBuilder: GeometryBuilder, @unchecked Sendable {
    /// From a point, or empty.
    public init(point: Point?) {
        super.init(spatialReference: point?.spatialReference, parts: point.map { [[$0]] } ?? [])
    }

    /// Empty.
    public init(spatialReference: SpatialReference?) {
        super.init(spatialReference: spatialReference, parts: [])
    }

    /// East, in units of the spatial reference; NaN while empty.
    public var x: Double {
        get { vertices.first?.x ?? .nan }
        set {
            replace { Point(x: newValue, y: $0?.y ?? 0, z: $0?.z, m: $0?.m, spatialReference: self.spatialReference) }
        }
    }

    /// North, in units of the spatial reference; NaN while empty.
    public var y: Double {
        get { vertices.first?.y ?? .nan }
        set {
            replace { Point(x: $0?.x ?? 0, y: newValue, z: $0?.z, m: $0?.m, spatialReference: self.spatialReference) }
        }
    }

    /// The height.
    public var z: Double? {
        get { vertices.first?.z }
        set {
            replace {
                Point(x: $0?.x ?? 0, y: $0?.y ?? 0, z: newValue, m: $0?.m, spatialReference: self.spatialReference)
            }
        }
    }

    /// The measure.
    public var m: Double? {
        get { vertices.first?.m }
        set {
            replace {
                Point(x: $0?.x ?? 0, y: $0?.y ?? 0, z: $0?.z, m: newValue, spatialReference: self.spatialReference)
            }
        }
    }

    private func replace(_ change: (Point?) -> Point) {
        partPoints.withLock { $0 = [[change($0.first?.first)]] }
    }

    public override func toGeometry() -> Point {
        vertices.first ?? Point(x: .nan, y: .nan, spatialReference: spatialReference)
    }
}

/// Makes a multipoint.
public final class MultipointBuilder: GeometryBuilder, @unchecked Sendable {
    /// Empty.
    public init(spatialReference: SpatialReference? = nil) {
        super.init(spatialReference: spatialReference, parts: [])
    }

    /// From a multipoint.
    public init(multipoint: Multipoint) {
        super.init(spatialReference: multipoint.spatialReference, parts: [Array(multipoint.points)])
    }

    /// Adds a point at the end.
    public func add(_ point: Point) { append(point) }

    /// The points.
    public var points: MutablePointCollection { MutablePointCollection(self) }

    public override func toGeometry() -> Multipoint {
        Multipoint(points: vertices, spatialReference: spatialReference)
    }
}

/// Makes a polyline.
public final class PolylineBuilder: GeometryBuilder, @unchecked Sendable {
    /// Empty.
    public init(spatialReference: SpatialReference? = nil) {
        super.init(spatialReference: spatialReference, parts: [])
    }

    /// From a polyline.
    public init(polyline: Polyline) {
        super.init(spatialReference: polyline.spatialReference, parts: polyline.parts.map { Array($0.points) })
    }

    /// Adds a vertex at the end of the last path.
    public func add(_ point: Point) { append(point) }
    /// Adds a vertex at the end of the last path, in units of the spatial reference.
    public func addPoint(x: Double, y: Double) { append(Point(x: x, y: y, spatialReference: spatialReference)) }
    /// The paths.
    public var parts: MutablePartCollection { MutablePartCollection(self) }

    public override func toGeometry() -> Polyline { Polyline(parts: Array(parts), spatialReference: spatialReference) }
}

/// Makes a polygon.
public final class PolygonBuilder: GeometryBuilder, @unchecked Sendable {
    /// Empty.
    public init(spatialReference: SpatialReference? = nil) {
        super.init(spatialReference: spatialReference, parts: [])
    }

    /// From a polygon.
    public init(polygon: Polygon) {
        super.init(spatialReference: polygon.spatialReference, parts: polygon.parts.map { Array($0.points) })
    }

    /// Adds a vertex at the end of the last ring.
    public func add(_ point: Point) { append(point) }
    /// Adds a vertex at the end of the last ring, in units of the spatial reference.
    public func addPoint(x: Double, y: Double) { append(Point(x: x, y: y, spatialReference: spatialReference)) }
    /// The rings.
    public var parts: MutablePartCollection { MutablePartCollection(self) }

    public override func toGeometry() -> Polygon {
        Polygon(vertices: Multipart.vertices(of: partPoints.withLock { $0 }), spatialReference: spatialReference)
    }
}

/// Makes an envelope.
public final class EnvelopeBuilder: GeometryBuilder, @unchecked Sendable {
    /// From an envelope, or empty.
    public init(envelope: Envelope?) {
        super.init(
            spatialReference: envelope?.spatialReference, parts: envelope.map { [Self.corners(of: $0)] } ?? [])
    }

    /// Empty.
    public init(spatialReference: SpatialReference?) {
        super.init(spatialReference: spatialReference, parts: [])
    }

    private static func corners(of envelope: Envelope) -> [Point] {
        envelope.isEmpty
            ? []
            : [
                Point(x: envelope.xMin, y: envelope.yMin, spatialReference: envelope.spatialReference),
                Point(x: envelope.xMax, y: envelope.yMax, spatialReference: envelope.spatialReference),
            ]
    }

    private func change(_ body: (Envelope) -> Envelope) {
        let envelope = toGeometry()
        guard !envelope.isEmpty else { return }
        partPoints.withLock { $0 = [Self.corners(of: body(envelope))] }
    }

    /// Makes it larger about its centre; 2 doubles width and height.
    public func expand(by factor: Double) {
        change { Envelope(center: $0.center, width: $0.width * factor, height: $0.height * factor) }
    }

    /// Moves it, in units of the spatial reference.
    public func offset(x: Double, y: Double) {
        change {
            Envelope(
                xMin: $0.xMin + x, yMin: $0.yMin + y, xMax: $0.xMax + x, yMax: $0.yMax + y,
                spatialReference: $0.spatialReference)
        }
    }

    public override func toGeometry() -> Envelope {
        Envelope(around: Vertices(points: vertices), spatialReference: spatialReference)
    }
}
