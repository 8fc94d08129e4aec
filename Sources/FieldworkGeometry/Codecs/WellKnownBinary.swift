/// Well-known binary, ISO form, little-endian when written. The extended form is read as well.
package enum WellKnownBinary {
    /// Reads one geometry; nil when it is empty.
    package static func geometry(
        from bytes: UnsafeRawBufferPointer, spatialReference: SpatialReference?
    ) throws(GeometryError) -> Geometry? {
        var walker = WKBWalker(bytes: bytes)
        var collector = GeometryCollector()
        try walker.walk(&collector)
        return try collector.geometry(spatialReference: spatialReference)
    }

    /// Appends a geometry. Polylines and polygons are written as multi-geometries when `isMulti` says so or when they
    /// have several parts; an envelope as its polygon.
    package static func append(_ geometry: Geometry, isMulti: Bool = false, to bytes: inout [UInt8]) {
        switch geometry {
        case let point as Point:
            header(.point, point, &bytes)
            vertex(point.vertices, 0, &bytes)
        case let multipoint as Multipoint:
            header(.multiPoint, multipoint, &bytes)
            integer(multipoint.vertices.count, &bytes)
            for index in 0..<multipoint.vertices.count {
                header(.point, multipoint, &bytes)
                vertex(multipoint.vertices, index, &bytes)
            }
        case let polyline as Polyline: append(polyline: polyline, isMulti: isMulti, to: &bytes)
        case let polygon as Polygon: append(polygon: polygon, isMulti: isMulti, to: &bytes)
        default: append(polygon: geometry.extent.toPolygon(), isMulti: isMulti, to: &bytes)
        }
    }

    private static func append(polyline: Polyline, isMulti: Bool, to bytes: inout [UInt8]) {
        let parts = polyline.isEmpty ? [] : polyline.vertices.parts
        if isMulti || parts.count > 1 {
            header(.multiLineString, polyline, &bytes)
            integer(parts.count, &bytes)
        }
        for part in parts.isEmpty && !isMulti ? [0..<0] : parts {
            header(.lineString, polyline, &bytes)
            integer(part.count, &bytes)
            for index in part { vertex(polyline.vertices, index, &bytes) }
        }
    }

    private static func append(polygon: Polygon, isMulti: Bool, to bytes: inout [UInt8]) {
        let polygons = polygon.isEmpty ? [] : RingWinding.polygons(of: polygon)
        if isMulti || polygons.count > 1 {
            header(.multiPolygon, polygon, &bytes)
            integer(polygons.count, &bytes)
        }
        for rings in polygons.isEmpty && !isMulti ? [[]] : polygons {
            header(.polygon, polygon, &bytes)
            integer(rings.count, &bytes)
            for (number, ring) in rings.enumerated() {
                // The standard winds a shell counter-clockwise, the protocol clockwise.
                let isCounterClockwise = RingWinding.signedArea(polygon.vertices, ring) > 0
                let reverse = isCounterClockwise != (number == 0)
                integer(ring.count + 1, &bytes)
                vertex(polygon.vertices, ring.lowerBound, &bytes)
                for index in ring.dropFirst() {
                    vertex(
                        polygon.vertices, reverse ? ring.upperBound - (index - ring.lowerBound) : index, &bytes)
                }
                vertex(polygon.vertices, ring.lowerBound, &bytes)
            }
        }
    }

    private static func header(_ kind: WKBKind, _ geometry: Geometry, _ bytes: inout [UInt8]) {
        let dimensions: UInt32 = (geometry.hasZ ? 1_000 : 0) + (geometry.hasM ? 2_000 : 0)
        bytes.append(1)
        withUnsafeBytes(of: (kind.rawValue + dimensions).littleEndian) { bytes.append(contentsOf: $0) }
    }

    private static func integer(_ value: Int, _ bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).littleEndian) { bytes.append(contentsOf: $0) }
    }

    private static func vertex(_ vertices: Vertices, _ index: Int, _ bytes: inout [UInt8]) {
        let stride = vertices.stride
        for coordinate in vertices.coordinates[index * stride..<(index + 1) * stride] {
            withUnsafeBytes(of: coordinate.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
        }
    }
}
