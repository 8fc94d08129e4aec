import Foundation

/// Geometries and spatial references in the protocol's JSON.
package enum GeoServicesJSON {
    /// What to do with a ring that does not end where it starts.
    package enum OpenRings: Sendable {
        case close, reject
    }

    /// Reads a geometry; nil for null and for the empty forms. The kind follows from the members.
    /// - Parameter defaultSpatialReference: the reference when the JSON names none.
    package static func geometry(
        from json: JSONValue, defaultSpatialReference: SpatialReference? = nil, openRings: OpenRings = .close
    ) throws(GeometryError) -> Geometry? {
        if json.isNull { return nil }
        guard let object = json.objectValue else { throw .corruptedGeometry(details: "A geometry is a JSON object.") }
        var reference = defaultSpatialReference
        if let given = object["spatialReference"], !given.isNull { reference = try spatialReference(from: given) }
        let reader = ShapeReader(object: object, reference: reference, openRings: openRings)
        if object["x"] != nil { return try reader.point() }
        if let points = object["points"] { return try reader.multipoint(points) }
        if let curves = object["curvePaths"] { return try reader.curves(curves, areRings: false) }
        if let curves = object["curveRings"] { return try reader.curves(curves, areRings: true) }
        if let paths = object["paths"] { return try reader.parts(paths, areRings: false) }
        if let rings = object["rings"] { return try reader.parts(rings, areRings: true) }
        if object["xmin"] != nil { return try reader.envelope() }
        if object.isEmpty { return nil }
        throw .corruptedGeometry(details: "The JSON object is not a geometry.")
    }

    /// Reads a spatial reference: a number, `{"wkid":…}`, `{"wkt":…}` or `EPSG:…`.
    package static func spatialReference(from json: JSONValue) throws(GeometryError) -> SpatialReference {
        switch json {
        case .integer, .number:
            guard let number = json.integerValue else { break }
            return try spatialReference(wkid: number)
        case .string(let text):
            let digits = text.uppercased().hasPrefix("EPSG:") ? String(text.dropFirst(5)) : text
            if let number = Int64(digits.trimmingCharacters(in: .whitespaces)) {
                return try spatialReference(wkid: number)
            }
            if let reference = SpatialReference(wkText: text) { return reference }
        case .object(let object):
            // The vendor's first number is what the client knows; the latest stands in when the first is unknown.
            let numbers = [object["wkid"], object["latestWkid"]].compactMap { $0?.integerValue }
            for number in numbers {
                if let reference = try? spatialReference(wkid: number) { return reference }
            }
            if let number = numbers.first { return try spatialReference(wkid: number) }
            for key in ["wkt2", "wkt"] {
                if let text = object[key]?.stringValue, let reference = SpatialReference(wkText: text) {
                    return reference
                }
            }
        default: break
        }
        throw .unknownSpatialReference(details: "The spatial reference \(json.text.prefix(100)) is unknown.")
    }

    private static func spatialReference(wkid: Int64) throws(GeometryError) -> SpatialReference {
        guard let number = Int(exactly: wkid).flatMap({ WKID($0) }), let reference = SpatialReference(wkid: number)
        else {
            throw .unknownSpatialReference(details: "The wkid \(wkid) is unknown.")
        }
        return reference
    }

    /// A spatial reference with both of its numbers.
    package static func json(for reference: SpatialReference) -> JSONValue {
        var object = JSONObject()
        if let wkid = reference.wkid?.rawValue {
            // Clients of the protocol know Web Mercator by the vendor's number.
            object["wkid"] = JSONValue(wkid == 3_857 ? 102_100 : wkid)
            object["latestWkid"] = JSONValue(reference.latestWKID ?? wkid)
            if let vertical = reference.verticalWKID { object["vcsWkid"] = JSONValue(vertical.rawValue) }
        } else {
            object["wkt"] = .string(reference.wkText)
        }
        return .object(object)
    }

    /// A geometry as a JSON value.
    package static func json(for geometry: Geometry, includingSpatialReference: Bool = true) -> JSONValue {
        var bytes: [UInt8] = []
        append(geometry, includingSpatialReference: includingSpatialReference, to: &bytes)
        // What the writer made is JSON; null would only stand for a defect in it.
        return (try? JSONParser.parse(bytes)) ?? .null
    }
}

