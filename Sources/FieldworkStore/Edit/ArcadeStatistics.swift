package import FieldworkArcade
import FieldworkGeometry
package import FieldworkREST

/// Statistics and groups that a script asks for, as a query of the database. Only what the database computes as the interpreter does:
/// of fields, and of sums, differences and products of numbers.
package struct ArcadeStatistics: Sendable {
    private enum Source: Sendable {
        case column(Int)
        /// The variance of a sample, of which that of the population is made with the number of values.
        case spread(Int, count: Int, isDeviation: Bool)
        /// The sum of nothing is 0.
        case sum(Int)
    }

    private var statistics: [StatisticsQuery.Statistic] = []
    private var groups: [StatisticsQuery.Group] = []
    private var sources: [Source] = []
    private let layer: LayerDefinition

    /// nil where the interpreter has to do it.
    package init?(_ columns: [ArcadeGrouping.Column], of layer: LayerDefinition) {
        self.layer = layer
        let statisticCount = columns.reduce(0) { count, column in
            guard let statistic = column.statistic else { return count }
            return count + (statistic == .stdev || statistic == .variance ? 2 : 1)
        }
        for column in columns {
            guard let (value, field) = Self.value(column.expression, layer) else { return nil }
            guard let statistic = column.statistic else {
                sources.append(.column(statisticCount + groups.count))
                var named = field
                named.name = "g\(groups.count)"
                groups.append(StatisticsQuery.Group(value: value, field: named))
                continue
            }
            if ![.count, .min, .max].contains(statistic), !field.type.isNumeric { return nil }
            let place = statistics.count
            switch statistic {
            case .count:
                add(.count, value, .double)
                sources.append(.column(place))
            case .sum:
                add(.sum, value, .double)
                sources.append(.sum(place))
            case .average:
                add(.average, value, .double)
                sources.append(.column(place))
            case .min, .max:
                add(statistic == .min ? .minimum : .maximum, value, field.type)
                sources.append(.column(place))
            case .stdev, .variance:
                add(.variance, value, .double)
                add(.count, value, .double)
                sources.append(.spread(place, count: place + 1, isDeviation: statistic == .stdev))
            }
        }
    }

    private mutating func add(_ kind: StatisticsQuery.Kind, _ value: FieldworkREST.SQLExpression, _ type: FieldType) {
        let field = FieldDefinition(name: "v\(statistics.count)", type: type)
        statistics.append(StatisticsQuery.Statistic(kind: kind, value: value, field: field))
    }

    /// An expression in the store's words, with the field that its values would have.
    private static func value(
        _ expression: FieldworkArcade.SQLExpression, _ layer: LayerDefinition
    ) -> (FieldworkREST.SQLExpression, FieldDefinition)? {
        guard let value = try? FieldworkREST.SQLParser.parse(expression: expression.text) else { return nil }
        if case .field(let name) = expression {
            guard let field = layer.field(named: name), ![.geometry, .blob, .raster].contains(field.type) else {
                return nil
            }
            return (value, FieldDefinition(name: field.name, type: field.type))
        }
        return isNumeric(expression, layer) ? (value, FieldDefinition(name: "", type: .double)) : nil
    }

    /// Databases divide whole numbers by whole numbers in their own ways: quotients are left out.
    private static func isNumeric(_ expression: FieldworkArcade.SQLExpression, _ layer: LayerDefinition) -> Bool {
        switch expression {
        case .literal(.number): true
        case .field(let name): layer.field(named: name)?.type.isNumeric == true
        case .arithmetic(let sign, let one, let other):
            ["+", "-", "*"].contains(sign) && isNumeric(one, layer) && isNumeric(other, layer)
        default: false
        }
    }

    /// The query over features that are chosen otherwise.
    package func query(over features: FeatureQuery) -> StatisticsQuery {
        StatisticsQuery(features: features, statistics: statistics, groups: groups)
    }

    /// A row of the database's answer in the order of the columns that were asked for.
    package func values(_ row: [AttributeValue]) -> [ArcadeValue] {
        let fields = statistics.map(\.field) + groups.map(\.field)
        let values = zip(row, fields).map { ArcadeValue($0, of: StoredColumn($1)) }
        func number(_ place: Int) -> Double? {
            if case .number(let number) = values[place] { number } else { nil }
        }
        return sources.map { source in
            switch source {
            case .column(let place): return values[place]
            case .sum(let place): return .number(number(place) ?? 0)
            case .spread(let place, let count, let isDeviation):
                guard let count = number(count), count > 0 else { return .null }
                // That of one value is unknown to a sample, and nothing to a population.
                let variance = max(0, (number(place) ?? 0) * (count - 1) / count)
                return .number(isDeviation ? variance.squareRoot() : variance)
            }
        }
    }
}
