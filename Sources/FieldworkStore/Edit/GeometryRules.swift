import FieldworkGeometry
import FieldworkREST

/// Checks a geometry against its layer and gives the bytes to store.
enum GeometryRules {
    /// nil: the feature is to have no geometry.
    static func blob(for geometry: Geometry, in layer: StoredLayer) throws(EditError) -> [UInt8]? {
        guard let expected = layer.definition.geometryType, !geometry.isEmpty else { return nil }
        guard isOfType(geometry, expected) else {
            throw EditError(code: 1000, description: "The layer holds \(expected.rawValue), not \(name(of: geometry)).")
        }
        if let point = geometry as? Point, let bytes = plainBlob(for: point, in: layer) { return bytes }
        let projected = try projected(geometry, layer)
        // Multi-geometries throughout, as the table's declared type wants it.
        let bytes = GeoPackageBinary.blob(for: projected, srsID: layer.srsID, isMulti: true)
        let isFinite = bytes.withUnsafeBytes { GeometryBlob($0)?.isFinite ?? false }
        guard isFinite else {
            throw EditError(code: 1000, description: "The geometry has coordinates that are not finite numbers.")
        }
        guard bytes.count <= Limits.valueBytes else {
            throw EditError(code: 1000, description: "The geometry takes more than \(Limits.valueBytes) bytes.")
        }
        return bytes
    }

    /// The same bytes for a point of two coordinates that is in the layer's reference already; nil for others.
    private static func plainBlob(for point: Point, in layer: StoredLayer) -> [UInt8]? {
        let coordinates = point.vertices.coordinates
        guard coordinates.count == 2, coordinates[0].isFinite, coordinates[1].isFinite else { return nil }
        if let own = point.spatialReference, let reference = layer.definition.spatialReference, own != reference {
            return nil
        }
        return [UInt8](unsafeUninitializedCapacity: 29) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            // GP, version, little-endian without an envelope, the reference; then WKB of a point.
            bytes.storeBytes(of: UInt32(0x0100_5047).littleEndian, as: UInt32.self)
            bytes.storeBytes(of: layer.srsID.littleEndian, toByteOffset: 4, as: Int32.self)
            bytes[8] = 1
            bytes.storeBytes(of: UInt32(1).littleEndian, toByteOffset: 9, as: UInt32.self)
            bytes.storeBytes(of: coordinates[0].bitPattern.littleEndian, toByteOffset: 13, as: UInt64.self)
            bytes.storeBytes(of: coordinates[1].bitPattern.littleEndian, toByteOffset: 21, as: UInt64.self)
            count = 29
        }
    }

    private static func isOfType(_ geometry: Geometry, _ type: LayerGeometryType) -> Bool {
        switch type {
        case .point: geometry is Point
        case .multipoint: geometry is Multipoint
        case .polyline: geometry is Polyline
        case .polygon: geometry is Polygon
        case .envelope: geometry is Envelope
        }
    }

    private static func name(of geometry: Geometry) -> String {
        switch geometry {
        case is Point: "a point"
        case is Multipoint: "a multipoint"
        case is Polyline: "a polyline"
        case is Polygon: "a polygon"
        case is Envelope: "an envelope"
        default: "another geometry"
        }
    }

    private static func projected(_ geometry: Geometry, _ layer: StoredLayer) throws(EditError) -> Geometry {
        guard let reference = layer.definition.spatialReference, let own = geometry.spatialReference, own != reference
        else { return geometry }
        guard let projected = GeometryEngine.project(geometry, into: reference), !projected.isEmpty else {
            throw EditError(code: 1000, description: "The geometry can't be brought to the layer's spatial reference.")
        }
        return projected
    }
}
