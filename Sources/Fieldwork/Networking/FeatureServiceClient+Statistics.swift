import FieldworkGeometry
import FieldworkREST
import Foundation

extension FeatureServiceClient {
    /// Rows of statistics over the features of a query, each in the order of its columns; nil where the service can't compute them or
    /// can't give all groups at once.
    func statistics(
        _ statistics: StatisticsQuery, of query: LayerQuery, in layer: LayerDefinition
    ) async throws -> [[AttributeValue]]? {
        let abilities = QueryAbilities(layer)
        guard abilities.orders, statistics.statistics.isEmpty ? abilities.tellsApart : abilities.computes,
            let columns = StatisticsColumns(statistics, of: layer)
        else { return nil }
        let url = root.appending(path: "\(layer.id)/query")
        let asked = query.filterParameters + columns.parameters + [("f", "json")]
        let json = try await json(ServiceRequest(url, asked))
        guard let features = json["features"]?.arrayValue else {
            throw ServiceError.unknown(details: "The answer to a query for statistics has no rows.")
        }
        guard json["exceededTransferLimit"]?.boolValue != true else { return nil }
        return try features.map { feature in
            guard let attributes = feature["attributes"]?.objectValue, let row = columns.row(attributes) else {
                throw ServiceError.unknown(details: "A row of statistics lacks a column that was asked for.")
            }
            return row
        }
    }
}

/// The columns of statistics in the protocol's words: those of plain fields.
private struct StatisticsColumns {
    let parameters: [(name: String, value: String)]
    /// What the answer calls the columns, in their order, and what each holds.
    private let columns: [(name: String, type: FieldworkREST.FieldType)]

    /// nil where something else than a field is counted, added or grouped by: not every service computes expressions as this device does.
    init?(_ query: StatisticsQuery, of layer: LayerDefinition) {
        var definitions: [JSONValue] = []
        var columns: [(name: String, type: FieldworkREST.FieldType)] = []
        for statistic in query.statistics {
            let field: String
            switch statistic.value {
            case .field(let name)?:
                guard let own = layer.field(named: name)?.name else { return nil }
                field = own
            case nil, .literal?:
                guard statistic.kind == .count else { return nil }
                field = layer.objectIDField
            default: return nil
            }
            columns.append((statistic.field.name, statistic.field.type))
            definitions.append([
                "statisticType": .string(statistic.kind.rawValue), "onStatisticField": .string(field),
                "outStatisticFieldName": .string(statistic.field.name),
            ])
        }
        var groups: [String] = []
        for group in query.groups {
            guard case .field(let name) = group.value, let field = layer.field(named: name) else { return nil }
            groups.append(field.name)
            columns.append((field.name, field.type))
        }
        self.columns = columns
        var parameters = [(name: "returnGeometry", value: "false")]
        let names = groups.joined(separator: ",")
        if !groups.isEmpty { parameters.append(("orderByFields", names)) }
        if definitions.isEmpty {
            parameters += [("returnDistinctValues", "true"), ("outFields", names)]
        } else {
            parameters.append(("outStatistics", JSONValue.array(definitions).text))
            if !groups.isEmpty { parameters.append(("groupByFieldsForStatistics", names)) }
        }
        self.parameters = parameters
    }

    /// The values of a row; nil where one is missing. Some services write names in their own case.
    func row(_ attributes: JSONObject) -> [AttributeValue]? {
        var row: [AttributeValue] = []
        for (name, type) in columns {
            let found =
                attributes[name] ?? attributes.members.first { $0.key.lowercased() == name.lowercased() }?.value
            guard let found else { return nil }
            row.append(AttributeConversion.normalised(AttributeValue(json: found), type: type))
        }
        return row
    }
}
