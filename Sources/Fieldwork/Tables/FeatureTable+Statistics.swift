import FieldworkGeometry
import FieldworkREST
import Foundation

extension FeatureTable {
    /// Numbers of the features that parameters choose, local edits included. They are made on this device of the fields
    /// that are needed, so that they count edits that the service does not have. Throws `CommonError.invalidArgument`
    /// for fields that are not there, and when there are more features than a query gathers.
    public func queryStatistics(using parameters: StatisticsQueryParameters) async throws -> StatisticsQueryResult {
        let layer = try await loadedSource().layer
        let maker = try StatisticsMaker(parameters, layer: layer)
        let query = QueryParameters()
        query.whereClause = parameters.whereClause
        query.geometry = parameters.geometry
        query.spatialRelationship = parameters.spatialRelationship
        query.returnsGeometry = false
        let found = try await self.query(query, outFields: Array(Set(maker.fieldNames + [layer.objectIDField])))
        guard !found.isTransferLimitExceeded else {
            throw CommonError.invalidArgument(
                details: "More than \(Limits.queriedFeatures) features are meant: statistics of a part would be wrong.")
        }
        return StatisticsQueryResult(records: maker.records(of: found.features().lazy.map(\.attributes)))
    }
}

/// Groups rows and makes numbers of each group.
struct StatisticsMaker {
    private let definitions: [(name: String, field: String, statistic: ValueStatistic)]
    private let groupFields: [String]
    private let values: StatisticsQueryParameters.Values

    init(_ parameters: StatisticsQueryParameters, layer: LayerDefinition) throws {
        func field(_ name: String) throws -> String {
            guard let field = layer.field(named: name) else {
                throw CommonError.invalidArgument(details: "The table \(layer.name) has no field \(name).")
            }
            return field.name
        }
        guard !parameters.statisticDefinitions.isEmpty else {
            throw CommonError.invalidArgument(details: "No statistic is asked for.")
        }
        definitions = try parameters.statisticDefinitions.map {
            ($0.name, try field($0.fieldName), $0.statisticType.statistic)
        }
        values = parameters.values
        groupFields = try values.groupByFieldNames.map(field)
    }

    /// The fields that are looked at.
    var fieldNames: [String] { Array(Set(groupFields + definitions.map(\.field))).sorted() }

    func records(of rows: some Sequence<[String: any Sendable]>) -> [StatisticRecord] {
        var groups: [[AnyHashable?]: (values: [String: any Sendable], columns: [String: [(any Sendable)?]])] = [:]
        for row in rows {
            let key = groupFields.map { row[$0].flatMap { $0 as? any Hashable }.map { AnyHashable($0) } }
            var group = groups[key] ?? (row.filter { groupFields.contains($0.key) }, [:])
            for field in Set(definitions.map(\.field)) { group.columns[field, default: []].append(row[field]) }
            groups[key] = group
        }
        // Without groups there is one record, of no features as well.
        if groups.isEmpty, groupFields.isEmpty { groups[[]] = ([:], [:]) }
        let records = groups.values.map { group in
            var statistics: [String: any Sendable] = [:]
            for (name, field, statistic) in definitions {
                statistics[name] = statistic.extremeOrValue(of: group.columns[field] ?? [])
            }
            return StatisticRecord(group: group.values, statistics: statistics)
        }
        let sorted = records.sorted(by: isBefore)
        return values.maxFeatures > 0 ? Array(sorted.prefix(values.maxFeatures)) : sorted
    }

    private func isBefore(_ one: StatisticRecord, _ other: StatisticRecord) -> Bool {
        func value(_ record: StatisticRecord, _ name: String) -> (any Sendable)? {
            let matches = { (entry: (key: String, value: any Sendable)) in entry.key.lowercased() == name.lowercased() }
            return record.statistics.first(where: matches)?.value ?? record.group.first(where: matches)?.value
        }
        let keys =
            values.orderByFields.map { ($0.fieldName, $0.sortOrder == .descending) } + groupFields.map { ($0, false) }
        for (name, isDescending) in keys {
            let (first, second) = (value(one, name), value(other, name))
            if let isLess = ValueOrder.isLess(first, second) { return isLess != isDescending }
        }
        return false
    }
}

/// The order of values as people and stores see it.
enum ValueOrder {
    /// nil when equal or of kinds that have no order. Null comes first.
    static func isLess(_ one: (any Sendable)?, _ other: (any Sendable)?) -> Bool? {
        switch (one, other) {
        case (nil, nil): return nil
        case (nil, _): return true
        case (_, nil): return false
        case (let one?, let other?):
            if let first = one as? String, let second = other as? String {
                return first == second ? nil : first.unicodeScalars.lexicographicallyPrecedes(second.unicodeScalars)
            }
            if let first = RendererFields.number(one), let second = RendererFields.number(other) {
                return first == second ? nil : first < second
            }
            let (first, second) = ("\(one)", "\(other)")
            return first == second ? nil : first < second
        }
    }
}

extension ValueStatistic {
    /// Like `value`, but the least and the greatest keep the field's own type: a date is a date, a text a text.
    func extremeOrValue(of values: [(any Sendable)?]) -> (any Sendable)? {
        if self == .count {
            // Clients of the vendor's SDK read counts as `Int`.
            return (value(of: values) as? Int64).map { Int(clamping: $0) }
        }
        guard self == .min || self == .max else { return value(of: values) }
        return values.compactMap(\.self).reduce(nil as (any Sendable)?) { best, value in
            guard let best else { return value }
            let isBetter = self == .min ? ValueOrder.isLess(value, best) : ValueOrder.isLess(best, value)
            return isBetter == true ? value : best
        }
    }
}
