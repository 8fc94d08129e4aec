import FieldworkGeometry

/// Members of geometries.
enum GeometryMembers {
    static func names(of geometry: Geometry) -> [String] {
        let common = ["spatialReference", "hasZ", "hasM", "type"]
        switch geometry {
        case let point as Point:
            return ["x", "y"] + (point.hasZ ? ["z"] : []) + (point.hasM ? ["m"] : []) + common
        case is Multipoint: return ["points"] + common
        case is Polyline: return ["paths"] + common
        case is Polygon: return ["rings"] + common
        default: return ["xMin", "yMin", "xMax", "yMax"] + common
        }
    }

    static func reference(_ reference: SpatialReference, _ machine: Machine) throws -> Value {
        guard let wkid = reference.wkid?.rawValue else {
            return try machine.dictionary([("wkt", .text(reference.wkText))])
        }
        return try machine.dictionary([("wkid", .number(Double(wkid)))])
    }

    /// A member, found without regard to case; nil when there is none.
    static func value(_ geometry: Geometry, _ name: String, _ machine: Machine) throws -> Value? {
        let name = name.lowercased()
        switch name {
        case "spatialreference":
            return try geometry.spatialReference.map { try reference($0, machine) } ?? .null
        case "hasz": return .boolean(geometry.hasZ)
        case "hasm": return .boolean(geometry.hasM)
        case "type": return .text(Value.geometry(geometry).typeName.lowercased())
        default: break
        }
        switch geometry {
        case let point as Point: return member(of: point, name)
        case let multipoint as Multipoint:
            return name == "points" ? try array(Array(multipoint.points), machine) : nil
        case let polyline as Polyline: return name == "paths" ? try parts(polyline, closes: false, machine) : nil
        case let polygon as Polygon: return name == "rings" ? try parts(polygon, closes: true, machine) : nil
        case let envelope as Envelope: return member(of: envelope, name)
        default: return nil
        }
    }

    private static func member(of point: Point, _ name: String) -> Value? {
        switch name {
        case "x": .number(point.x)
        case "y": .number(point.y)
        case "z": point.z.map(Value.number) ?? .null
        case "m": point.m.map(Value.number) ?? .null
        default: nil
        }
    }

    private static func member(of envelope: Envelope, _ name: String) -> Value? {
        switch name {
        case "xmin": .number(envelope.xMin)
        case "ymin": .number(envelope.yMin)
        case "xmax": .number(envelope.xMax)
        case "ymax": .number(envelope.yMax)
        case "zmin": envelope.zMin.map(Value.number) ?? .null
        case "zmax": envelope.zMax.map(Value.number) ?? .null
        case "mmin": envelope.mMin.map(Value.number) ?? .null
        case "mmax": envelope.mMax.map(Value.number) ?? .null
        case "width": .number(envelope.width)
        case "height": .number(envelope.height)
        default: nil
        }
    }

    private static func array(_ points: [Point], _ machine: Machine) throws -> Value {
        try machine.checkCount(points.count)
        try machine.chargeMemory(64 + points.count * 160)
        return .array(ArrayObject(points.map(Value.geometry), isFixed: true))
    }

    /// Paths, or rings with their first point again at the end.
    private static func parts(_ geometry: Multipart, closes: Bool, _ machine: Machine) throws -> Value {
        let parts = try geometry.parts.map { part in
            var points = Array(part.points)
            if closes, let first = points.first { points.append(first) }
            return try array(points, machine)
        }
        try machine.chargeMemory(64 + parts.count * 24)
        return .array(ArrayObject(parts, isFixed: true))
    }
}
