public import FieldworkGeometry

/// What a script asks of a layer: conditions, order and limit in one description, which the source of the data answers.
public struct ArcadeFeatureQuery: Sendable, Hashable {
    /// Where the features come from.
    public indirect enum Base: Sendable, Hashable {
        /// A layer or table.
        case layer(ArcadeLayer)
        /// The features that a feature of another layer is related to.
        case related(ArcadeLayer, relationship: String, to: ArcadeFeature)
        /// Features that a script wrote down.
        case features(ArcadeTable)
        /// Another question, whose limit or groups come first.
        case query(ArcadeFeatureQuery)
    }

    /// Where the features come from.
    public var base: Base
    /// Conditions that all hold.
    public var conditions: [SQLExpression] = []
    /// Conditions on the geometry that all hold.
    public var places: [ArcadePlace] = []
    /// The order; that of the object ids when empty.
    public var order: [ArcadeOrder] = []
    /// The most features.
    public var limit: Int?
    /// Groups that take the place of the features.
    public var grouping: ArcadeGrouping?
    /// The fields that the script needs; nil for all.
    public var fields: [String]?
    /// Whether the script needs geometries.
    public var includesGeometry = true

    /// Questions inside of it.
    let depth: Int

    /// All features of a base.
    public init(base: Base) {
        self.base = base
        if case .query(let inner) = base { depth = inner.depth + 1 } else { depth = 0 }
    }

    /// The conditions as one; nil when there are none.
    public var condition: SQLExpression? {
        guard let first = conditions.first else { return nil }
        return conditions.dropFirst().reduce(first) { .and($0, $1) }
    }

    /// The layer that it asks in the end; nil for features that a script wrote down.
    public var layer: ArcadeLayer? {
        switch base {
        case .layer(let layer), .related(let layer, _, _): layer
        case .features: nil
        case .query(let query): query.layer
        }
    }

    /// The question with what may follow a limit or groups only in a question around it.
    private var open: ArcadeFeatureQuery {
        guard limit != nil || grouping != nil else { return self }
        var query = ArcadeFeatureQuery(base: .query(self))
        query.includesGeometry = includesGeometry
        return query
    }

    func filtered(_ condition: SQLExpression) -> ArcadeFeatureQuery {
        var query = open
        query.conditions.append(condition)
        return query
    }

    func placed(_ place: ArcadePlace) -> ArcadeFeatureQuery {
        var query = open
        query.places.append(place)
        return query
    }

    func ordered(_ order: [ArcadeOrder]) -> ArcadeFeatureQuery {
        var query = open
        query.order = order
        return query
    }

    func limited(_ count: Int) -> ArcadeFeatureQuery {
        // The first few of groups are a question around them.
        var query = grouping == nil ? self : open
        query.limit = min(limit ?? count, count)
        return query
    }

    func grouped(_ grouping: ArcadeGrouping) -> ArcadeFeatureQuery {
        var query = open
        query.order = []
        query.grouping = grouping
        query.includesGeometry = false
        return query
    }
}

/// A condition on the geometries of features.
public struct ArcadePlace: Sendable, Hashable {
    /// How a feature's geometry must lie to the given one.
    public enum Relation: String, Sendable, Hashable {
        /// They share a point.
        case intersects
        /// Their extents share a point.
        case envelopeIntersects
        /// The feature lies within the given geometry.
        case within
        /// The feature contains the given geometry.
        case contains
        /// They cross, overlap, touch.
        case crosses, overlaps, touches
    }

    /// How a feature's geometry must lie to the given one.
    public var relation: Relation
    /// The given geometry.
    public var geometry: Geometry

    /// A relation to a geometry.
    public init(relation: Relation, geometry: Geometry) {
        self.relation = relation
        self.geometry = geometry
    }

    func holds(_ other: Geometry) -> Bool {
        switch relation {
        case .intersects: GeometryEngine.isGeometry(other, intersecting: geometry)
        case .envelopeIntersects: GeometryEngine.isGeometry(other.extent, intersecting: geometry.extent)
        case .within: GeometryEngine.isGeometry(other, within: geometry)
        case .contains: GeometryEngine.doesGeometry(other, contain: geometry)
        case .crosses: GeometryEngine.isGeometry(other, crossing: geometry)
        case .overlaps: GeometryEngine.isGeometry(other, overlapping: geometry)
        case .touches: GeometryEngine.isGeometry(other, touching: geometry)
        }
    }
}

/// A term of an order.
public struct ArcadeOrder: Sendable, Hashable {
    /// What is compared.
    public var expression: SQLExpression
    /// Whether the highest come first.
    public var isDescending: Bool

    /// A term of an order.
    public init(expression: SQLExpression, isDescending: Bool) {
        self.expression = expression
        self.isDescending = isDescending
    }
}

/// What is computed of the values of many features.
public enum ArcadeStatistic: String, Sendable, Hashable {
    /// The sum, how many have a value, the lowest, the highest, the mean, the deviation and variance of the population.
    case sum = "SUM", count = "COUNT", min = "MIN", max = "MAX", average = "AVG", stdev = "STDEV", variance = "VAR"
}

/// Groups of features, with statistics of each.
public struct ArcadeGrouping: Sendable, Hashable {
    /// A column of the result.
    public struct Column: Sendable, Hashable {
        /// What it is called.
        public var name: String
        /// What it is computed from.
        public var expression: SQLExpression
        /// The statistic; nil for a column that tells the groups apart.
        public var statistic: ArcadeStatistic?

        /// A column of the result.
        public init(name: String, expression: SQLExpression, statistic: ArcadeStatistic? = nil) {
            self.name = name
            self.expression = expression
            self.statistic = statistic
        }
    }

    /// The columns, those that tell the groups apart first.
    public var columns: [Column]

    /// By its columns.
    public init(columns: [Column]) { self.columns = columns }
}

/// Features in memory, with their schema.
public final class ArcadeTable: Sendable, Hashable {
    /// What the features have in common.
    public let schema: ArcadeSchema
    /// The features.
    public let features: [ArcadeFeature]
    /// The layer that stands for it where a script asks what it is.
    public let layer: ArcadeLayer

    /// By schema and features.
    public init(schema: ArcadeSchema, features: [ArcadeFeature], name: String = "") {
        self.schema = schema
        self.features = features
        layer = ArcadeLayer(id: "", name: name, schema: schema)
    }

    /// The same table, not one that is equal.
    public static func == (one: ArcadeTable, other: ArcadeTable) -> Bool { one === other }

    /// Equal tables give equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
