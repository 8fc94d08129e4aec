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
