import FieldworkGeometry

extension StatisticsQuery {
    /// The statistics that a `query` asks for; nil when it asks for none.
    ///
    /// - Parameters:
    ///   - filter: which features.
    ///   - limit: the most rows of the answer.
    init?(
        _ parameters: RequestParameters, filter: FeatureQuery, limit: Int, layer: LayerDefinition,
        format: QueryRequest.Format
    ) throws(ServiceError) {
        guard let list = try parameters.json("outStatistics"), !list.isNull, list != .array([]) else {
            for name in ["groupByFieldsForStatistics", "having"] where parameters[name] != nil {
                throw .invalidQuery("'\(name)' needs 'outStatistics'.")
            }
            return nil
        }
        guard let elements = list.arrayValue, elements.count <= Limits.statisticCount else {
            throw .invalidQuery("'outStatistics' must be a list of at most \(Limits.statisticCount) statistics.")
        }
        var statistics: [Statistic] = []
        var geometries: [GeometryStatistic] = []
        for element in elements {
            if let geometry = try GeometryStatistic(element, layer: layer) {
                geometries.append(geometry)
            } else {
                statistics.append(try Statistic(element, layer: layer))
            }
        }
        self.init(features: filter, statistics: statistics, groups: try Self.groups(parameters, layer))
        try add(geometries, parameters, layer: layer, format: format)
        features.limit = limit
        features.offset = try QueryRequest.nonNegative("resultOffset", parameters) ?? 0
        var names: Set<String> = []
        for name in fields.map(\.name) + geometries.map(\.name) where !names.insert(name.lowercased()).inserted {
            throw .invalidQuery("Two columns of the answer are called '\(name.prefix(64))'.")
        }
        if let text = parameters["having"] {
            having = try bound(
                try Self.parsed(
                    "having",
                    { () throws(SQLParseError) in
                        try SQLParser.parse(having: text)
                    }), "having", layer)
        }
        if let text = parameters["orderByFields"] {
            let terms = try Self.parsed("orderByFields") { () throws(SQLParseError) in
                try SQLParser.parse(statisticsOrder: text)
            }
            for term in terms.terms {
                let aggregated = SQLParser.Aggregated(expression: term.expression, aggregates: terms.aggregates)
                order.append(
                    .init(
                        expression: try bound(aggregated, "orderByFields", layer), isDescending: term.isDescending))
            }
        }
    }

    private static func parsed<Result>(
        _ parameter: String, _ parse: () throws(SQLParseError) -> Result
    ) throws(ServiceError) -> Result {
        do {
            return try parse()
        } catch {
            throw .invalidQuery("'\(parameter)': \(error.description)")
        }
    }

    // MARK: Groups

    private static func groups(
        _ parameters: RequestParameters, _ layer: LayerDefinition
    ) throws(ServiceError) -> [Group] {
        guard let text = parameters["groupByFieldsForStatistics"] else { return [] }
        let terms = try parsed("groupByFieldsForStatistics") { () throws(SQLParseError) in
            try SQLParser.parse(orderBy: text)
        }
        guard terms.count <= Limits.groupFieldCount else {
            throw .invalidQuery("'groupByFieldsForStatistics' names too many fields.")
        }
        var groups: [Group] = []
        for (index, term) in terms.enumerated() {
            let value = try term.expression.bound(to: layer)
            if case .field(let name) = value, var field = layer.field(named: name) {
                if field.type == .oid { field.type = .integer }
                groups.append(Group(value: value, field: field))
            } else {
                let type = value.kind(in: layer).fieldType
                groups.append(Group(value: value, field: FieldDefinition(name: "EXPR_\(index + 1)", type: type)))
            }
        }
        return groups
    }

    // MARK: Aggregates in conditions

    /// The expression over the columns of the answer: an aggregate is the column that has it, or a hidden one; a group's
    /// expression is the group's column.
    private mutating func bound(
        _ aggregated: SQLParser.Aggregated, _ parameter: String, _ layer: LayerDefinition
    ) throws(ServiceError) -> SQLExpression {
        var names: [String: String] = [:]
        for aggregate in aggregated.aggregates where aggregated.expression.fieldNames.contains(aggregate.name) {
            names[aggregate.name] = try column(of: aggregate, layer)
        }
        if case .field = aggregated.expression {
        } else if let own = try? aggregated.expression.bound(to: layer),
            let group = groups.first(where: { $0.value == own })
        {
            return .field(group.field.name)
        }
        return try aggregated.expression.renamingFields { names[$0] ?? $0 }.bound(to: definition)
    }

