import FieldworkStore

/// Writes the documents of the full-text index: one a street and one a place, the most important first, so that the index gives
/// them in that order without sorting.
struct DocumentWriter {
    private struct Entry {
        var weight: Float
        var road: Int32
        var place: Int32
    }

    private let builder: LocatorBuilder
    private var connection: StoreConnection { builder.connection }

    init(_ builder: LocatorBuilder) { self.builder = builder }

    func write() throws {
        var entries: [Entry] = []
        for (id, road) in builder.roads.all.enumerated() {
            // A street of many houses stands beside a village of as many inhabitants.
            entries.append(Entry(weight: Float(road.addresses) + 0.5, road: Int32(id), place: -1))
        }
        try connection.run("SELECT id, weight FROM gc_place") { _ in
        } row: {
            entries.append(Entry(weight: Float($0.double(1)), road: -1, place: Int32($0.integer(0))))
        }
        entries.sort { ($1.weight, $0.road, $0.place) < ($0.weight, $1.road, $1.place) }
        for (index, entry) in entries.enumerated() {
            try builder.step("index", index)
            try write(entry, id: Int64(index + 1))
        }
        try connection.execute("INSERT INTO gc_fts (gc_fts) VALUES ('optimize')")
    }

    private func write(_ entry: Entry, id: Int64) throws {
        let words = entry.road >= 0 ? wordsOfRoad(Int(entry.road)) : try wordsOfPlace(Int64(entry.place))
        try connection.run("INSERT INTO gc_doc VALUES (?, ?, ?)") {
            try $0.bind(id, at: 1)
            if entry.road >= 0 { try $0.bind(Int64(entry.road), at: 2) } else { try $0.bind(Int64(entry.place), at: 3) }
        }
        try connection.run("INSERT INTO gc_fts (rowid, text) VALUES (?, ?)") {
            try $0.bind(id, at: 1)
            try $0.bind(words, at: 2)
        }
    }

    private func wordsOfRoad(_ id: Int) -> String {
        let road = builder.roads.all[id]
        let others = builder.names.others[road.key.name] ?? []
        return Self.words(
            keys: [builder.names.keys[road.key.name]] + others.map(TokenizedText.key),
            zone: builder.zones.all[road.key.zone], more: road.words)
    }

    private func wordsOfPlace(_ id: Int64) throws -> String {
        var result = ""
        try connection.run("SELECT key, others, zone_id FROM gc_place WHERE id = ?") {
            try $0.bind(id, at: 1)
        } row: { row in
            let others = (row.optionalText(1) ?? "").split(separator: "\n").map { TokenizedText.key(String($0)) }
            result = Self.words(keys: [row.text(0)] + others, zone: builder.zones.all[Int(row.integer(2))], more: [])
        }
        return result
    }

    private static func words(keys: [String], zone: AddressZone, more: Set<String>) -> String {
        var words = more
        for key in keys { words.formUnion(key.split(separator: " ").map(String.init)) }
        let parts = [zone.neighborhood, zone.city, zone.subregion, zone.region, zone.postal, zone.country]
        for part in parts + RegionNames.aliases(of: zone) where !part.isEmpty {
            words.formUnion(TokenizedText(part).tokens.map(\.text))
        }
        return words.sorted().joined(separator: " ")
    }
}
