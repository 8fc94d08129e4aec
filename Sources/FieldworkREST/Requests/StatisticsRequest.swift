import FieldworkGeometry

extension StatisticsQuery {
    private static let aggregates: [String: Aggregate] = [
        "count": .count, "sum": .sum, "min": .minimum, "max": .maximum, "avg": .average,
        "stddev": .standardDeviation, "var": .variance,
    ]

    /// Reads `outStatistics` and its company; nil when the request asks for none.
    init?(
        _ parameters: RequestParameters, filter: FeatureQuery, layer: LayerDefinition, limit: Int
    ) throws(ServiceError) {
        guard let list = try parameters.json("outStatistics"), !list.isNull, list.arrayValue?.isEmpty != true else {
            for name in ["groupByFieldsForStatistics", "having"] where parameters[name] != nil {
                throw .invalidQuery("'\(name)' needs 'outStatistics'.")
            }
            return nil
        }
        guard let definitions = list.arrayValue else { throw .invalidParameter("'outStatistics' must be a list.") }
        guard definitions.count <= Limits.statistics else {
            throw .invalidParameter("'outStatistics' has more than \(Limits.statistics) statistics.")
        }
        var statistics: [Statistic] = []
        for definition in definitions { statistics.append(try Self.statistic(definition, layer)) }
        self.init(
            filter: filter, statistics: statistics, groups: try Self.groups(parameters, layer),
            offset: try QueryRequest.nonNegative("resultOffset", parameters) ?? 0, limit: limit)
        try readHaving(parameters, layer)
        try readOrder(parameters)
    }

    // MARK: Statistics

    private static func statistic(_ json: JSONValue, _ layer: LayerDefinition) throws(ServiceError) -> Statistic {
        guard let type = json["statisticType"]?.stringValue?.lowercased() else {
            throw .invalidParameter("A statistic of 'outStatistics' has no 'statisticType'.")
        }
        let aggregate: Aggregate
        switch type {
        case "percentile_cont", "percentile_disc":
            aggregate = try percentile(json, isContinuous: type.hasSuffix("cont"))
        default:
            guard let known = aggregates[type] else {
                throw .invalidQuery("The statistic '\(type.prefix(32))' is not supported.")
            }
            aggregate = known
        }
        let text = json["onStatisticField"]?.stringValue ?? ""
        // `*` and no field at all count rows.
        let countsRows = aggregate == .count && (text.isEmpty || text == "*" || text == "1")
        let value = countsRows ? nil : try expression(text, "onStatisticField", layer)
        let name = json["outStatisticFieldName"]?.stringValue ?? ""
        guard name.utf8.count <= Limits.statisticNameBytes else {
            throw .invalidParameter("A name of 'outStatistics' is too long.")
        }
        let outName = name.isEmpty ? "\(type)_\(text)" : name
        return Statistic(
            aggregate: aggregate, value: value, field: try field(named: outName, of: aggregate, value, layer))
    }

    private static func percentile(_ json: JSONValue, isContinuous: Bool) throws(ServiceError) -> Aggregate {
        let parameters = json["statisticParameters"]
        guard let share = parameters?["value"]?.doubleValue, share >= 0, share <= 1 else {
            throw .invalidParameter("A percentile needs 'statisticParameters' with a 'value' between 0 and 1.")
        }
        let order = parameters?["orderBy"]?.stringValue?.uppercased() ?? "ASC"
        guard ["ASC", "DESC"].contains(order) else { throw .invalidParameter("'orderBy' must be ASC or DESC.") }
        return .percentile(share: share, isContinuous: isContinuous, isDescending: order == "DESC")
    }

    private static func expression(
        _ text: String, _ parameter: String, _ layer: LayerDefinition
    ) throws(ServiceError) -> SQLExpression {
        do {
            return try SQLParser.parse(expression: text).bound(to: layer)
        } catch let error as SQLParseError {
            throw .invalidQuery("'\(parameter)': \(error.description)")
        } catch let error as ServiceError {
            throw error
        } catch {
            throw .invalidQuery("'\(parameter)' is invalid.")
        }
    }

