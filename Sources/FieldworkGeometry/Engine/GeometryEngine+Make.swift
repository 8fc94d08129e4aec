import Foundation

extension GeometryEngine {
    /// The geometry with one height for all of its vertices; without heights when it is nil.
    public static func makeGeometry(from geometry: Geometry, z: Double?) -> Geometry {
        remade(geometry, hasZ: z != nil, hasM: geometry.hasM) { index, vertices in (z, vertices.m(index)) }
    }

    /// The geometry with one measure for all of its vertices; without measures when it is nil.
    public static func makeGeometry(from geometry: Geometry, m: Double?) -> Geometry {
        remade(geometry, hasZ: geometry.hasZ, hasM: m != nil) { index, vertices in (vertices.z(index), m) }
    }

    /// The geometry with one height and one measure for all of its vertices; without them where they are nil.
    public static func makeGeometry(from geometry: Geometry, z: Double?, m: Double?) -> Geometry {
        remade(geometry, hasZ: z != nil, hasM: m != nil) { _, _ in (z, m) }
    }

    private static func remade(
        _ geometry: Geometry, hasZ: Bool, hasM: Bool, _ values: (Int, Vertices) -> (z: Double?, m: Double?)
    ) -> Geometry {
        let old = geometry.vertices
        if let envelope = geometry as? Envelope {
            let (z, m) = envelope.isEmpty ? (nil, nil) : values(0, old)
            return Envelope(
                xMin: envelope.xMin, yMin: envelope.yMin, xMax: envelope.xMax, yMax: envelope.yMax,
                zRange: z.map { $0...$0 }, mRange: m.map { $0...$0 }, spatialReference: envelope.spatialReference)
        }
        var vertices = Vertices(hasZ: hasZ, hasM: hasM, partStarts: old.partStarts)
        for index in 0..<old.count {
            let (z, m) = values(index, old)
            vertices.append(x: old.x(index), y: old.y(index), z: z, m: m)
        }
        return geometry.rebuilt(vertices: vertices, spatialReference: geometry.spatialReference)
    }

    /// The geometry moved, in units of its spatial reference. Curves are densified.
    public static func move(_ geometry: Geometry, deltaX: Double, deltaY: Double) -> Geometry {
        mapped(geometry) { ($0 + deltaX, $1 + deltaY) }
    }

    /// The geometry turned about a point, or about the middle of its extent: by degrees, counter-clockwise. An envelope
    /// becomes a polygon; curves are densified.
    public static func rotate(_ geometry: Geometry, angle: Double, origin: Point? = nil) -> Geometry {
        let geometry = (geometry as? Envelope)?.toPolygon() ?? geometry
        let origin = origin ?? geometry.extent.center
        let (sine, cosine) = (sin(angle * .pi / 180), cos(angle * .pi / 180))
        return mapped(geometry) { x, y in
            let (dx, dy) = (x - origin.x, y - origin.y)
            return (origin.x + dx * cosine - dy * sine, origin.y + dx * sine + dy * cosine)
        }
    }

    /// The geometry made larger about a point, or about the middle of its extent. Curves are densified.
    public static func scale(_ geometry: Geometry, scaleX: Double, scaleY: Double, origin: Point? = nil) -> Geometry {
        let origin = origin ?? geometry.extent.center
        return mapped(geometry) { (origin.x + ($0 - origin.x) * scaleX, origin.y + ($1 - origin.y) * scaleY) }
    }

    private static func mapped(_ geometry: Geometry, _ change: (Double, Double) -> (x: Double, y: Double)) -> Geometry {
        guard !geometry.isEmpty else { return geometry }
        let places = (0..<geometry.vertices.count).map { change(geometry.vertices.x($0), geometry.vertices.y($0)) }
        let vertices = geometry.vertices.replacingPositions(xs: places.map(\.x), ys: places.map(\.y))
        return geometry.rebuilt(vertices: vertices, spatialReference: geometry.spatialReference)
    }
}
