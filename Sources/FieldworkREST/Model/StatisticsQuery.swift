package import FieldworkGeometry

/// Statistics over the features of a query, one row a group; already checked against the layer.
package struct StatisticsQuery: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case count
        case sum
        case minimum = "min"
        case maximum = "max"
        case average = "avg"
        /// Of a sample, like `variance`: null for a single value.
        case standardDeviation = "stddev"
        case variance = "var"
        /// Interpolates between the two values next to the place.
        case percentileContinuous = "percentile_cont"
        /// The first value at or after the place.
        case percentileDiscrete = "percentile_disc"

        package var isPercentile: Bool { self == .percentileContinuous || self == .percentileDiscrete }
    }

    package struct Statistic: Sendable, Hashable {
        package var kind: Kind
        /// What is counted, added or ordered; nil counts the features.
        package var value: SQLExpression?
        /// The place of a percentile, 0 to 1.
        package var fraction: Double
        /// Whether a percentile is counted from the largest value.
        package var isDescending: Bool
        package var field: FieldDefinition

        package init(
            kind: Kind, value: SQLExpression?, fraction: Double = 0, isDescending: Bool = false, field: FieldDefinition
        ) {
            self.kind = kind
            self.value = value
            self.fraction = fraction
            self.isDescending = isDescending
            self.field = field
        }
    }

    /// What all geometries of a group make together.
    package enum GeometryKind: String, Sendable, Hashable, CaseIterable {
        case envelope = "envelopeaggregate"
        /// The centre of gravity: of areas by their size, of lines by their length, of points by their number.
        case centroid = "centroidaggregate"
        case convexHull = "convexhullaggregate"
    }

    package struct GeometryStatistic: Sendable, Hashable {
        package var kind: GeometryKind
        /// The member of `aggregateGeometries`.
        package var name: String

        package init(kind: GeometryKind, name: String) {
            self.kind = kind
            self.name = name
        }
    }

    package struct Group: Sendable, Hashable {
        package var value: SQLExpression
        package var field: FieldDefinition

        package init(value: SQLExpression, field: FieldDefinition) {
            self.value = value
            self.field = field
        }
    }

    /// Which features, and with `offset` and `limit` which rows of the answer. Its order and fields mean nothing here.
    package var features: FeatureQuery
    package var statistics: [Statistic]
    /// Geometries are no columns: they stand beside the attributes, and no condition can name them.
    package var geometries: [GeometryStatistic] = []
    /// The reference in which geometries are stored.
    package var spatialReference: SpatialReference?
    package var groups: [Group]
    /// Aggregates that only `having` or the order names: no columns of the answer.
    package var hiddenStatistics: [Statistic]
    /// Over the columns of `definition`.
    package var having: SQLExpression?
    package var order: [FeatureQuery.OrderTerm]

    package init(
        features: FeatureQuery, statistics: [Statistic], groups: [Group] = [], hiddenStatistics: [Statistic] = [],
        having: SQLExpression? = nil, order: [FeatureQuery.OrderTerm] = []
    ) {
        self.features = features
        self.statistics = statistics
        self.groups = groups
        self.hiddenStatistics = hiddenStatistics
        self.having = having
        self.order = order
    }

    /// The columns of the answer, in order.
    package var fields: [FieldDefinition] { statistics.map(\.field) + groups.map(\.field) }

    /// The rows of statistics as the rows of a table, so that `having` and the order are conditions like any other.
    package var definition: LayerDefinition {
        LayerDefinition(id: 0, name: "statistics", fields: fields + hiddenStatistics.map(\.field))
    }
}
