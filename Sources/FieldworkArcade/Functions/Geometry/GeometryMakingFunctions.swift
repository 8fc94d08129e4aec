import FieldworkGeometry

/// Functions that make geometries of what is written down.
enum GeometryMakingFunctions {
    static let all: [Builtin] = [
        maker("Point") { $0 is Point }, maker("Multipoint") { $0 is Multipoint }, maker("Polyline") { $0 is Polyline },
        maker("Polygon") { $0 is Polygon },
        .one("Extent", .geometry) { machine, value in
            switch value {
            case .dictionary, .text:
                let read = try GeometryArguments.optional(value, machine)
                return try GeometryArguments.made(read?.extent, machine)
            default: return try GeometryArguments.made(try GeometryArguments.optional(value, machine)?.extent, machine)
            }
        },
        .one("Geometry", .geometry) { machine, value in
            switch value {
            case .null: return .null
            case .feature(let feature): return feature.geometry.map(Value.geometry) ?? .null
            case .geometry: return value
            default: return try GeometryArguments.made(try GeometryArguments.optional(value, machine), machine)
            }
        },
    ]

    private static func maker(_ name: String, _ isRight: @escaping @Sendable (Geometry) -> Bool) -> Builtin {
        .one(name, .geometry) { machine, value in
            guard let geometry = try GeometryArguments.optional(value, machine) else { return .null }
            guard isRight(geometry) else {
                throw ArcadeError.runtime("\(name) can't be made of \(Value.geometry(geometry).kindName).")
            }
            return .geometry(geometry)
        }
    }
}
