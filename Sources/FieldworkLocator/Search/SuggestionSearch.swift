import FieldworkStore

/// What a text that is being typed may become.
struct SuggestionSearch {
    let data: LocatorData
    let text: SearchText
    let options: LocatorOptions

    /// Documents that are looked at: the most important that fit.
    private static let documents = 48

    func suggestions() throws -> [LocatorSuggestion] {
        var results = try found(corrects: false)
        if results.isEmpty { results = try found(corrects: true) }
        var suggestions: [LocatorSuggestion] = []
        var seen: Set<String> = []
        for result in RankedResults.ordered(results, options) {
            let label = result.label
            guard seen.insert(label).inserted else { continue }
            suggestions.append(LocatorSuggestion(text: label, magicKey: MagicKey(data.build, result.key).text))
            if suggestions.count >= min(options.maximumCount, Limits.suggestions) { break }
        }
        return suggestions
    }

    private func found(corrects: Bool) throws -> [LocatorResult] {
        let prefix = text.endsInWord ? text.tokens.indices.last : nil
        var required = text.required
        if required.isEmpty { required = Array(text.tokens.indices) }
        var terms: [DocumentIndex.Term] = []
        for token in required {
            let word = text.tokens[token].text
            let isPrefix = token == prefix
            if corrects, try !index.has(.init(words: [word], isPrefix: isPrefix)) {
                let alike = try data.spellings(of: word, isPrefix: isPrefix)
                if !alike.isEmpty { terms.append(.init(words: alike)) }
            } else {
                terms.append(.init(words: [word], isPrefix: isPrefix))
            }
        }
        let limit = Self.documents * (options.location == nil && options.extent == nil ? 1 : 4)
        let ids = try index.documents(terms, limit: limit)
        return try ids.compactMap { try result(of: $0, prefix: prefix, corrects: corrects) }
    }

    private var index: DocumentIndex { DocumentIndex(data: data) }

    private func result(of id: Int64, prefix: Int?, corrects: Bool) throws -> LocatorResult? {
        guard let document = try index.document(id) else { return nil }
        if let place = document.place {
            let zone = try data.zone(place.zoneID)
            let alignment = Alignment(
                text.tokens, names: place.names, zone: zone.words, prefix: prefix, corrects: corrects)
            var result = LocatorResult.of(place, zone.zone)
            result.importance = data.importance(of: place, byOtherName: alignment.name > 0)
            result.key = "\(id)"
            result.score = Self.score(alignment)
            return result
        }
        guard let road = document.road else { return nil }
        let name = try data.name(road.nameID)
        let alignment = Alignment(
            text.tokens, names: name.keys, zone: try data.zone(road.zoneID).words, prefix: prefix, corrects: corrects)
        var result = LocatorResult(kind: .streetName, zone: try data.zone(road.zoneID).zone, x: road.x, y: road.y)
        result.street = name.full
        (result.importance, result.key) = (id, "\(id)")
        result.score = Self.score(alignment)
        let readings = NumberSearch.readings(text.tokens, unused: alignment.unused, name: alignment.nameTokens)
        if !readings.isEmpty {
            let search = NumberSearch(data: data)
            if let house = try search.find(
                readings, text.tokens, unused: alignment.unused, road: road.id, outOfRange: false)
            {
                try result.take(house, data)
                // A house that is there stands before a place where one might be.
                result.score -= house.kind == .streetAddress ? 10 : house.cost
            } else {
                result.score -= 20
            }
        }
        return result
    }

    /// While one types, what is still missing is no fault: importance decides.
    private static func score(_ alignment: Alignment) -> Double {
        alignment.score >= 95 ? 100 : 50 + alignment.score / 4
    }
}

/// Names an answer in one build of a locator. That of another build means nothing.
struct MagicKey {
    var text: String

    init(_ build: String, _ key: String) { text = key.isEmpty ? "" : "f1.\(build).\(key)" }

    /// The document, and the address where one is named.
    static func parts(_ text: String, build: String) -> (document: Int64, address: Int64?)? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (3...4).contains(parts.count), parts[0] == "f1", parts[1] == build, let document = Int64(parts[2]) else {
            return nil
        }
        return (document, parts.count == 4 ? Int64(parts[3]) : nil)
    }
}
