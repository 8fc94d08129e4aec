/// Features that a script asks for: a question, which is answered when a value is needed.
final class FeatureSetObject {
    let query: ArcadeFeatureQuery
    /// The features that this one selects from; nil for a whole layer.
    let parent: FeatureSetObject?
    private var kept: [ArcadeFeature]?
    /// Feature sets from which it was made, one of the other.
    let depth: Int

    init(_ query: ArcadeFeatureQuery, parent: FeatureSetObject? = nil) {
        self.query = query
        self.parent = parent
        depth = (parent?.depth ?? 0) + 1
    }

    /// The whole layer that it selects from.
    var root: FeatureSetObject { parent?.root ?? self }

    /// The fields of its features.
    func schema() -> ArcadeSchema {
        func base(_ query: ArcadeFeatureQuery) -> ArcadeSchema {
            let schema: ArcadeSchema =
                switch query.base {
                case .layer(let layer), .related(let layer, _, _): layer.schema
                case .features(let table): table.schema
                case .query(let inner): base(inner)
                }
            return query.grouping.map { MemoryAnswers.schema(of: $0, base: schema) } ?? schema
        }
        return base(query)
    }

    // MARK: Answers

    /// Calls `body` with each feature, in pages, until it says no.
    func forEach(_ machine: Machine, _ body: (ArcadeFeature) throws -> Bool) throws {
        if !isAnsweredBySource || query.grouping != nil {
            for feature in try all(machine) where try !body(feature) { return }
            return
        }
        var offset = 0
        while true {
            let count = min(ArcadeLimits.pageSize, (query.limit ?? .max) - offset)
            if count <= 0 { return }
            let page = try machine.source().features(query, offset: offset, count: count)
            try machine.chargeFeatures(page.count)
            for feature in page where try !body(feature) { return }
            offset += page.count
            if page.count < count { return }
        }
    }

    func first(_ machine: Machine) throws -> ArcadeFeature? {
        if isAnsweredBySource, query.grouping == nil {
            guard query.limit.map({ $0 > 0 }) ?? true else { return nil }
            let page = try machine.source().features(query, offset: 0, count: 1)
            try machine.chargeFeatures(page.count)
            return page.first
        }
        return try all(machine).first
    }

    func count(_ machine: Machine) throws -> Int {
        guard isAnsweredBySource, query.grouping == nil else { return try all(machine).count }
        let count = try machine.source().count(query)
        return min(count, query.limit ?? count)
    }

    func statistic(
        _ statistic: ArcadeStatistic, of expression: SQLExpression, _ machine: Machine
    ) throws -> ArcadeValue {
        if isAnsweredBySource, query.grouping == nil, query.limit == nil,
            let value = try machine.source().statistic(statistic, of: expression, query)
        {
            // Of a field, the lowest and the highest are values of the field.
            guard statistic == .min || statistic == .max, case .field(let name) = expression,
                let field = schema().field(name)
            else { return value }
            return SQLEvaluation.typed(value, field.type, machine.answers.evaluation.zone)
        }
        let answers = machine.answers
        var values: [ArcadeValue] = []
        try forEach(machine) { feature in
            values.append(try answers.evaluation.value(expression, feature))
            return true
        }
        return try answers.statistic(statistic, of: values)
    }

    /// Whether the source answers it, and not the interpreter from features in memory.
    private var isAnsweredBySource: Bool {
        switch query.base {
        case .layer, .related: true
        case .features, .query: false
        }
    }

    /// All features, in memory. Kept for the next question of the script.
    func all(_ machine: Machine) throws -> [ArcadeFeature] {
        if let kept { return kept }
        let made = try made(machine)
        kept = made
        return made
    }

    private func made(_ machine: Machine) throws -> [ArcadeFeature] {
        let answers = machine.answers
        switch query.base {
        case .features(let table):
            return try answers.features(query, of: table.features) { try machine.charge(4) }
        case .query(let inner):
            let base = try FeatureSetObject(inner, parent: parent?.parent).all(machine)
            return try answers.features(query, of: base) { try machine.charge(4) }
        case .layer, .related:
            guard let grouping = query.grouping else {
                var features: [ArcadeFeature] = []
                try forEach(machine) { feature in
                    features.append(feature)
                    return true
                }
                return features
            }
            var ungrouped = query
            ungrouped.grouping = nil
            if let rows = try machine.source().groups(grouping, ungrouped) {
                try machine.chargeFeatures(rows.count)
                return MemoryAnswers.features(rows, grouping, schema: query.layer?.schema)
            }
            let base = try FeatureSetObject(ungrouped).all(machine)
            return MemoryAnswers.features(
                try answers.groups(grouping, of: base), grouping, schema: query.layer?.schema)
        }
    }
}
