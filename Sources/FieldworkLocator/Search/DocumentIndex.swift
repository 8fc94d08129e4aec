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

    func documents(_ terms: [Term], limit: Int = Limits.documentsPerStep) throws -> [Int64] {
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
        var document: LocatorDocument?
        try data.connection.run("SELECT road_id, place_id FROM gc_doc WHERE id = ?") {
            try $0.bind(id, at: 1)
        } row: { row in
            if row.isNull(0) {
                let place = row.integer(1)
                document = LocatorDocument(id: id, place: try self.place(place))
            } else {
                let road = row.integer(0)
                document = LocatorDocument(id: id, road: try self.road(road))
            }
        }
        guard let document, document.road != nil || document.place != nil else { return nil }
        return document
    }

    func road(_ id: Int64) throws -> LocatorDocument.Road? {
        var road: LocatorDocument.Road?
        try data.connection.run("SELECT name_id, zone_id, x, y, min_x, min_y, max_x, max_y FROM gc_road WHERE id = ?") {
            try $0.bind(id, at: 1)
        } row: { row in
            let box = LocatorResult.PlaceBox(
                xMin: row.double(4), yMin: row.double(5), xMax: row.double(6), yMax: row.double(7))
            road = LocatorDocument.Road(
                id: id, nameID: row.integer(0), zoneID: row.integer(1), x: row.double(2), y: row.double(3),
                box: row.isNull(4) ? nil : box)
        }
        return road
    }

    func place(_ id: Int64) throws -> LocatorDocument.Place? {
        var place: LocatorDocument.Place?
        try data.connection.run(
            "SELECT kind, type, name, key, others, zone_id, weight, reach, geom FROM gc_place WHERE id = ?"
        ) {
            try $0.bind(id, at: 1)
        } row: { row in
            guard let point = GeometryBytes.readPoint(row.blob(8)) else { return }
            var names = [LocatorData.parts(row.text(3))]
            for other in (row.optionalText(4) ?? "").split(separator: "\n") {
                names.append(LocatorData.parts(TokenizedText.key(String(other))))
            }
            place = LocatorDocument.Place(
                id: id, kind: LocatorResult.Kind(rawValue: row.text(0)) ?? .pointOfInterest, type: row.text(1),
                name: row.text(2), names: names, zoneID: row.integer(5), weight: row.double(6), reach: row.double(7),
                x: point.x, y: point.y)
        }
        return place
    }
}
