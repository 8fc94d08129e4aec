import FieldworkGeometry
import Foundation

/// Functions that make a geometry of another.
enum GeometryShapeFunctions {
    static let all: [Builtin] = [
        .many("Buffer", 2...3, .geometry) { machine, arguments in
            guard let geometry = try GeometryArguments.optional(arguments[0], machine) else { return .null }
            let distance = try Coercion.number(arguments[1])
            if GeometryArguments.isInDegrees(geometry),
                let metres = try GeometryArguments.metres(arguments.value(2), machine)
            {
                return try geodeticBuffer(geometry, distance * metres, machine)
            }
            let onPlane = try GeometryArguments.onPlane(distance, arguments.value(2), of: geometry, machine)
            return try GeometryArguments.made(GeometryEngine.buffer(around: geometry, distance: onPlane), machine)
        },
        .many("BufferGeodetic", 2...3, .geometry) { machine, arguments in
            guard let geometry = try GeometryArguments.optional(arguments[0], machine) else { return .null }
            let metres = try GeometryArguments.metres(arguments.value(2), machine) ?? 1
            return try geodeticBuffer(geometry, try Coercion.number(arguments[1]) * metres, machine)
        },
        one("Centroid") { GeometryEngine.centroid(of: $0) }, one("ConvexHull") { GeometryEngine.convexHull(for: $0) },
        one("Simplify") { GeometryEngine.simplify($0) },
        test("IsSimple") { GeometryEngine.isSimple($0) }, test("IsSelfIntersecting") { !GeometryEngine.isSimple($0) },
        .many("Densify", 2...3, .geometry) { machine, arguments in
            guard let geometry = try GeometryArguments.optional(arguments[0], machine) else { return .null }
            let length = try GeometryArguments.onPlane(
                try Coercion.number(arguments[1]), arguments.value(2), of: geometry, machine)
            try checkPieces(GeometryEngine.length(of: geometry), length, machine)
            return try GeometryArguments.made(GeometryEngine.densify(geometry, maxSegmentLength: length), machine)
        },
        .many("DensifyGeodetic", 2...3, .geometry) { machine, arguments in
            guard let geometry = try GeometryArguments.optional(arguments[0], machine) else { return .null }
            let metres = try GeometryArguments.metres(arguments.value(2), machine) ?? 1
            let length = try Coercion.number(arguments[1]) * metres
            try checkPieces(GeometryEngine.geodeticLength(of: geometry, lengthUnit: .meters), length, machine)
            return try GeometryArguments.made(
                GeometryEngine.geodeticDensify(geometry, maxSegmentLength: length, lengthUnit: .meters), machine)
        },
        .many("Generalize", 2...4, .geometry) { machine, arguments in
            guard let geometry = try GeometryArguments.optional(arguments[0], machine) else { return .null }
            let deviation = try GeometryArguments.onPlane(
                try Coercion.number(arguments[1]), arguments.value(3), of: geometry, machine)
            let removes = arguments.value(2).isNull ? true : try Arguments.truth(arguments[2], "The third value")
            return try GeometryArguments.made(
                GeometryEngine.generalize(geometry, maxDeviation: deviation, removeDegenerateParts: removes), machine)
        },
        .one("MultiPartToSinglePart", .geometry) { machine, value in
            guard let geometry = try GeometryArguments.optional(value, machine) else { return try machine.array([]) }
            return try machine.array(SingleParts.parts(of: geometry).map(Value.geometry))
        },
        .many("Rotate", 2...3, .geometry) { machine, arguments in
            guard let geometry = try GeometryArguments.optional(arguments[0], machine) else { return .null }
            let origin = arguments.value(2).isNull ? nil : try GeometryArguments.point(arguments[2], machine)
            let angle = try Coercion.number(arguments[1])
            guard angle.isFinite else { throw ArcadeError.runtime("The angle must be a number.") }
            return try GeometryArguments.made(GeometryEngine.rotate(geometry, angle: angle, origin: origin), machine)
        },
        .one("RingIsClockwise", .geometry) { machine, value in
            guard let points = try GeometryArguments.optional(value, machine) as? Multipoint else {
                throw ArcadeError.runtime("RingIsClockwise needs an array of points.")
            }
            let vertices = points.vertices
            return .boolean(vertices.count > 0 && RingWinding.signedArea(vertices, 0..<vertices.count) < 0)
        },
        .many("Offset", 2...6, .geometry) { machine, arguments in
            guard let geometry = try GeometryArguments.optional(arguments[0], machine) else { return .null }
            let distance = try GeometryArguments.onPlane(
                try Coercion.number(arguments[1]), arguments.value(2), of: geometry, machine)
            guard distance.isFinite else { throw ArcadeError.runtime("The distance must be a number.") }
            switch geometry {
            case let line as Polyline: return try GeometryArguments.made(ParallelLine.make(line, distance), machine)
            case is Polygon, is Envelope:
                // To the right of a shell that turns clockwise is its inside.
                return try GeometryArguments.made(GeometryEngine.buffer(around: geometry, distance: -distance), machine)
            default: throw ArcadeError.runtime("Offset needs a Polyline or a Polygon.")
            }
        },
    ]