/// Reads one geometry's members.
private struct ShapeReader {
    let object: JSONObject
    let reference: SpatialReference?
    let openRings: GeoServicesJSON.OpenRings

    private var hasZ: Bool { object["hasZ"]?.boolValue ?? false }
    private var hasM: Bool { object["hasM"]?.boolValue ?? false }

    /// A coordinate; NaN for null and for the text NaN, which old servers write for nothing.
    private func coordinate(_ json: JSONValue?) throws(GeometryError) -> Double {
        switch json {
        case nil, .null?: return .nan
        case .string(let text)? where text.lowercased() == "nan": return .nan
        case .integer?, .number?: return json?.doubleValue ?? .nan
        case .string(let text)?:
            if let value = Double(text), value.isFinite { return value }
            fallthrough
        default: throw .corruptedGeometry(details: "A coordinate is not a number.")
        }
    }

    func point() throws(GeometryError) -> Geometry? {
        let (x, y) = (try coordinate(object["x"]), try coordinate(object["y"]))
        if x.isNaN && y.isNaN { return nil }
        guard !x.isNaN, !y.isNaN else { throw .corruptedGeometry(details: "A point needs x and y.") }
        let (z, m) = (try coordinate(object["z"]), try coordinate(object["m"]))
        return Point(
            x: x, y: y, z: z.isNaN ? nil : z, m: m.isNaN && !hasM ? nil : m, spatialReference: reference)
    }

    func envelope() throws(GeometryError) -> Geometry? {
        let sides = [
            try coordinate(object["xmin"]), try coordinate(object["ymin"]), try coordinate(object["xmax"]),
            try coordinate(object["ymax"]),
        ]
        if sides.allSatisfy(\.isNaN) { return nil }
        guard !sides.contains(where: \.isNaN) else {
            throw .corruptedGeometry(details: "An envelope needs four sides.")
        }
        func range(_ low: Double, _ high: Double) -> ClosedRange<Double>? {
            low.isNaN || high.isNaN ? nil : min(low, high)...max(low, high)
        }
        return Envelope(
            xMin: min(sides[0], sides[2]), yMin: min(sides[1], sides[3]), xMax: max(sides[0], sides[2]),
            yMax: max(sides[1], sides[3]),
            zRange: range(try coordinate(object["zmin"]), try coordinate(object["zmax"])),
            mRange: range(try coordinate(object["mmin"]), try coordinate(object["mmax"])), spatialReference: reference)
    }

    func multipoint(_ json: JSONValue) throws(GeometryError) -> Geometry? {
        var vertices = Vertices(hasZ: hasZ, hasM: hasM)
        for point in try array(json) { try append(point, to: &vertices) }
        return vertices.count == 0 ? nil : Multipoint(vertices: vertices, spatialReference: reference)
    }

    func parts(_ json: JSONValue, areRings: Bool) throws(GeometryError) -> Geometry? {
        var vertices = Vertices(hasZ: hasZ, hasM: hasM, partStarts: [])
        for part in try array(json) {
            let start = vertices.count
            for point in try array(part) { try append(point, to: &vertices) }
            try finishPart(from: start, isRing: areRings, &vertices)
        }
        return shape(vertices, areRings: areRings, curves: nil)
    }

    private func shape(_ vertices: Vertices, areRings: Bool, curves: JSONValue?) -> Geometry? {
        guard vertices.count > 0 else { return nil }
        return areRings
            ? Polygon(vertices: vertices, spatialReference: reference, curves: curves)
            : Polyline(vertices: vertices, spatialReference: reference, curves: curves)
    }

    /// Drops a part with too few vertices, as the protocol says, and opens a closed ring.
    private func finishPart(from start: Int, isRing: Bool, _ vertices: inout Vertices) throws(GeometryError) {
        if isRing, vertices.count - start > 1 {
            let last = vertices.count - 1
            if vertices.x(start) == vertices.x(last), vertices.y(start) == vertices.y(last) {
                vertices.coordinates.removeLast(vertices.stride)
            } else if openRings == .reject {
                throw .corruptedGeometry(details: "A ring does not end where it starts.")
            }
        }
        if vertices.count - start < (isRing ? 3 : 2) {
            vertices.coordinates.removeLast((vertices.count - start) * vertices.stride)
        } else {
            vertices.partStarts.append(start)
            guard vertices.partStarts.count <= GeometryLimits.partsMax else {
                throw .corruptedGeometry(details: "The geometry has too many parts.")
            }
        }
    }

