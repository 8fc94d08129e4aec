import FieldworkStore
import Foundation

/// What is read of a locator file, on one connection. It is used by the reader that owns it.
final class LocatorData {
    let connection: StoreConnection
    let name: String
    /// Names the build of the file: suggestions carry it.
    let build: String
    private var zones: [Int64: KnownZone] = [:]
    private var names: [Int64: KnownName] = [:]
    private let words: SharedVocabulary
    private static let keptNames = 20_000

    init(path: String, words: SharedVocabulary) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw LocatorError(.notFound, "There is no locator at \(path).")
        }
        connection = try StoreConnection(path: path, mode: .readOnly)
        self.words = words
        guard try connection.hasTable("gc_meta") else {
            throw LocatorError(.notALocator, "\(path) is no locator. fieldwork locator make makes one.")
        }
        let version = try Self.meta("version", connection)
        guard version == "\(LocatorSchema.version)" else {
            throw LocatorError(
                .notALocator,
                "\(path) is a locator of version \(version); this program reads version \(LocatorSchema.version). Make it again."
            )
        }
        name = try Self.meta("name", connection)
        build = String(try Self.meta("build", connection).prefix(8))
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
        try connection.run("SELECT full, key, others FROM gc_name WHERE id = ?") {
            try $0.bind(id, at: 1)
        } row: { row in
            found.full = row.text(0)
            found.keys = [Self.parts(row.text(1))]
            found.others = (row.optionalText(2) ?? "").split(separator: "\n").map(String.init)
            found.keys += found.others.map { Self.parts(TokenizedText.key($0)) }
        }
        if names.count >= Self.keptNames { names = [:] }
        names[id] = found
        return found
    }

    static func parts(_ key: String) -> [String] { key.split(separator: " ").map(String.init) }

    // MARK: Words

    /// How many documents have a word.
    func documents(with word: String) throws -> Int {
        Int(try connection.integer("SELECT doc FROM gc_vocabulary WHERE term = ?") { try $0.bind(word, at: 1) } ?? 0)
    }

    /// Words of the locator that a misspelt one may stand for, the likeliest first.
    func spellings(of word: String, isPrefix: Bool = false) throws -> [String] {
        try words.get(connection).similar(to: word, isPrefix: isPrefix)
    }
}