    private static func one(_ name: String, _ body: @escaping @Sendable (Geometry) -> Geometry?) -> Builtin {
        .one(name, .geometry) { machine, value in
            guard let geometry = try GeometryArguments.optional(value, machine) else { return .null }
            return try GeometryArguments.made(body(geometry), machine)
        }
    }

    private static func test(_ name: String, _ body: @escaping @Sendable (Geometry) -> Bool) -> Builtin {
        .one(name, .geometry) { machine, value in
            guard let geometry = try GeometryArguments.optional(value, machine) else { return .boolean(false) }
            return .boolean(body(geometry))
        }
    }

    private static func geodeticBuffer(_ geometry: Geometry, _ metres: Double, _ machine: Machine) throws -> Value {
        guard metres.isFinite else { throw ArcadeError.runtime("The distance must be a number.") }
        return try GeometryArguments.made(
            GeometryEngine.geodeticBuffer(around: geometry, distance: metres, distanceUnit: .meters), machine)
    }

    /// Refuses a length so short that there would be more pieces than an evaluation may make.
    private static func checkPieces(_ total: Double, _ length: Double, _ machine: Machine) throws {
        guard length > 0, length.isFinite else { throw ArcadeError.runtime("The length of a segment must be above 0.") }
        guard total / length < Double(ArcadeLimits.verticesMax) else {
            throw ArcadeError(.limit, "A geometry may have \(ArcadeLimits.verticesMax) vertices.")
        }
    }
}

/// Takes geometries apart.
enum SingleParts {
    static func parts(of geometry: Geometry) -> [Geometry] {
        switch geometry {
        case let points as Multipoint: return Array(points.points)
        case let line as Polyline:
            return line.parts.map { Polyline(points: $0.points, spatialReference: line.spatialReference) }
        case let polygon as Polygon: return polygons(polygon)
        default: return [geometry]
        }
    }

    /// A polygon a shell, each with the holes that lie in it.
    private static func polygons(_ polygon: Polygon) -> [Geometry] {
        let vertices = polygon.vertices
        let rings = zip(polygon.parts, vertices.parts).map { part, range in
            (
                part: MutablePart(points: Array(part.points), spatialReference: polygon.spatialReference),
                isShell: RingWinding.signedArea(vertices, range) <= 0
            )
        }
        let shells = rings.filter(\.isShell)
        guard shells.count > 1 else { return [polygon] }
        var members = shells.map { [$0.part] }
        for hole in rings where !hole.isShell {
            guard let point = hole.part.startPoint else { continue }
            let place = shells.firstIndex { GeometryEngine.isGeometry(point, within: Polygon(parts: [$0.part])) }
            members[place ?? 0].append(hole.part)
        }
        return members.map { Polygon(parts: $0) }
    }
}

/// A line beside another, to the right of its direction for a positive distance.
enum ParallelLine {
    /// How far a corner may stick out, in distances.
    private static let mitreMax = 10.0

    static func make(_ line: Polyline, _ distance: Double) -> Polyline {
        let parts = line.parts.map { part -> MutablePart in
            let points = Array(part.points)
            return MutablePart(points: moved(points, distance), spatialReference: line.spatialReference)
        }
        return Polyline(parts: parts, spatialReference: line.spatialReference)
    }

    private static func moved(_ points: [Point], _ distance: Double) -> [Point] {
        // Directions of the segments; equal neighbours have none.
        var (kept, directions): ([Point], [(x: Double, y: Double)]) = ([], [])
        for point in points {
            guard let last = kept.last else {
                kept.append(point)
                continue
            }
            let (x, y) = (point.x - last.x, point.y - last.y)
            let length = (x * x + y * y).squareRoot()
            if length == 0 { continue }
            kept.append(point)
            directions.append((x / length, y / length))
        }
        guard let first = directions.first, let last = directions.last else { return points }
        return kept.enumerated().map { index, point in
            let before = index == 0 ? first : directions[index - 1]
            let after = index == kept.count - 1 ? last : directions[index]
            let (x, y) = (before.y + after.y, -(before.x + after.x))
            let size = x * x + y * y
            // Half the angle between the segments decides how far the corner moves.
            let factor = size == 0 ? 0 : min(2 * distance.magnitude / size, mitreMax * distance.magnitude)
            return Point(
                x: point.x + x * factor * (distance < 0 ? -1 : 1), y: point.y + y * factor * (distance < 0 ? -1 : 1),
                spatialReference: point.spatialReference)
        }
    }
}
