public import FieldworkGeometry

/// Features that belong together.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public class FeatureSet: @unchecked Sendable {
    /// The fields of the features.
    public let fields: [Field]
    /// The reference of their geometries.
    public let spatialReference: SpatialReference?
    /// The kind of their geometries; nil for rows of a table without.
    public let geometryType: Geometry.Type?
    let all: [Feature]

    init(
        features: [Feature], fields: [Field] = [], spatialReference: SpatialReference? = nil,
        geometryType: Geometry.Type? = nil
    ) {
        all = features
        self.fields = fields
        self.spatialReference = spatialReference
        self.geometryType = geometryType
    }

    /// The features.
    public func features() -> AnySequence<Feature> { AnySequence(all) }
}

/// The features that a query found.
public final class FeatureQueryResult: FeatureSet, @unchecked Sendable {
    /// Whether there are more features than were given.
    public let isTransferLimitExceeded: Bool

    init(
        features: [Feature], fields: [Field] = [], spatialReference: SpatialReference? = nil,
        geometryType: Geometry.Type? = nil, isTransferLimitExceeded: Bool = false
    ) {
        self.isTransferLimitExceeded = isTransferLimitExceeded
        super.init(
            features: features, fields: fields, spatialReference: spatialReference, geometryType: geometryType)
    }
}
