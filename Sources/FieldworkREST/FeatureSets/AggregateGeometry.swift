import FieldworkGeometry

/// Writes what the geometries of a group make together. There is one a group, not one a feature: a geometry object costs
/// nothing here.
struct AggregateGeometry {
    let layout: AnswerLayout
    let kind: StatisticsQuery.GeometryKind

    /// - Parameter blob: a GeoPackage geometry; of an envelope the two corners.
    func append(_ blob: UnsafeRawBufferPointer?, to bytes: inout [UInt8]) throws {
        guard let blob,
            let stored = try GeoPackageBinary.geometry(from: blob, spatialReference: layout.aggregateReference)
        else { return bytes.append(contentsOf: "null".utf8) }
        var geometry = kind == .envelope ? stored.extent : stored
        if let reference = layout.output.spatialReference {
            do {
                geometry = try GeometryEngine.projected(
                    geometry, into: reference, datumTransformation: layout.output.datumTransformation)
            } catch {
                throw ServiceError.invalidQuery("'outSR': \(error.details)")
            }
        }
        GeoServicesJSON.append(geometry, includingSpatialReference: true, to: &bytes)
    }
}
