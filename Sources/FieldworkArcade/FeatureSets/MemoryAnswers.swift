/// Answers questions over features in memory: features that a script wrote down, groups, and what a source leaves to
/// the interpreter.
struct MemoryAnswers {
    let evaluation: SQLEvaluation

    /// The features that a question selects of those of its base. `charge` is called for each feature that is looked at.
    func features(
        _ query: ArcadeFeatureQuery, of base: [ArcadeFeature], charge: () throws -> Void
    ) throws -> [ArcadeFeature] {
        var selected: [ArcadeFeature] = []
        for feature in base {
            try charge()
            if try matches(query, feature) { selected.append(feature) }
        }
        if !query.order.isEmpty { selected = try sorted(selected, by: query.order) }
        if let grouping = query.grouping {
            let rows = try groups(grouping, of: selected)
            selected = Self.features(rows, grouping, schema: base.first?.schema)
        }
        if let limit = query.limit { selected = Array(selected.prefix(max(0, limit))) }
        return selected
    }

    private func matches(_ query: ArcadeFeatureQuery, _ feature: ArcadeFeature) throws -> Bool {
        for condition in query.conditions where try !evaluation.holds(condition, feature) { return false }
        for place in query.places {
            guard let geometry = feature.geometry, place.holds(geometry) else { return false }
        }
        return true
    }

    /// By the terms of an order, features of equal rank as they came. Nulls come first.
    private func sorted(_ features: [ArcadeFeature], by order: [ArcadeOrder]) throws -> [ArcadeFeature] {
        let keys = try features.map { feature in try order.map { try evaluation.value($0.expression, feature) } }
        let places = try MergeSort.sorted(Array(features.indices)) { one, other in
            for (index, term) in order.enumerated() {
                let rank: Int
                switch (keys[one][index], keys[other][index]) {
                case (.null, .null): rank = 0
                case (.null, _): rank = -1
                case (_, .null): rank = 1
                case (let left, let right):
                    rank = try SQLEvaluation.order(left, right, zone: evaluation.zone) ?? 0
                }
                if rank != 0 { return (rank < 0) != term.isDescending }
            }
            return false
        }
        return places.map { features[$0] }
    }

    // MARK: Groups

    func groups(_ grouping: ArcadeGrouping, of features: [ArcadeFeature]) throws -> [[ArcadeValue]] {
        let keys = grouping.columns.filter { $0.statistic == nil }
        let sums = grouping.columns.filter { $0.statistic != nil }
        var (places, rows): ([[ArcadeValue]: Int], [(key: [ArcadeValue], values: [[ArcadeValue]])]) = ([:], [])
        for feature in features {
            let key = try keys.map { try evaluation.value($0.expression, feature) }
            let place = places[key] ?? rows.count
            if place == rows.count {
                places[key] = place
                rows.append((key, Array(repeating: [], count: sums.count)))
            }
            for (index, column) in sums.enumerated() {
                rows[place].values[index].append(try evaluation.value(column.expression, feature))
            }
        }
        return try rows.map { row in
            var (key, values) = (row.key.makeIterator(), row.values.makeIterator())
            return try grouping.columns.map { column in
                guard let statistic = column.statistic else { return key.next() ?? .null }
                return try self.statistic(statistic, of: values.next() ?? [])
            }
        }
    }

    /// Rows of groups as features.
    static func features(_ rows: [[ArcadeValue]], _ grouping: ArcadeGrouping, schema: ArcadeSchema?) -> [ArcadeFeature]
    {
        let made = self.schema(of: grouping, base: schema)
        return rows.map { ArcadeFeature(schema: made, values: $0) }
    }

    /// The fields of groups: those of the base keep their types.
    static func schema(of grouping: ArcadeGrouping, base: ArcadeSchema?) -> ArcadeSchema {
        ArcadeSchema(
            fields: grouping.columns.map { column in
                var type = column.statistic == nil ? "esriFieldTypeString" : "esriFieldTypeDouble"
                if case .field(let name) = column.expression, let field = base?.field(name),
                    column.statistic.map({ $0 == .min || $0 == .max }) ?? true
                {
                    type = field.type
                }
                return ArcadeField(name: column.name, type: type)
            })
    }

    // MARK: Statistics

    /// Of the values that are not null.
    func statistic(_ statistic: ArcadeStatistic, of values: [ArcadeValue]) throws -> ArcadeValue {
        let known = values.filter { $0 != .null }
        if statistic == .count { return .number(Double(known.count)) }
        if statistic == .min || statistic == .max {
            return try known.reduce(ArcadeValue.null) { best, value in
                guard let order = try SQLEvaluation.order(value, best, zone: evaluation.zone) else { return value }
                return (order < 0) == (statistic == .min) && order != 0 ? value : best
            }
        }
        let numbers = known.compactMap { value -> Double? in
            switch value {
            case .number(let number): number
            case .date(let date): date.milliseconds
            case .boolean(let value): value ? 1 : 0
            default: nil
            }
        }
        return Statistics.value(statistic, numbers).map(ArcadeValue.number) ?? (statistic == .sum ? .number(0) : .null)
    }
}

/// Statistics of numbers. Deviation and variance are those of the population.
enum Statistics {
    static func value(_ statistic: ArcadeStatistic, _ numbers: [Double]) -> Double? {
        guard !numbers.isEmpty else { return statistic == .sum || statistic == .count ? 0 : nil }
        let count = Double(numbers.count)
        switch statistic {
        case .count: return count
        case .sum: return numbers.reduce(0, +)
        case .average: return numbers.reduce(0, +) / count
        case .min: return numbers.reduce(.infinity) { $1.isNaN || $0.isNaN ? .nan : Swift.min($0, $1) }
        case .max: return numbers.reduce(-.infinity) { $1.isNaN || $0.isNaN ? .nan : Swift.max($0, $1) }
        case .stdev, .variance:
            let mean = numbers.reduce(0, +) / count
            let variance = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
            return statistic == .stdev ? variance.squareRoot() : variance
        }
    }
}

/// A sort that keeps the order of equal elements and is at ease with comparisons that contradict each other.
enum MergeSort {
    static func sorted<Element>(
        _ elements: [Element], by precedes: (Element, Element) throws -> Bool
    ) rethrows -> [Element] {
        var (source, target) = (elements, elements)
        var width = 1
        while width < source.count {
            var start = 0
            while start < source.count {
                let middle = min(start + width, source.count)
                let end = min(start + 2 * width, source.count)
                var (left, right) = (start, middle)
                for place in start..<end {
                    if left < middle, try right >= end || !precedes(source[right], source[left]) {
                        target[place] = source[left]
                        left += 1
                    } else {
                        target[place] = source[right]
                        right += 1
                    }
                }
                start = end
            }
            swap(&source, &target)
            width *= 2
        }
        return source
    }
}
