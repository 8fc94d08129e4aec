import FieldworkStore

/// Writes the documents of the full-text index: one a street and one a place. Words of towns, states and countries that every fourth
/// of them has are left out, which makes the index of a city a third of its size: they say nothing there, and a search for one of
/// them alone finds it in names.
final class DocumentWriter {
    private let builder: LocatorBuilder
    private let order: DocumentOrder
    private var connection: StoreConnection { builder.connection }
    private var wordsOfZones: [Int: Set<String>] = [:]
    private var common: Set<String> = []

    /// Fewer documents than these need no smaller index.
    private static let leastDocuments = 20
    /// A word that one of so many documents has is common.
    private static let commonShare = 4

    init(_ builder: LocatorBuilder, _ order: DocumentOrder) {
        self.builder = builder
        self.order = order
    }

    func write() throws {
        let placeZones = try zonesOfPlaces()
        try findCommon(placeZones.map(\.zone))
        var documents: [(id: Int64, road: Int?)] = order.roads.enumerated().map { ($0.element, $0.offset) }
        documents += placeZones.map { ($0.id, nil) }
        documents.sort { $0.id < $1.id }
        for (index, document) in documents.enumerated() {
            try builder.step("index", index)
            let words = try document.road.map(wordsOfRoad) ?? wordsOfPlace(document.id)
            try connection.run("INSERT INTO gc_fts (rowid, text) VALUES (?, ?)") {
                try $0.bind(document.id, at: 1)
                try $0.bind(words, at: 2)
            }
        }
        try connection.execute("INSERT INTO gc_fts (gc_fts) VALUES ('optimize')")
    }

    private func zonesOfPlaces() throws -> [(id: Int64, zone: Int)] {
        var result: [(id: Int64, zone: Int)] = []
        try connection.run("SELECT id, zone_id FROM gc_place") { _ in
        } row: {
            result.append(($0.integer(0), Int($0.integer(1))))
        }
        return result
    }

    // MARK: Common words

    private func findCommon(_ placeZones: [Int]) throws {
        var uses: [Int: Int] = [:]
        for zone in placeZones { uses[zone, default: 0] += 1 }
        var counts: [String: Int] = [:]
        for road in builder.roads.all {
            for word in road.words { counts[word, default: 0] += 1 }
            uses[road.key.zone, default: 0] += 1
        }
        for (zone, count) in uses { for word in words(ofZone: zone) { counts[word, default: 0] += count } }
        let documents = placeZones.count + builder.roads.all.count
        guard documents >= Self.leastDocuments else { return }
        for (word, count) in counts where count * Self.commonShare > documents {
            common.insert(word)
            try connection.run("INSERT INTO gc_common VALUES (?, ?)") {
                try $0.bind(word, at: 1)
                try $0.bind(Int64(count), at: 2)
            }
        }
    }

    private func words(ofZone id: Int) -> Set<String> {
        if let known = wordsOfZones[id] { return known }
        let zone = builder.zones.all[id]
        var words: Set<String> = []
        let parts = [zone.neighborhood, zone.city, zone.subregion, zone.region, zone.postal, zone.country]
        for part in parts + RegionNames.aliases(of: zone) where !part.isEmpty {
            words.formUnion(TokenizedText(part).tokens.map(\.text))
        }
        wordsOfZones[id] = words
        return words
    }

    // MARK: Documents

    private func wordsOfRoad(_ id: Int) -> String {
        let road = builder.roads.all[id]
        let others = builder.names.others[road.key.name] ?? []
        return text(
            keys: [builder.names.keys[road.key.name]] + others.map(TokenizedText.key),
            more: words(ofZone: road.key.zone).union(road.words))
    }

    private func wordsOfPlace(_ id: Int64) throws -> String {
        var result = ""
        try connection.run("SELECT name, others, zone_id FROM gc_place WHERE id = ?") {
            try $0.bind(id, at: 1)
        } row: { row in
            let names = [row.text(0)] + (row.optionalText(1) ?? "").split(separator: "\n").map(String.init)
            result = text(keys: names.map(TokenizedText.key), more: words(ofZone: Int(row.integer(2))))
        }
        return result
    }

    private func text(keys: [String], more: Set<String>) -> String {
        var words = more.subtracting(common)
        for key in keys { words.formUnion(key.split(separator: " ").map(String.init)) }
        return words.sorted().joined(separator: " ")
    }
}
