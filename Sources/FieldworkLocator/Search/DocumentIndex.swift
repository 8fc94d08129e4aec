import FieldworkStore

/// A document of the full-text index: a street or a place.
struct LocatorDocument {
    struct Road {
        var id: Int64
        var nameID: Int64
        var zoneID: Int64
        var x: Double
        var y: Double
        var box: LocatorResult.PlaceBox?
    }

    struct Place {
        var id: Int64
        var kind: LocatorResult.Kind
        var type: String
        var name: String
        var names: [[String]]
        var zoneID: Int64
        var weight: Double
        var reach: Double
        var x: Double
        var y: Double
    }

    var id: Int64
    var road: Road?
    var place: Place?
}

/// Finds documents by their words, the most important first.
struct DocumentIndex {
    let data: LocatorData

    /// A word that a document must have, or one of several.
    struct Term: Hashable {
        var words: [String]
        var isPrefix = false
    }

    /// Terms of which each may be a word that the index has in names alone.
    private static let commonTerms = 6

    /// Documents that have all terms. Those that have them in their names come first where the index leaves a term out because so many
    /// documents have it.
    func documents(_ terms: [Term], limit: Int = Limits.documentsPerStep) throws -> [Int64] {
        var ids = try match(terms, limit)
        let common = terms.filter(isCommon)
        guard !common.isEmpty, ids.count < limit else { return ids }
        let rest = terms.filter { !isCommon($0) }
        var seen = Set(ids)
        func take(_ terms: [Term]) throws {
            for id in try match(terms, limit) where ids.count < limit && seen.insert(id).inserted { ids.append(id) }
        }
        // California Street in San Francisco, California: one of the words belongs to the name.
        if terms.count > 1 { for term in common.prefix(Self.commonTerms) { try take(rest + [term]) } }
        try take(rest)
        return ids
    }

    /// Whether any document has a term.
    func has(_ term: Term) throws -> Bool { try isCommon(term) || !match([term], 1).isEmpty }

    private func isCommon(_ term: Term) -> Bool {
        term.words.contains { word in
            data.common[word] != nil || (term.isPrefix && data.common.keys.contains { $0.hasPrefix(word) })
        }
    }

    private func match(_ terms: [Term], _ limit: Int) throws -> [Int64] {
        guard !terms.isEmpty else { return [] }
        var ids: [Int64] = []
        try data.connection.run("SELECT rowid FROM gc_fts WHERE gc_fts MATCH ? LIMIT ?") {
            try $0.bind(Self.expression(terms), at: 1)
            try $0.bind(Int64(limit), at: 2)
        } row: {
            ids.append($0.integer(0))
        }
        return ids
    }

    /// Tokens are letters, digits, `-` and `/` only: within quotes they have no meaning of their own.
    private static func expression(_ terms: [Term]) -> String {
        terms.map { term in
            let words = term.words.map { "\"\($0.filter { $0 != "\"" })\"" + (term.isPrefix ? " *" : "") }
            return words.count == 1 ? words[0] : "(" + words.joined(separator: " OR ") + ")"
        }.joined(separator: " AND ")
    }

    func document(_ id: Int64) throws -> LocatorDocument? {
        if let road = try road(id) { return LocatorDocument(id: id, road: road) }
        return try place(id).map { LocatorDocument(id: id, place: $0) }
    }

    func road(_ id: Int64) throws -> LocatorDocument.Road? {
        var road: LocatorDocument.Road?
        try data.connection.run("SELECT name_id, zone_id, x, y, west, south, east, north FROM gc_road WHERE id = ?") {
            try $0.bind(id, at: 1)
        } row: { row in
            let units = (2...7).map { PackedDegrees.degrees(row.integer($0)) }
            let box = LocatorResult.PlaceBox(
                xMin: units[0] - units[2], yMin: units[1] - units[3], xMax: units[0] + units[4],
                yMax: units[1] + units[5])
            road = LocatorDocument.Road(
                id: id, nameID: row.integer(0), zoneID: row.integer(1), x: units[0], y: units[1],
                box: row.isNull(4) ? nil : box)
        }
        return road
    }

    func place(_ id: Int64) throws -> LocatorDocument.Place? {
        var place: LocatorDocument.Place?
        try data.connection.run("SELECT kind_id, name, others, zone_id, weight, reach, x, y FROM gc_place WHERE id = ?")
        {
            try $0.bind(id, at: 1)
        } row: { row in
            let kind = try data.kind(row.integer(0))
            let names = [row.text(1)] + (row.optionalText(2) ?? "").split(separator: "\n").map(String.init)
            place = LocatorDocument.Place(
                id: id, kind: kind.kind, type: kind.type, name: names[0],
                names: names.map { LocatorData.parts(TokenizedText.key($0)) }, zoneID: row.integer(3),
                weight: row.double(4), reach: row.double(5), x: PackedDegrees.degrees(row.integer(6)),
                y: PackedDegrees.degrees(row.integer(7)))
        }
        return place
    }
}
