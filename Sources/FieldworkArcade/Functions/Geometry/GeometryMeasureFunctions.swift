import FieldworkGeometry
import Foundation

/// Functions that measure.
enum GeometryMeasureFunctions {
    static let all: [Builtin] = [
        measure("Area") { geometry, unit, machine in
            guard geometry.dimension == .area else { return 0 }
            let wanted = try GeometryArguments.squareMetres(unit, machine)
            if GeometryArguments.isInDegrees(geometry), let wanted { return geodeticArea(geometry) / wanted }
            let perUnit = GeometryArguments.metresPerUnit(of: geometry)
            return abs(GeometryEngine.area(of: geometry)) * (wanted.map { perUnit * perUnit / $0 } ?? 1)
        },
        measure("AreaGeodetic") { geometry, unit, machine in
            guard geometry.dimension == .area else { return 0 }
            return geodeticArea(geometry) / (try GeometryArguments.squareMetres(unit, machine) ?? 1)
        },
        measure("Length") { geometry, unit, machine in
            guard geometry.dimension != .point else { return 0 }
            let wanted = try GeometryArguments.metres(unit, machine)
            if GeometryArguments.isInDegrees(geometry), let wanted { return geodeticLength(geometry) / wanted }
            return GeometryEngine.length(of: geometry)
                * (wanted.map { GeometryArguments.metresPerUnit(of: geometry) / $0 } ?? 1)
        },
        measure("LengthGeodetic") { geometry, unit, machine in
            geodeticLength(geometry) / (try GeometryArguments.metres(unit, machine) ?? 1)
        },
        measure("Length3D") { geometry, unit, machine in
            let wanted = try GeometryArguments.metres(unit, machine)
            return length3D(geometry) * (wanted.map { GeometryArguments.metresPerUnit(of: geometry) / $0 } ?? 1)
        },
        .many("Distance", 2...3, .geometry) { machine, arguments in
            guard let one = try GeometryArguments.optional(arguments[0], machine),
                let other = try GeometryArguments.optional(arguments[1], machine)
            else { return .null }
            let wanted = try GeometryArguments.metres(arguments.value(2), machine)
            if GeometryArguments.isInDegrees(one), let wanted {
                return try geodeticDistance(one, other, machine).map { .number($0 / wanted) } ?? .null
            }
            guard let distance = GeometryEngine.distance(from: one, to: other) else { return .null }
            return .number(distance * (wanted.map { GeometryArguments.metresPerUnit(of: one) / $0 } ?? 1))
        },
        .many("DistanceGeodetic", 2...3, .geometry) { machine, arguments in
            guard let one = try GeometryArguments.optional(arguments[0], machine),
                let other = try GeometryArguments.optional(arguments[1], machine)
            else { return .null }
            let wanted = try GeometryArguments.metres(arguments.value(2), machine) ?? 1
            return try geodeticDistance(one, other, machine).map { .number($0 / wanted) } ?? .null
        },
        angle("Angle") { x, y in atan2(y, x) * 180 / .pi },
        angle("Bearing") { x, y in 90 - atan2(y, x) * 180 / .pi },
    ]

    private static func measure(
        _ name: String, _ body: @escaping @Sendable (Geometry, Value, Machine) throws -> Double
    ) -> Builtin {
        .two(name, .geometry, optional: true) { machine, value, unit in
            guard case .featureSet(let features) = value else {
                guard let geometry = try GeometryArguments.optional(value, machine) else { return .number(0) }
                return .number(try body(geometry, unit, machine))
            }
            var sum = 0.0
            try features.forEach(machine) { feature in
                if let geometry = feature.geometry {
                    try machine.chargeVertices(geometry.vertices.count)
                    sum += try body(geometry, unit, machine)
                }
                return true
            }
            return .number(sum)
        }
    }

    private static func geodeticArea(_ geometry: Geometry) -> Double {
        abs(GeometryEngine.geodeticArea(of: geometry, unit: .squareMeters))
    }

    private static func geodeticLength(_ geometry: Geometry) -> Double {
        GeometryEngine.geodeticLength(of: geometry, lengthUnit: .meters)
    }

    private static func length3D(_ geometry: Geometry) -> Double {
        guard geometry.hasZ, geometry.dimension != .point else { return GeometryEngine.length(of: geometry) }
        let vertices = geometry.vertices
        var sum = 0.0
        for part in vertices.parts where part.count > 1 {
            let places = Array(part) + (geometry is Polygon ? [part.lowerBound] : [])
            for (one, other) in zip(places, places.dropFirst()) {
                let (x, y) = (vertices.x(other) - vertices.x(one), vertices.y(other) - vertices.y(one))
                let z = (vertices.z(other) ?? 0) - (vertices.z(one) ?? 0)
                sum += (x * x + y * y + z * z).squareRoot()
            }
        }
        return sum
    }

    /// Metres on the ellipsoid between the nearest places of two geometries.
    private static func geodeticDistance(_ one: Geometry, _ other: Geometry, _ machine: Machine) throws -> Double? {
        if GeometryEngine.isGeometry(one, intersecting: other) { return 0 }
        guard let (start, end) = try nearest(one, other, machine) else { return nil }
        return geodeticLength(Polyline(points: [start, end], spatialReference: start.spatialReference))
    }

    /// The nearest places of two geometries that don't touch: one of them is a vertex.
    private static func nearest(_ one: Geometry, _ other: Geometry, _ machine: Machine) throws -> (Point, Point)? {
        var best: (distance: Double, Point, Point)?
        func look(_ points: Geometry, _ shape: Geometry) throws {
            try machine.chargeVertices(points.vertices.count)
            try machine.charge(points.vertices.count * (8 + shape.vertices.count))
            for point in Multipoint(vertices: points.vertices, spatialReference: points.spatialReference).points {
                guard let near = GeometryEngine.nearestCoordinate(in: shape, to: point) else { continue }
                if best.map({ near.distance < $0.distance }) ?? true { best = (near.distance, point, near.coordinate) }
            }
        }
        if !(one is Point), other is Point {
            try look(other, one)
        } else {
            try look((one as? Envelope)?.toPolygon() ?? one, other)
            if !(one is Point) { try look((other as? Envelope)?.toPolygon() ?? other, one) }
        }
        return best.map { ($0.1, $0.2) }
    }

    /// The direction from a point to another, or the turn between two directions.
    private static func angle(_ name: String, _ direction: @escaping @Sendable (Double, Double) -> Double) -> Builtin {
        .many(name, 2...3, .geometry) { machine, arguments in
            if arguments.contains(where: \.isNull) { return .null }
            let points = try arguments.map { try GeometryArguments.point($0, machine) }
            func turn(_ one: Point, _ other: Point) -> Double {
                let (x, y) = (other.x - one.x, other.y - one.y)
                return x == 0 && y == 0 ? 0 : direction(x, y)
            }
            let degrees =
                points.count == 2
                ? turn(points[0], points[1]) : turn(points[1], points[2]) - turn(points[1], points[0])
            let positive = degrees.truncatingRemainder(dividingBy: 360)
            return .number(positive < 0 ? positive + 360 : positive)
        }
    }
}