    /// The column of a statistic: counts are whole numbers, extremes keep the field's type, all else are real numbers.
    private static func field(
        named name: String, of aggregate: Aggregate, _ value: SQLExpression?, _ layer: LayerDefinition
    ) throws(ServiceError) -> FieldDefinition {
        var source: FieldDefinition?
        if case .field(let name)? = value { source = layer.field(named: name) }
        switch aggregate {
        case .count: return FieldDefinition(name: name, type: .integer)
        case .minimum, .maximum:
            let type = source?.type ?? .double
            // An object id of the answer it is not.
            return FieldDefinition(name: name, type: type == .oid ? .integer : type, length: source?.length ?? 0)
        default:
            if let source, ![.smallInteger, .integer, .bigInteger, .single, .double, .oid].contains(source.type) {
                guard case .percentile(_, let isContinuous, _) = aggregate, !isContinuous || source.type == .date else {
                    throw .invalidQuery("The field \(source.name) is no number: it has counts and extremes only.")
                }
                return FieldDefinition(name: name, type: source.type, length: source.length)
            }
            return FieldDefinition(name: name, type: .double)
        }
    }

    // MARK: Groups, having, order

    private static func groups(_ parameters: RequestParameters, _ layer: LayerDefinition) throws(ServiceError)
        -> [Group]
    {
        guard let text = parameters["groupByFieldsForStatistics"] else { return [] }
        let terms: [FeatureQuery.OrderTerm]
        do {
            terms = try SQLParser.parse(orderBy: text)
        } catch {
            throw .invalidQuery("'groupByFieldsForStatistics': \(error.description)")
        }
        guard terms.count <= Limits.statistics else {
            throw .invalidParameter("'groupByFieldsForStatistics' has more than \(Limits.statistics) fields.")
        }
        var groups: [Group] = []
        for (index, term) in terms.enumerated() {
            let expression = try term.expression.bound(to: layer)
            if case .field(let name) = expression, let field = layer.field(named: name) {
                groups.append(Group(expression: expression, field: field.asColumn))
            } else {
                groups.append(
                    Group(expression: expression, field: FieldDefinition(name: "EXPR_\(index + 1)", type: .string)))
            }
        }
        return groups
    }

    private mutating func readHaving(_ parameters: RequestParameters, _ layer: LayerDefinition) throws(ServiceError) {
        guard let text = parameters["having"] else { return }
        let parsed: SQLHaving
        do {
            parsed = try SQLParser.parse(having: text)
        } catch {
            throw .invalidQuery("'having': \(error.description)")
        }
        for call in parsed.calls {
            guard let aggregate = Self.aggregates[call.function.lowercased()] else {
                throw .invalidQuery("'having': the function \(call.function) is not supported.")
            }
            havingAggregates.append(
                Statistic(
                    aggregate: aggregate, value: try call.argument?.bound(to: layer),
                    field: FieldDefinition(name: "", type: .double)))
        }
        let known = Set(
            fields.map { $0.name.lowercased() } + havingAggregates.indices.map { Self.placeholder($0) })
        if let unknown = parsed.condition.fieldNames.first(where: { !known.contains($0.lowercased()) }) {
            throw .invalidQuery("'having' names '\(unknown.prefix(64))', which is neither a group nor a statistic.")
        }
        having = parsed.condition
    }

    private mutating func readOrder(_ parameters: RequestParameters) throws(ServiceError) {
        guard let text = parameters["orderByFields"] else { return }
        let terms: [FeatureQuery.OrderTerm]
        do {
            terms = try SQLParser.parse(orderBy: text)
        } catch {
            throw .invalidQuery("'orderByFields': \(error.description)")
        }
        for term in terms {
            guard case .field(let name) = term.expression,
                let column = fields.firstIndex(where: { $0.name.lowercased() == name.lowercased() })
            else { throw .invalidQuery("'orderByFields' must name groups or statistics here.") }
            order.append(OrderTerm(column: column, isDescending: term.isDescending))
        }
    }
}

extension FieldDefinition {
    /// The field as a column of statistics: values of it, not of features.
    fileprivate var asColumn: FieldDefinition {
        FieldDefinition(
            name: name, alias: alias, type: type == .oid ? .integer : type, length: length, domain: domain)
    }
}
