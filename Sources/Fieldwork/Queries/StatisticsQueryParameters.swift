public import FieldworkGeometry
import Synchronization

/// A number that is made of the values of a field.
public final class StatisticDefinition: Sendable {
    /// What is made of the values. Nulls do not count.
    public enum StatisticType: Sendable {
        /// The mean, the number of values, the greatest and the least.
        case average, count, maximum, minimum
        /// How far values are from the mean: of a sample, divided by one less than their number.
        case standardDeviation, variance
        /// The sum.
        case sum
    }

    /// The field.
    public let fieldName: String
    /// What is made of its values.
    public let statisticType: StatisticType
    /// The name of the number in the records; by default the kind and the field, for example `AVG_DBH`.
    public let outputAlias: String

    /// A number of a field's values.
    public init(fieldName: String, statisticType: StatisticType, outputAlias: String = "") {
        self.fieldName = fieldName
        self.statisticType = statisticType
        self.outputAlias = outputAlias
    }

    var name: String { outputAlias.isEmpty ? "\(statisticType.prefix)_\(fieldName)" : outputAlias }
}

extension StatisticDefinition.StatisticType {
    fileprivate var prefix: String {
        switch self {
        case .average: "AVG"
        case .count: "COUNT"
        case .maximum: "MAX"
        case .minimum: "MIN"
        case .standardDeviation: "STDDEV"
        case .sum: "SUM"
        case .variance: "VAR"
        }
    }

    var statistic: ValueStatistic {
        switch self {
        case .average: .avg
        case .count: .count
        case .maximum: .max
        case .minimum: .min
        case .standardDeviation: .stddev
        case .sum: .sum
        case .variance: .var
        }
    }
}

/// Which numbers are made of which features, and how these are grouped.
public final class StatisticsQueryParameters: Sendable {
    struct Values: Sendable {
        var whereClause = ""
        var geometry: Geometry?
        var spatialRelationship = SpatialRelationship.intersects
        var groupByFieldNames: [String] = []
        var orderByFields: [OrderBy] = []
        var maxFeatures = 0
    }

    /// The numbers.
    public let statisticDefinitions: [StatisticDefinition]
    private let state = Mutex(Values())

    /// Numbers of all features.
    public init(statisticDefinitions: [StatisticDefinition]) { self.statisticDefinitions = statisticDefinitions }

    var values: Values { state.withLock { $0 } }

    /// A condition in SQL; empty for none.
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

    /// The fields whose values make a group; none for one group of all features.
    public var groupByFieldNames: [String] { values.groupByFieldNames }

    /// Groups by a field as well.
    public func addGroupByFieldName(_ name: String) { addGroupByFieldNames([name]) }

    /// Groups by fields as well.
    public func addGroupByFieldNames(_ names: [String]) { state.withLock { $0.groupByFieldNames += names } }

    /// The order of the records, by group fields and by the names of numbers; without keys the order of the groups' values.
    public var orderByFields: [OrderBy] { values.orderByFields }

    /// Adds a key of the order.
    public func addOrderByField(_ field: OrderBy) { addOrderByFields([field]) }

    /// Adds keys of the order.
    public func addOrderByFields(_ fields: [OrderBy]) { state.withLock { $0.orderByFields += fields } }

    /// The most records to give; 0 for no limit.
    public var maxFeatures: Int {
        get { values.maxFeatures }
        set { state.withLock { $0.maxFeatures = max(0, newValue) } }
    }
}

/// The numbers of each group.
public final class StatisticsQueryResult: Sendable {
    private let records: [StatisticRecord]

    init(records: [StatisticRecord]) { self.records = records }

    /// One record a group.
    public func statisticRecords() -> AnySequence<StatisticRecord> { AnySequence(records) }
}

/// The numbers of one group.
public final class StatisticRecord: Sendable {
    /// The values that make the group, by field name; a null is left out.
    public let group: [String: any Sendable]
    /// The numbers by name; one that there are no values for is left out.
    public let statistics: [String: any Sendable]

    init(group: [String: any Sendable], statistics: [String: any Sendable]) {
        self.group = group
        self.statistics = statistics
    }
}
