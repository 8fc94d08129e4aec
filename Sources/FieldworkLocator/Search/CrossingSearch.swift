import FieldworkStore

/// Finds where two streets meet: `Market St & 4th St, San Francisco`.
struct CrossingSearch {
    let data: LocatorData
    let text: SearchText
    let options: LocatorOptions

    /// Streets of one name that are tried against those of the other.
    private static let streetsPerName = 40

    /// Places in a text at which a crossing is looked for.
    private static let connectorsPerText = 3

    private struct Street {
        var nameID: Int64
        var cost: Double
    }

    func results() throws -> [LocatorResult] {
        var results: [LocatorResult] = []
        let connectors = text.connectors.filter { $0 > 0 && $0 < text.tokens.count }
        for connector in connectors.prefix(Self.connectorsPerText) {
            // Its many short statements end before anything looks at the time.
            try data.connection.watch.check()
            let first = Array(text.tokens[..<connector])
            let second = Array(text.tokens[connector...])
            let (ones, others) = (try streets(first), try streets(second))
            for one in ones {
                for other in others where one.nameID != other.nameID {
                    results += try crossings(one, other)
                }
            }
        }
        return results
    }

    /// The names of streets that some tokens name, with what differences cost.
    private func streets(_ tokens: [TextToken]) throws -> [Street] {
        let part = SearchText(tokens: tokens, endsInWord: false)
        var costs: [Int64: Double] = [:]
        var steps = SearchSteps(data: data, text: part, prefix: nil)
        let index = DocumentIndex(data: data)
        while costs.isEmpty, let step = try steps.next() {
            for id in step.documents {
                guard let road = try index.document(id)?.road else { continue }
                let name = try data.name(road.nameID)
                let alignment = Alignment(
                    tokens, names: name.keys, zone: try data.zone(road.zoneID).words, prefix: nil,
                    corrects: step.corrects)
                let cost = 100 - alignment.score + Alignment.cost(ofUnused: alignment.unused, in: tokens)
                costs[road.nameID] = min(cost, costs[road.nameID] ?? .infinity)
            }
        }
        let sorted = costs.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        return sorted.prefix(Self.streetsPerName).map { Street(nameID: $0.key, cost: $0.value) }
    }

    private func crossings(_ one: Street, _ other: Street) throws -> [LocatorResult] {
        let (low, high) = (min(one.nameID, other.nameID), max(one.nameID, other.nameID))
        var found: [(zone: Int64, x: Double, y: Double)] = []
        try data.connection.run("SELECT zone_id, x, y FROM gc_cross WHERE name_a = ? AND name_b = ? LIMIT 50") {
            try $0.bind(low, at: 1)
            try $0.bind(high, at: 2)
        } row: { row in
            found.append(
                (row.integer(0), PackedDegrees.degrees(row.integer(1)), PackedDegrees.degrees(row.integer(2))))
        }
        let (first, second) = (try data.name(one.nameID).full, try data.name(other.nameID).full)
        let street = "\(first) & \(second)"
        let words = Set(try (data.name(one.nameID).keys + data.name(other.nameID).keys).joined())
        var results: [LocatorResult] = []
        for place in found {
            let plane = PlaneMetres(latitude: place.y)
            // Roads of two lanes meet at several places that are one crossing.
            let isNear = results.contains { plane.distance($0.x, $0.y, place.x, place.y) < 60 }
            if isNear { continue }
            let zone = try data.zone(place.zone)
            var result = LocatorResult(kind: .intersection, zone: zone.zone, x: place.x, y: place.y)
            result.street = street
            // Streets of these names may cross in another town as well.
            let foreign = text.tokens.filter {
                !words.contains($0.text) && !zone.words.contains($0.text) && !$0.startsWithDigit
            }
            result.score = max(0, 100 - one.cost - other.cost - 12 * Double(foreign.count))
            result.importance = Int64(results.count)
            results.append(result)
        }
        return results
    }
}
