package import FieldworkGeometry

/// What stands around the features of an answer: which fields, which geometry, in which reference.
package struct AnswerLayout: Sendable {
    package var objectIDField: String
    package var globalIDField: String?
    /// In the order in which the encoder gets its columns.
    package var fields: [FieldDefinition]
    /// nil when the answer has nothing of geometries.
    package var geometryType: LayerGeometryType?
    /// Geometries are read for their centre and their envelope alone.
    var hidesGeometry = false
    package var spatialReference: SpatialReference?
    package var hasZ: Bool
    package var hasM: Bool
    package var output: GeometryOutput
    package var transform: ProjectionTransform?
    /// Rows of statistics are no features: they have no ids.
    package var isOfStatistics = false
    /// What the geometries of each group make together, and the reference in which that comes from the store.
    var aggregates: [StatisticsQuery.GeometryStatistic] = []
    var aggregateReference: SpatialReference?

    /// Points leave as they are stored: nothing to project, to round or to add.
    var keepsPoints: Bool {
        geometryType == .point && transform == nil && output.precision == nil && !hasZ && !hasM
            && !output.returnsEnvelope
    }

    /// The layout of a query's answer. Throws when the output reference can't be reached from the layer's.
    package init(layer: LayerDefinition, query: FeatureQuery) throws(ServiceError) {
        objectIDField = layer.objectIDField
        globalIDField = layer.globalIDField
        let names = query.outFields.map { Set($0) }
        fields = layer.fields.filter { $0.type != .geometry && names?.contains($0.name) ?? true }
        geometryType = query.readsGeometry ? layer.geometryType : nil
        hidesGeometry = !query.returnsGeometry
        spatialReference = query.output.spatialReference ?? layer.spatialReference
        hasZ = layer.hasZ && query.output.returnsZ
        hasM = layer.hasM && query.output.returnsM
        output = query.output
        guard geometryType != nil, let source = layer.spatialReference, let target = query.output.spatialReference
        else {
            return
        }
        do {
            let way = try ProjectionTransform.between(
                source, target, datumTransformation: query.output.datumTransformation?.name)
            transform = way.isIdentity ? nil : way
        } catch {
            throw .invalidQuery("'outSR' parameter is invalid: \(error.details)")
        }
    }

    package init(statistics: StatisticsQuery) {
        objectIDField = ""
        fields = statistics.fields
        hasZ = false
        hasM = false
        output = statistics.features.output
        aggregates = statistics.geometries
        aggregateReference = statistics.spatialReference
        spatialReference = output.spatialReference ?? statistics.spatialReference
        isOfStatistics = true
    }
}
