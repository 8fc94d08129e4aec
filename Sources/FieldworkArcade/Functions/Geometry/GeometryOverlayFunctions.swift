import FieldworkGeometry

/// Functions that make geometries of two.
enum GeometryOverlayFunctions {
    static let all: [Builtin] = [
        overlay("Intersection", { _, _ in nil }, GeometryEngine.intersection),
        overlay("Difference", { one, _ in one }, GeometryEngine.difference),
        overlay("SymmetricDifference", { $0 ?? $1 }, GeometryEngine.symmetricDifference),
        .many("Union", 1...Builtin.any, .geometry) { machine, arguments in
            var values = arguments
            if case .array(let array) = arguments[0] { values = array.elements }
            if case .featureSet(let features) = arguments[0] {
                values = []
                try features.forEach(machine) { feature in
                    values.append(feature.geometry.map(Value.geometry) ?? .null)
                    return true
                }
            }
            let geometries = try values.compactMap { try GeometryArguments.optional($0, machine) }
            if geometries.count > 1, let points = geometries as? [Point] {
                return try GeometryArguments.made(
                    points.dropFirst().reduce(points[0] as Geometry) {
                        GeometryEngine.union($0, $1) ?? $0
                    }, machine)
            }
            return try GeometryArguments.made(GeometryEngine.union(of: geometries), machine)
        },
        .two("Clip", .geometry) { machine, value, extent in
            guard let geometry = try GeometryArguments.optional(value, machine),
                let extent = try GeometryArguments.optional(extent, machine)
            else { return .null }
            return try GeometryArguments.made(GeometryEngine.clip(geometry, to: extent.extent), machine)
        },
        .two("Cut", .geometry) { machine, value, cutter in
            guard let geometry = try GeometryArguments.optional(value, machine) else { return try machine.array([]) }
            guard let cutter = try GeometryArguments.optional(cutter, machine) as? Polyline else {
                throw ArcadeError.runtime("Cut needs a Polyline to cut with.")
            }
            let pieces = GeometryEngine.cut(geometry, usingCutter: cutter)
            return try machine.array(try pieces.map { try GeometryArguments.made($0, machine) })
        },
        nearest("NearestCoordinate") { GeometryEngine.nearestCoordinate(in: $0, to: $1) },
        nearest("NearestVertex") { GeometryEngine.nearestVertex(in: $0, to: $1) },
    ]

    /// `alone` gives the result when one of the two is missing.
    private static func overlay(
        _ name: String, _ alone: @escaping @Sendable (Geometry?, Geometry?) -> Geometry?,
        _ body: @escaping @Sendable (Geometry, Geometry) -> Geometry?
    ) -> Builtin {
        .two(name, .geometry) { machine, one, other in
            let left = try GeometryArguments.optional(one, machine)
            let right = try GeometryArguments.optional(other, machine)
            guard let left, let right else { return try GeometryArguments.made(alone(left, right), machine) }
            return try GeometryArguments.made(body(left, right), machine)
        }
    }

    private static func nearest(
        _ name: String, _ body: @escaping @Sendable (Geometry, Point) -> ProximityResult?
    ) -> Builtin {
        .two(name, .geometry) { machine, value, point in
            guard let geometry = try GeometryArguments.optional(value, machine), !point.isNull else { return .null }
            let point = try GeometryArguments.point(point, machine)
            guard let found = body(geometry, point) else { return .null }
            let part: Int? = found.partIndex
            let vertex: Int? = found.pointIndex
            return try machine.dictionary([
                ("coordinate", .geometry(found.coordinate)), ("distance", .number(found.distance)),
                ("partIndex", part.map { .number(Double($0)) } ?? .null),
                ("coordinateIndex", vertex.map { .number(Double($0)) } ?? .null),
                ("isRightSide", .boolean(false)),
            ])
        }
    }
}