    private mutating func column(
        of aggregate: SQLParser.Aggregate, _ layer: LayerDefinition
    ) throws(ServiceError) -> String {
        let value = try aggregate.value?.statisticValue(in: layer)
        if let known = (statistics + hiddenStatistics).first(where: { $0.kind == aggregate.kind && $0.value == value })
        {
            return known.field.name
        }
        guard hiddenStatistics.count < Limits.statisticCount else {
            throw .invalidQuery("There are too many aggregates.")
        }
        var name = "$\(hiddenStatistics.count)"
        // A client may call a column of the answer whatever it likes.
        while definition.field(named: name) != nil { name += "$" }
        hiddenStatistics.append(
            try Statistic(
                kind: aggregate.kind, value: value, fraction: 0, isDescending: false, name: name, layer: layer))
        return name
    }
}

extension StatisticsQuery.Statistic {
    /// One element of `outStatistics`.
    fileprivate init(_ json: JSONValue, layer: LayerDefinition) throws(ServiceError) {
        guard let object = json.objectValue, let typeName = object.string("statisticType") else {
            throw .invalidQuery("Each of 'outStatistics' needs a 'statisticType'.")
        }
        guard let kind = StatisticsQuery.Kind(rawValue: typeName.lowercased()) else {
            throw .invalidQuery("The statistic '\(typeName.prefix(32))' is not supported.")
        }
        let fieldText = object.string("onStatisticField") ?? ""
        var value: SQLExpression?
        if fieldText != "*" || kind != .count {
            do {
                value = try SQLParser.parse(expression: fieldText).statisticValue(in: layer)
            } catch let error as SQLParseError {
                throw .invalidQuery("'onStatisticField': \(error.description)")
            } catch let error as ServiceError {
                throw error
            } catch {
                throw .invalidQuery("'onStatisticField' can't be read.")
            }
        }
        let parameters = object["statisticParameters"]
        let fraction = parameters?["value"]?.doubleValue
        if kind.isPercentile, fraction.map({ (0...1).contains($0) }) != true {
            throw .invalidQuery("A percentile needs 'statisticParameters' with a 'value' from 0 to 1.")
        }
        let named = object.string("outStatisticFieldName").flatMap { $0.isEmpty ? nil : $0 }
        let plain = value.flatMap { value -> String? in if case .field(let name) = value { name } else { nil } }
        try self.init(
            kind: kind, value: value, fraction: fraction ?? 0,
            isDescending: parameters?["orderBy"]?.stringValue?.uppercased() == "DESC",
            name: named ?? "\(kind.rawValue)_\(plain ?? "EXPR")", layer: layer)
    }

    /// Throws when the statistic makes no sense for the values.
    fileprivate init(
        kind: StatisticsQuery.Kind, value: SQLExpression?, fraction: Double, isDescending: Bool, name: String,
        layer: LayerDefinition
    ) throws(ServiceError) {
        let valueKind = value?.kind(in: layer) ?? .null
        let isNumber = [.number, .interval, .truth, .null].contains(valueKind)
        let type: FieldType
        switch kind {
        case .count: type = .integer
        case .sum, .average, .standardDeviation, .variance:
            guard isNumber else { throw .invalidQuery("'\(kind.rawValue)' needs numbers.") }
            type = .double
        case .percentileContinuous:
            guard isNumber || valueKind == .date else {
                throw .invalidQuery("'\(kind.rawValue)' needs numbers or dates.")
            }
            type = valueKind == .date ? .date : .double
        case .minimum, .maximum, .percentileDiscrete: type = Self.type(of: value, valueKind, layer)
        }
        self.init(
            kind: kind, value: value, fraction: fraction, isDescending: isDescending,
            field: FieldDefinition(name: name, type: type))
    }

    /// A column of a field's values has the field's type, but an object id that was chosen is a number like others.
    private static func type(
        of value: SQLExpression?, _ kind: SQLValueKind, _ layer: LayerDefinition
    ) -> FieldType {
        guard case .field(let name)? = value, let field = layer.field(named: name) else { return kind.fieldType }
        switch field.type {
        case .oid: return .integer
        case .globalID: return .guid
        default: return field.type
        }
    }
}

extension SQLExpression {
    /// The expression bound to the layer, as what a statistic is made of.
    fileprivate func statisticValue(in layer: LayerDefinition) throws(ServiceError) -> SQLExpression {
        try bound(to: layer)
    }
}
