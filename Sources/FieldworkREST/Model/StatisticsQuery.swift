/// A query for statistics (rest-api §3.7), already parsed and checked against the layer: one row a group.
package struct StatisticsQuery: Sendable, Hashable {
    /// Which features are counted.
    package var filter: FeatureQuery
    package var statistics: [Statistic]
    package var groups: [Group]
    /// What a group has to meet. Its fields are names of groups and of statistics, and `placeholder` names.
    package var having: SQLExpression?
    /// The aggregates that `having` names by placeholders.
    package var havingAggregates: [Statistic]
    package var order: [OrderTerm]
    package var offset: Int
    package var limit: Int

    package struct Statistic: Sendable, Hashable {
        package var aggregate: Aggregate
        /// nil for all rows, whatever their values.
        package var value: SQLExpression?
        package var field: FieldDefinition

        package init(aggregate: Aggregate, value: SQLExpression?, field: FieldDefinition) {
            self.aggregate = aggregate
            self.value = value
            self.field = field
        }
    }

    package enum Aggregate: Sendable, Hashable {
        case count, sum, minimum, maximum, average, standardDeviation, variance
        /// The value below which a share of the values lies: between two of them, or one of them.
        case percentile(share: Double, isContinuous: Bool, isDescending: Bool)
    }

    package struct Group: Sendable, Hashable {
        package var expression: SQLExpression
        package var field: FieldDefinition

        package init(expression: SQLExpression, field: FieldDefinition) {
            self.expression = expression
            self.field = field
        }
    }

    /// By a column of the answer.
    package struct OrderTerm: Sendable, Hashable {
        package var column: Int
        package var isDescending: Bool

        package init(column: Int, isDescending: Bool) {
            self.column = column
            self.isDescending = isDescending
        }
    }

    package init(
        filter: FeatureQuery, statistics: [Statistic], groups: [Group] = [], having: SQLExpression? = nil,
        havingAggregates: [Statistic] = [], order: [OrderTerm] = [], offset: Int = 0, limit: Int
    ) {
        self.filter = filter
        self.statistics = statistics
        self.groups = groups
        self.having = having
        self.havingAggregates = havingAggregates
        self.order = order
        self.offset = offset
        self.limit = limit
    }

    /// The columns of the answer: statistics, then groups.
    package var fields: [FieldDefinition] { statistics.map(\.field) + groups.map(\.field) }

    /// Stands in `having` for an aggregate; no field can be named so.
    package static func placeholder(_ index: Int) -> String { "#\(index)" }
}

/// The rows of a query for statistics, values in the order of its fields.
package struct StatisticsResult: Sendable, Hashable {
    package var rows: [[AttributeValue]]
    /// Whether there are more than the limit lets through.
    package var exceededTransferLimit: Bool

    package init(rows: [[AttributeValue]], exceededTransferLimit: Bool) {
        self.rows = rows
        self.exceededTransferLimit = exceededTransferLimit
    }
}
