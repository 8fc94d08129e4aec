/// Geometries of GeoJSON (RFC 7946): WGS 84, shells counter-clockwise, rings closed.
package enum GeoJSONCodec {
    /// Reads a geometry object; nil for null and for empty coordinates.
    /// - Parameter spatialReference: that of the coordinates; WGS 84 but for files of the format's older form (2008).
    package static func geometry(
        from json: JSONValue, spatialReference: SpatialReference = .wgs84
    ) throws(GeometryError) -> Geometry? {
        if json.isNull { return nil }
        guard let type = json["type"]?.stringValue, let coordinates = json["coordinates"] else {
            throw .corruptedGeometry(details: "A GeoJSON geometry needs a type and coordinates.")
        }
        let depths = [
            "Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3,
        ]
        guard let depth = depths[type] else { throw .corruptedGeometry(details: "\(type) is not supported.") }
        var collector = Collector(hasZ: hasZ(coordinates, depth: depth))
        try collector.read(coordinates, depth: depth, type: type)
        let vertices = collector.vertices
        guard vertices.count > 0 else { return nil }
        switch type {
        case "Point": return vertices.point(0, spatialReference: spatialReference)
        case "MultiPoint":
            return Multipoint(
                vertices: Vertices(coordinates: vertices.coordinates, hasZ: vertices.hasZ),
                spatialReference: spatialReference)
        case "LineString", "MultiLineString": return Polyline(vertices: vertices, spatialReference: spatialReference)
        default:
            return Polygon(
                vertices: RingWinding.wound(vertices, rings: collector.rings), spatialReference: spatialReference)
        }
    }

    private static func hasZ(_ json: JSONValue, depth: Int) -> Bool {
        guard let values = json.arrayValue else { return false }
        if depth == 0 { return values.count > 2 }
        return values.first.map { hasZ($0, depth: depth - 1) } ?? false
    }

    private struct Collector {
        var vertices: Vertices
        var rings: [(start: Int, isShell: Bool)] = []

        init(hasZ: Bool) { vertices = Vertices(hasZ: hasZ, partStarts: []) }

        mutating func read(_ json: JSONValue, depth: Int, type: String) throws(GeometryError) {
            guard let values = json.arrayValue else {
                throw .corruptedGeometry(details: "Coordinates are not an array.")
            }
            switch depth {
            case 0:
                if vertices.partStarts.isEmpty { vertices.partStarts = [0] }
                try vertex(values)
            case 1:
                vertices.partStarts.append(vertices.count)
                for value in values {
                    guard let position = value.arrayValue else {
                        throw .corruptedGeometry(details: "A position is not an array.")
                    }
                    try vertex(position)
                }
                if vertices.partStarts.last == vertices.count { vertices.partStarts.removeLast() }
            default:
                let isPolygon = depth == 2 && type.hasSuffix("Polygon")
                for (index, value) in values.enumerated() {
                    if isPolygon { rings.append((vertices.count, index == 0)) }
                    try read(value, depth: depth - 1, type: type)
                }
            }
        }

        private mutating func vertex(_ values: [JSONValue]) throws(GeometryError) {
            guard values.count >= 2, let x = values[0].doubleValue, let y = values[1].doubleValue else {
                throw .corruptedGeometry(details: "A position needs two numbers.")
            }
            guard vertices.count < GeometryLimits.verticesMax else {
                throw .corruptedGeometry(details: "The geometry has too many vertices.")
            }
            vertices.append(x: x, y: y, z: values.count > 2 ? values[2].doubleValue : nil, m: nil)
        }
    }

    /// Appends a geometry object. The coordinates are written as they are: the caller has projected them to WGS 84.
    package static func append(_ geometry: Geometry, to bytes: inout [UInt8]) {
        func begin(_ type: String) { bytes.append(contentsOf: #"{"type":"\#(type)","coordinates":"#.utf8) }
        func position(_ vertices: Vertices, _ index: Int) {
            bytes.append(0x5B)
            JSONBytes.append(vertices.x(index), to: &bytes)
            bytes.append(0x2C)
            JSONBytes.append(vertices.y(index), to: &bytes)
            if let z = vertices.z(index) {
                bytes.append(0x2C)
                JSONBytes.append(z, to: &bytes)
            }
            bytes.append(0x5D)
        }
        func list<S: Sequence>(_ elements: S, _ body: (S.Element) -> Void) {
            bytes.append(0x5B)
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(0x2C) }
                body(element)
            }
            bytes.append(0x5D)
        }
        let vertices = geometry.vertices
        switch geometry {
        case is Point:
            begin("Point")
            position(vertices, 0)
        case is Multipoint:
            begin("MultiPoint")
            list(0..<vertices.count) { position(vertices, $0) }
        case is Polyline:
            let parts = vertices.parts
            begin(parts.count == 1 ? "LineString" : "MultiLineString")
            if parts.count == 1 {
                list(parts[0]) { position(vertices, $0) }
            } else {
                list(parts) { list($0) { position(vertices, $0) } }
            }
        default:
            let polygon = geometry as? Polygon ?? geometry.extent.toPolygon()
            let polygons = RingWinding.polygons(of: polygon)
            func rings(_ rings: [Range<Int>]) {
                list(rings.enumerated()) { number, ring in
                    let reverse = (RingWinding.signedArea(polygon.vertices, ring) > 0) != (number == 0)
                    let order =
                        [ring.lowerBound] + (reverse ? Array(ring.dropFirst().reversed()) : Array(ring.dropFirst()))
                    list(order + [ring.lowerBound]) { position(polygon.vertices, $0) }
                }
            }
            begin(polygons.count == 1 ? "Polygon" : "MultiPolygon")
            if polygons.count == 1 { rings(polygons[0]) } else { list(polygons) { rings($0) } }
        }
        bytes.append(0x7D)
    }
}
