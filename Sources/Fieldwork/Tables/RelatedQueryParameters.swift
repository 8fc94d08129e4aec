public import FieldworkGeometry
import Synchronization

/// Which related features a query chooses and how they are given. New parameters choose all of one relationship.
public final class RelatedQueryParameters: Sendable {
    struct Values: Sendable {
        var whereClause = ""
        var orderByFields: [OrderBy] = []
        var maxFeatures = 0
        var resultOffset = 0
        var returnsGeometry = true
    }

    /// The relationship.
    public let relationshipInfo: RelationshipInfo?
    private let state = Mutex(Values())

    /// All features of a relationship.
    public init(relationshipInfo: RelationshipInfo) { self.relationshipInfo = relationshipInfo }

    var values: Values { state.withLock { $0 } }

    /// A condition in SQL that related features have to meet as well; empty for none.
    public var whereClause: String {
        get { values.whereClause }
        set { state.withLock { $0.whereClause = newValue } }
    }

    /// The order of the features; without keys the order of their ids.
    public var orderByFields: [OrderBy] { values.orderByFields }

    /// Adds a key of the order.
    public func addOrderByField(_ field: OrderBy) { state.withLock { $0.orderByFields.append(field) } }

    /// Adds keys of the order.
    public func addOrderByFields(_ fields: [OrderBy]) { state.withLock { $0.orderByFields += fields } }

    /// The most features to give; 0 for no limit.
    public var maxFeatures: Int {
        get { values.maxFeatures }
        set { state.withLock { $0.maxFeatures = max(0, newValue) } }
    }

    /// How many features to leave out at the beginning.
    public var resultOffset: Int {
        get { values.resultOffset }
        set { state.withLock { $0.resultOffset = max(0, newValue) } }
    }

    /// Whether geometries are given.
    public var returnsGeometry: Bool {
        get { values.returnsGeometry }
        set { state.withLock { $0.returnsGeometry = newValue } }
    }
}

/// The features that one relationship leads to.
public final class RelatedFeatureQueryResult: Sendable {
    /// The feature that was started from.
    public let feature: ArcGISFeature?
    /// The table of the related features.
    public let relatedTable: ArcGISFeatureTable?
    /// The relationship.
    public let relationshipInfo: RelationshipInfo?
    private let found: FeatureQueryResult

    init(
        feature: ArcGISFeature, relatedTable: ArcGISFeatureTable, relationshipInfo: RelationshipInfo,
        found: FeatureQueryResult
    ) {
        self.feature = feature
        self.relatedTable = relatedTable
        self.relationshipInfo = relationshipInfo
        self.found = found
    }

    /// The fields of the related features.
    public var fields: [Field] { found.fields }
    /// The kind of their geometries; nil for rows of a table without.
    public var geometryType: Geometry.Type? { found.geometryType }
    /// Whether there are more features than were given.
    public var transferLimitIsExceeded: Bool { found.isTransferLimitExceeded }
    /// The related features.
    public func features() -> AnySequence<Feature> { found.features() }
}
