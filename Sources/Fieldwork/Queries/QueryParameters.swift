public import FieldworkGeometry
import Synchronization

/// How a feature's geometry has to relate to the geometry of a query.
public enum SpatialRelationship: Sendable {
    /// The relations of the service's `spatialRel`.
    case contains, crosses, disjoint, envelopeIntersects, equals, indexIntersects, intersects, overlaps, relate,
        touches,
        unknown, within
}

/// A key of an order.
public final class OrderBy: Sendable {
    /// The direction of an order.
    public enum SortOrder: Sendable {
        /// From the least or from the greatest value.
        case ascending, descending
    }

    /// The field that is compared.
    public let fieldName: String
    private let order: Mutex<SortOrder>

    /// The direction.
    public var sortOrder: SortOrder {
        get { order.withLock { $0 } }
        set { order.withLock { $0 = newValue } }
    }

    /// An order by the values of a field.
    public init(fieldName: String, sortOrder: SortOrder) {
        self.fieldName = fieldName
        order = Mutex(sortOrder)
    }
}

/// Which features a query chooses and how they are given. New parameters choose all.
///
/// A feature is chosen when it meets everything that is set: the condition, the geometry, the object ids and the time.
///
/// ```swift
/// let parameters = QueryParameters()
/// parameters.whereClause = "species = 'Quercus garryana' AND dbh > 30"
/// parameters.geometry = area
/// parameters.addOrderByField(OrderBy(fieldName: "dbh", sortOrder: .descending))
/// parameters.maxFeatures = 20
/// ```
///
/// What changes is behind a lock; only the hierarchy keeps the compiler from seeing that.
public class QueryParameters: @unchecked Sendable {
    struct Values: Sendable {
        var whereClause = ""
        var geometry: Geometry?
        var spatialRelationship = SpatialRelationship.intersects
        var objectIDs: [Int64] = []
        var orderByFields: [OrderBy] = []
        var maxFeatures = 0
        var resultOffset = 0
        var outSpatialReference: SpatialReference?
        var maxAllowableOffset = 0.0
        var returnsGeometry = true
        var timeExtent: TimeExtent?
    }

    private let state = Mutex(Values())

    /// Parameters that choose every feature.
    public init() {}

    var values: Values { state.withLock { $0 } }

    func replaceValues(_ values: Values) { state.withLock { $0 = values } }

    /// A condition in SQL; empty for none.
    ///
    /// Fields by their names, values as literals: `'text'` with doubled quotes inside, numbers, `DATE '2024-05-01'` and
    /// `TIMESTAMP '2024-05-01 12:00:00'` in UTC. `AND`, `OR`, `NOT`, `IN`, `BETWEEN`, `LIKE` and `IS NULL` work on services and in
    /// files alike. Text that a person typed has to be quoted by the caller.
    public var whereClause: String {
        get { values.whereClause }
        set { state.withLock { $0.whereClause = newValue } }
    }

    /// A geometry in any spatial reference that features have to relate to.
    public var geometry: Geometry? {
        get { values.geometry }
        set { state.withLock { $0.geometry = newValue } }
    }

    /// How features relate to `geometry`.
    public var spatialRelationship: SpatialRelationship {
        get { values.spatialRelationship }
        set { state.withLock { $0.spatialRelationship = newValue } }
    }

    /// The features that are meant by id; empty for all.
    public var objectIDs: [Int64] { values.objectIDs }

    /// Means features by id.
    public func addObjectIDs(_ ids: [Int64]) { state.withLock { $0.objectIDs += ids } }

    /// Takes ids away.
    public func removeObjectIDs(_ ids: [Int64]) {
        state.withLock { values in values.objectIDs.removeAll { ids.contains($0) } }
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

    /// The reference of the geometries that are given; nil for the table's own.
    public var outSpatialReference: SpatialReference? {
        get { values.outSpatialReference }
        set { state.withLock { $0.outSpatialReference = newValue } }
    }

    /// How far geometries may be off when they are simplified, in units of the reference they are given in; 0 for none.
    public var maxAllowableOffset: Double {
        get { values.maxAllowableOffset }
        set { state.withLock { $0.maxAllowableOffset = newValue } }
    }

    /// When features have to have been there, by the fields that the layer names for it; nil for all times. Queries of a
    /// layer without times throw `ServiceError.serverFailure`.
    public var timeExtent: TimeExtent? {
        get { values.timeExtent }
        set { state.withLock { $0.timeExtent = newValue } }
    }

    /// Whether geometries are given.
    public var returnsGeometry: Bool {
        get { values.returnsGeometry }
        set { state.withLock { $0.returnsGeometry = newValue } }
    }
}

/// How much of each feature a query fetches from a service.
public enum QueryFeatureFields: Sendable {
    /// Object ids only.
    case idsOnly
    /// What a map needs: ids, types, the fields that the renderer looks at.
    case minimum
    /// All attributes.
    case loadAll
}
