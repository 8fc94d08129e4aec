/// The binary geometry of OGC GeoPackage (clause 2.1.3): a header with the reference's number and perhaps an envelope,
/// then well-known binary.
package enum GeoPackageBinary {
    package struct Header: Sendable, Hashable {
        package var srsID: Int32
        package var isEmpty: Bool
        /// xMin, xMax, yMin, yMax as stored; nil without envelope.
        package var envelope: (xMin: Double, xMax: Double, yMin: Double, yMax: Double)?
        /// Where the well-known binary starts.
        package var bodyOffset: Int

        package static func == (one: Header, other: Header) -> Bool {
            one.srsID == other.srsID && one.bodyOffset == other.bodyOffset && one.isEmpty == other.isEmpty
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(srsID)
            hasher.combine(bodyOffset)
        }
    }

    @inlinable
    package static func header(of blob: UnsafeRawBufferPointer) throws(GeometryError) -> Header {
        guard blob.count >= 8, blob[0] == 0x47, blob[1] == 0x50 else {
            throw WKBWalker.corrupted("The geometry is not in GeoPackage's binary form.")
        }
        let flags = blob[3]
        let isLittleEndian = flags & 1 == 1
        guard flags & 0x20 == 0 else { throw WKBWalker.corrupted("Extended GeoPackage geometries are not supported.") }
        let raw = blob.loadUnaligned(fromByteOffset: 4, as: Int32.self)
        let sizes = [0, 32, 48, 48, 64]
        let code = Int(flags >> 1 & 7)
        guard code < sizes.count, blob.count >= 8 + sizes[code] else {
            throw WKBWalker.corrupted("The envelope of the geometry is malformed.")
        }
        var header = Header(
            srsID: isLittleEndian ? Int32(littleEndian: raw) : Int32(bigEndian: raw), isEmpty: flags & 0x10 != 0,
            envelope: nil, bodyOffset: 8 + sizes[code])
        if code > 0 {
            func double(_ offset: Int) -> Double {
                let bits = blob.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                return Double(bitPattern: isLittleEndian ? UInt64(littleEndian: bits) : UInt64(bigEndian: bits))
            }
            header.envelope = (double(8), double(16), double(24), double(32))
        }
        return header
    }

    /// Walks the vertices without making a geometry.
    @inlinable
    package static func walk<Visitor: WKBVisitor>(
        _ blob: UnsafeRawBufferPointer, _ visitor: inout Visitor
    ) throws(GeometryError) {
        let header = try header(of: blob)
        var walker = WKBWalker(bytes: blob, from: header.bodyOffset)
        try walker.walk(&visitor)
    }

    /// Reads a geometry; nil when it is empty. The reference is the caller's: the blob has only its number in the file.
    package static func geometry(
        from blob: UnsafeRawBufferPointer, spatialReference: SpatialReference?
    ) throws(GeometryError) -> Geometry? {
        let header = try header(of: blob)
        if header.isEmpty { return nil }
        var collector = GeometryCollector()
        var walker = WKBWalker(bytes: blob, from: header.bodyOffset)
        try walker.walk(&collector)
        return try collector.geometry(spatialReference: spatialReference)
    }

    /// The blob of a point of two coordinates, which is always as long; nil for others.
    private static func plainBlob(for point: Point, srsID: Int32) -> [UInt8]? {
        let coordinates = point.vertices.coordinates
        guard coordinates.count == 2, !point.isEmpty else { return nil }
        return [UInt8](unsafeUninitializedCapacity: 29) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            // GP, version, little-endian without an envelope, the reference; then WKB of a point.
            bytes.storeBytes(of: UInt32(0x0100_5047).littleEndian, as: UInt32.self)
            bytes.storeBytes(of: srsID.littleEndian, toByteOffset: 4, as: Int32.self)
            bytes[8] = 1
            bytes.storeBytes(of: UInt32(1).littleEndian, toByteOffset: 9, as: UInt32.self)
            bytes.storeBytes(of: coordinates[0].bitPattern.littleEndian, toByteOffset: 13, as: UInt64.self)
            bytes.storeBytes(of: coordinates[1].bitPattern.littleEndian, toByteOffset: 21, as: UInt64.self)
            count = 29
        }
    }

    /// A blob, with an envelope unless the geometry is a point (whose coordinates are its envelope).
    /// - Parameter isMulti: write polylines and polygons as multi-geometries even with one part.
    package static func blob(for geometry: Geometry, srsID: Int32, isMulti: Bool = false) -> [UInt8] {
        if let point = geometry as? Point, let bytes = plainBlob(for: point, srsID: srsID) { return bytes }
        var bytes: [UInt8] = []
        let hasEnvelope = !(geometry is Point) && !geometry.isEmpty
        let flags: UInt8 = 1 | (hasEnvelope ? 2 : 0) | (geometry.isEmpty ? 0x10 : 0)
        bytes.reserveCapacity(64 + geometry.vertices.coordinates.count * 8)
        bytes.append(contentsOf: [0x47, 0x50, 0, flags])
        withUnsafeBytes(of: srsID.littleEndian) { bytes.append(contentsOf: $0) }
        if hasEnvelope {
            let extent = geometry.extent
            for side in [extent.xMin, extent.xMax, extent.yMin, extent.yMax] {
                withUnsafeBytes(of: side.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
            }
        }
        WellKnownBinary.append(geometry, isMulti: isMulti, to: &bytes)
        return bytes
    }
}
