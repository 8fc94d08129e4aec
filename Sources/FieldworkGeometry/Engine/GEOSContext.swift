internal import CGEOS

/// A GEOS context: one an operation, used by one task. Making one costs some 70 ns.
struct GEOSContext: ~Copyable {
    let handle: GEOSContextHandle_t

    init() {
        handle = GEOS_init_r()
        GEOSAccounting.made()
    }

    deinit {
        GEOS_finish_r(handle)
        GEOSAccounting.freed()
    }

    /// A geometry as GEOS sees it: x, y and z; measures are not handed over.
    func shape(_ geometry: Geometry) throws(GeometryError) -> GEOSShape {
        // GEOS computes with what it is given; some operations do not end on infinities.
        guard geometry.isEmpty || geometry.vertices.isFinite else {
            throw .corruptedGeometry(details: "A coordinate is not finite.")
        }
        var bytes: [UInt8] = []
        WellKnownBinary.append(geometry.withoutMeasures.undegenerated, to: &bytes)
        let pointer = bytes.withUnsafeBufferPointer { GEOSGeomFromWKB_buf_r(handle, $0.baseAddress, $0.count) }
        return try owned(pointer)
    }

    /// The geometry of a well-known binary that lies in memory.
    func shape(wkb: UnsafeRawBufferPointer) throws(GeometryError) -> GEOSShape {
        try owned(GEOSGeomFromWKB_buf_r(handle, wkb.assumingMemoryBound(to: UInt8.self).baseAddress, wkb.count))
    }

    /// Takes over what a GEOS function returned; null is its way to say that it failed.
    func owned(_ pointer: OpaquePointer?) throws(GeometryError) -> GEOSShape {
        guard let pointer else { throw .nonSimpleGeometry(details: "The operation failed on this geometry.") }
        return GEOSShape(pointer: pointer, handle: handle)
    }

    /// What a GEOS predicate returned: 2 is its way to say that it failed.
    func truth(_ value: CChar) throws(GeometryError) -> Bool {
        guard value == 0 || value == 1 else {
            throw .nonSimpleGeometry(details: "The relation can't be told for this geometry.")
        }
        return value == 1
    }
}

/// A GEOS geometry that frees itself. It must not outlive its context.
struct GEOSShape: ~Copyable {
    let pointer: OpaquePointer
    let handle: GEOSContextHandle_t

    init(pointer: OpaquePointer, handle: GEOSContextHandle_t) {
        self.pointer = pointer
        self.handle = handle
        GEOSAccounting.made()
    }

    deinit {
        GEOSGeom_destroy_r(handle, pointer)
        GEOSAccounting.freed()
    }

    var isEmpty: Bool { GEOSisEmpty_r(handle, pointer) == 1 }
    /// Whether it mixes dimensions.
    var isCollection: Bool { GEOSGeomTypeId_r(handle, pointer) == Int32(GEOS_GEOMETRYCOLLECTION.rawValue) }

    /// The geometry back in our form; nil when it is empty. Of a mixed collection the members of the highest dimension.
    func geometry(spatialReference: SpatialReference?) throws(GeometryError) -> Geometry? {
        if isEmpty { return nil }
        if isCollection {
            return try mostExtended(spatialReference: spatialReference)
        }
        let writer = GEOSWKBWriter_create_r(handle)
        defer { GEOSWKBWriter_destroy_r(handle, writer) }
        GEOSWKBWriter_setOutputDimension_r(handle, writer, GEOSHasZ_r(handle, pointer) == 1 ? 3 : 2)
        var size = 0
        guard let bytes = GEOSWKBWriter_write_r(handle, writer, pointer, &size) else {
            throw .corruptedGeometry(details: "The result could not be read.")
        }
        defer { GEOSFree_r(handle, bytes) }
        return try WellKnownBinary.geometry(
            from: UnsafeRawBufferPointer(start: bytes, count: size), spatialReference: spatialReference)
    }

    private func mostExtended(spatialReference: SpatialReference?) throws(GeometryError) -> Geometry? {
        try members(spatialReference: spatialReference).last
    }

    /// The members of a collection, those of one dimension joined to one geometry: points, then lines, then areas.
    func members(spatialReference: SpatialReference?) throws(GeometryError) -> [Geometry] {
        var members: [Geometry] = []
        for index in 0..<GEOSGetNumGeometries_r(handle, pointer) {
            guard let member = GEOSGetGeometryN_r(handle, pointer, index),
                let clone = GEOSGeom_clone_r(handle, member)
            else { continue }
            let shape = GEOSShape(pointer: clone, handle: handle)
            if let geometry = try shape.geometry(spatialReference: spatialReference) { members.append(geometry) }
        }
        return [Geometry.Dimension.point, .curve, .area].compactMap { dimension in
            Geometry.merged(members.filter { $0.dimension == dimension }, spatialReference: spatialReference)
        }
    }
}

extension Geometry {
    /// An envelope without width or height as the line or point that it is; everything else as it stands.
    fileprivate var undegenerated: Geometry {
        guard let envelope = self as? Envelope, !envelope.isEmpty, envelope.width == 0 || envelope.height == 0 else {
            return self
        }
        let corner = Point(x: envelope.xMin, y: envelope.yMin, spatialReference: spatialReference)
        if envelope.width == 0, envelope.height == 0 { return corner }
        return Polyline(
            points: [corner, Point(x: envelope.xMax, y: envelope.yMax)], spatialReference: spatialReference)
    }

    /// Without measures, which GEOS does not know; the geometry itself when it has none.
    var withoutMeasures: Geometry {
        guard vertices.hasM else { return self }
        var plain = Vertices(hasZ: vertices.hasZ, partStarts: vertices.partStarts)
        for index in 0..<vertices.count {
            plain.append(x: vertices.x(index), y: vertices.y(index), z: vertices.z(index), m: nil)
        }
        return rebuilt(vertices: plain, spatialReference: spatialReference)
    }

    /// Geometries of one dimension as one geometry of parts.
    static func merged(_ geometries: [Geometry], spatialReference: SpatialReference?) -> Geometry? {
        guard let first = geometries.first else { return nil }
        if geometries.count == 1 { return first }
        var vertices = Vertices(hasZ: first.hasZ, partStarts: [])
        for geometry in geometries {
            let offset = vertices.count
            vertices.partStarts += geometry.vertices.partStarts.map { $0 + offset }
            for index in 0..<geometry.vertices.count {
                vertices.append(
                    x: geometry.vertices.x(index), y: geometry.vertices.y(index), z: geometry.vertices.z(index), m: nil)
            }
        }
        switch first.dimension {
        case .area: return Polygon(vertices: vertices, spatialReference: spatialReference)
        case .curve: return Polyline(vertices: vertices, spatialReference: spatialReference)
        case .point:
            vertices.partStarts = [0]
            return Multipoint(vertices: vertices, spatialReference: spatialReference)
        }
    }
}