    private func array(_ json: JSONValue) throws(GeometryError) -> [JSONValue] {
        guard let values = json.arrayValue else { throw .corruptedGeometry(details: "Coordinates are not an array.") }
        return values
    }

    private func append(_ json: JSONValue, to vertices: inout Vertices) throws(GeometryError) {
        let values = try array(json)
        guard values.count >= 2 else { throw .corruptedGeometry(details: "A vertex needs x and y.") }
        let (x, y) = (try coordinate(values[0]), try coordinate(values[1]))
        guard !x.isNaN, !y.isNaN else { throw .corruptedGeometry(details: "A vertex needs x and y.") }
        guard vertices.count < GeometryLimits.verticesMax else {
            throw .corruptedGeometry(details: "The geometry has too many vertices.")
        }
        let z = hasZ && values.count > 2 ? try coordinate(values[2]) : .nan
        let m = hasM && values.count > (hasZ ? 3 : 2) ? try coordinate(values[hasZ ? 3 : 2]) : .nan
        vertices.append(x: x, y: y, z: z.isNaN ? 0 : z, m: m)
    }
}

// MARK: - Curves

extension ShapeReader {
    func curves(_ json: JSONValue, areRings: Bool) throws(GeometryError) -> Geometry? {
        var vertices = Vertices(hasZ: hasZ, hasM: hasM, partStarts: [])
        for part in try array(json) {
            let start = vertices.count
            for element in try array(part) {
                if element.arrayValue != nil {
                    try append(element, to: &vertices)
                } else {
                    guard vertices.count > start else {
                        throw .corruptedGeometry(details: "A curve needs a vertex to start from.")
                    }
                    try appendCurve(element, to: &vertices)
                }
            }
            try finishPart(from: start, isRing: areRings, &vertices)
        }
        return shape(vertices, areRings: areRings, curves: json)
    }

    private func appendCurve(_ json: JSONValue, to vertices: inout Vertices) throws(GeometryError) {
        let start = (x: vertices.x(vertices.count - 1), y: vertices.y(vertices.count - 1))
        let kind = ["c", "b", "a"].first { json[$0] != nil }
        guard let kind, let values = json[kind]?.arrayValue, values.count >= 2, let end = try? position(values[0])
        else {
            throw .corruptedGeometry(details: "A curve is malformed.")
        }
        var positions: [(x: Double, y: Double)] = []
        switch kind {
        case "c": positions = CurvePoints.circular(start, through: try position(values[1]), end)
        case "b":
            guard values.count >= 3 else {
                throw .corruptedGeometry(details: "A Bézier curve needs two control points.")
            }
            positions = CurvePoints.bezier(start, try position(values[1]), try position(values[2]), end)
        default:
            let numbers = values.dropFirst(2).map { $0.doubleValue ?? 0 }
            positions = CurvePoints.elliptic(start, end, center: try position(values[1]), parameters: Array(numbers))
        }
        // Heights and measures run evenly from one end to the other.
        let from = vertices.count - 1
        let (startZ, startM) = (vertices.z(from) ?? .nan, vertices.m(from) ?? .nan)
        var last = Vertices(hasZ: hasZ, hasM: hasM)
        try append(values[0], to: &last)
        let (endZ, endM) = (last.z(0) ?? .nan, last.m(0) ?? .nan)
        for (index, place) in positions.enumerated() where index < positions.count - 1 {
            guard vertices.count < GeometryLimits.verticesMax else {
                throw .corruptedGeometry(details: "The geometry has too many vertices.")
            }
            let fraction = Double(index + 1) / Double(positions.count)
            vertices.append(
                x: place.x, y: place.y, z: startZ + (endZ - startZ) * fraction, m: startM + (endM - startM) * fraction)
        }
        try append(values[0], to: &vertices)
    }

    private func position(_ json: JSONValue) throws(GeometryError) -> (x: Double, y: Double) {
        let values = try array(json)
        guard values.count >= 2 else { throw .corruptedGeometry(details: "A vertex needs x and y.") }
        let (x, y) = (try coordinate(values[0]), try coordinate(values[1]))
        guard x.isFinite, y.isFinite else { throw .corruptedGeometry(details: "A vertex needs x and y.") }
        return (x, y)
    }
}
