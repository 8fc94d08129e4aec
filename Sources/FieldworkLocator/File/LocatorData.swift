import FieldworkStore
import Foundation

/// What is read of a locator file, on one connection. It is used by the reader that owns it.
final class LocatorData {
    let connection: StoreConnection
    let name: String
    /// Names the build of the file: suggestions carry it.
    let build: String
    /// Words that the index leaves out, with how many documents have them.
    let common: [String: Int]
    /// For each power of two the first id of streets and places that weigh no more.
    private let ranks: [Int64]
    private var zones: [Int64: KnownZone] = [:]
    private var names: [Int64: KnownName] = [:]
    private var kinds: [Int64: KnownKind] = [:]
    private let words: SharedVocabulary
    private static let keptNames = 20_000

    /// - Parameter part: the bytes of the file that are the locator; nil for all of them.
    init(path: String, part: Range<Int>? = nil, words: SharedVocabulary) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw LocatorError(.notFound, "There is no locator at \(path).")
        }
        connection = try StoreConnection(path: path, mode: part.map { .part($0) } ?? .readOnly)
        self.words = words
        guard try connection.hasTable("gc_meta") else {
            throw LocatorError(.notALocator, "\(path) is no locator. fieldwork locator make makes one.")
        }
        let version = try Self.meta("version", connection)
        guard version == "\(LocatorSchema.version)" else {
            let isOlder = Int64(version).map { $0 < LocatorSchema.version } ?? false
            throw LocatorError(
                .notALocator,
                """
                \(path) is a locator of version \(version); this program reads version \(LocatorSchema.version). \
                \(isOlder ? "Make it again: fieldwork locator make, or update where it was made of a layer." : "Update Fieldwork.")
                """)
        }
        var common: [String: Int] = [:]
        try connection.run("SELECT word, count FROM gc_common", row: { common[$0.text(0)] = Int($0.integer(1)) })
        self.common = common
        name = try Self.meta("name", connection)
        ranks = try Self.meta("ranks", connection).split(separator: ",").compactMap { Int64($0) }
        build = String(try Self.meta("build", connection).prefix(8))
    }

    /// What a locator file was made of, also one of another version; nil where the file is no locator.
    static func origin(ofFileAt path: String) throws -> (origin: String, isCurrent: Bool)? {
        guard FileManager.default.fileExists(atPath: path) else {
            throw LocatorError(.notFound, "There is no locator at \(path).")
        }
        let connection = try StoreConnection(path: path, mode: .readOnly)
        guard try connection.hasTable("gc_meta") else { return nil }
        return (try meta("origin", connection), try meta("version", connection) == "\(LocatorSchema.version)")
    }

    static func meta(_ key: String, _ connection: StoreConnection) throws -> String {
        try connection.text("SELECT value FROM gc_meta WHERE key = ?") { try $0.bind(key, at: 1) } ?? ""
    }

    /// A zone with the words that name it.
    struct KnownZone {
        var zone: AddressZone
        var words: Set<String>
    }

    func zone(_ id: Int64) throws -> KnownZone {
        if let known = zones[id] { return known }
        var found = KnownZone(zone: AddressZone(), words: [])
        try connection.run("SELECT * FROM gc_zone WHERE id = ?") {
            try $0.bind(id, at: 1)
        } row: { row in
            found.zone = AddressZone(
                neighborhood: row.text(1), city: row.text(2), subregion: row.text(3), region: row.text(4),
                postal: row.text(5),
                country: row.text(6))
            for column in 1...7 { found.words.formUnion(TokenizedText(row.text(column)).tokens.map(\.text)) }
        }
        if zones.count >= Self.keptNames { zones = [:] }
        zones[id] = found
        return found
    }

    /// The name of a street, with its other names, each as its words.
    struct KnownName {
        var full: String
        var keys: [[String]]
        var others: [String]
    }

    func name(_ id: Int64) throws -> KnownName {
        if let known = names[id] { return known }
        var found = KnownName(full: "", keys: [], others: [])
        try connection.run("SELECT full, others FROM gc_name WHERE id = ?") {
            try $0.bind(id, at: 1)
        } row: { row in
            found.full = row.text(0)
            found.keys = [Self.parts(TokenizedText.key(row.text(0)))]
            found.others = (row.optionalText(1) ?? "").split(separator: "\n").map(String.init)
            found.keys += found.others.map { Self.parts(TokenizedText.key($0)) }
        }
        if names.count >= Self.keptNames { names = [:] }
        names[id] = found
        return found
    }

    /// The kind of a place, and what it is more exactly.
    struct KnownKind {
        var kind: LocatorResult.Kind
        var type: String
    }

    func kind(_ id: Int64) throws -> KnownKind {
        if let known = kinds[id] { return known }
        var found = KnownKind(kind: .pointOfInterest, type: "")
        try connection.run("SELECT kind, type FROM gc_kind WHERE id = ?") {
            try $0.bind(id, at: 1)
        } row: { row in
            found = KnownKind(kind: LocatorResult.Kind(rawValue: row.text(0)) ?? .pointOfInterest, type: row.text(1))
        }
        if kinds.count >= Self.keptNames { kinds = [:] }
        kinds[id] = found
        return found
    }

    static func parts(_ key: String) -> [String] { key.split(separator: " ").map(String.init) }

    /// Where a place stands in the order of importance. One that is asked for by a name that is not its first stands among places of a
    /// quarter of its inhabitants: Manchester is a large town before it is a part of Richmond.
    func importance(of place: LocatorDocument.Place, byOtherName: Bool) -> Int64 {
        guard byOtherName, let least = ranks.first else { return place.id }
        let weight = place.weight / 4
        guard weight >= 1 else { return max(place.id, least) }
        let power = min(Int(log2(min(weight, 1e15))), ranks.count - 1)
        return max(place.id, ranks[power])
    }

    // MARK: Words

    /// How many documents have a word.
    func documents(with word: String) throws -> Int {
        let indexed = try connection.integer("SELECT doc FROM gc_vocabulary WHERE term = ?") {
            try $0.bind(word, at: 1)
        }
        return max(Int(indexed ?? 0), common[word] ?? 0)
    }

    /// Words of the locator that a misspelt one may stand for, the likeliest first.
    func spellings(of word: String, isPrefix: Bool = false) throws -> [String] {
        try words.get(self).similar(to: word, isPrefix: isPrefix)
    }
}
