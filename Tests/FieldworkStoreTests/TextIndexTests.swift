import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// The same layer, asked with and without a text index.
@Suite("Text indexes", .fewAtATime, .everyStore)
struct TextIndexTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.anyStore(in: folder)
    }

    static func service(_ fields: String?) -> ServiceDefinition {
        var definition = Samples.service
        if let fields {
            definition.layers[0].unknownMembers["indexes"] = [
                ["name": "texts", "fields": .string(fields), "indexType": "FullText"]
            ]
        }
        return definition
    }

    private static let note = "note \"x\"; DROP"
    private static let letters = Array("aAbBiIsSkKßüÜéEıİſKçΣσς%_'\"\\ \u{301}漢字🌳".unicodeScalars)

    private static func text(_ generator: inout SeededGenerator, _ length: ClosedRange<Int>) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: length, using: &generator) {
            // Few letters, so that patterns find something.
            let few = Bool.random(using: &generator)
            text.append((few ? Array(letters.prefix(10)) : letters).randomElement(using: &generator) ?? "a")
        }
        return String(text)
    }

    private func fill(_ count: Int, seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let adds = (0..<count).map { _ -> FeatureEdit in
            func value() -> AttributeValue {
                Int.random(in: 0..<5, using: &generator) == 0 ? .null : .text(Self.text(&generator, 0...14))
            }
            return FeatureEdit(attributes: [("species", value()), (Self.note, value())])
        }
        _ = try await store.apply(Samples.batch(adds: adds), to: Samples.name)
    }

    private func condition(_ generator: inout SeededGenerator, _ depth: Int) -> SQLExpression {
        if depth > 0, Int.random(in: 0..<3, using: &generator) > 0 {
            let sign: SQLBinaryOperator = Bool.random(using: &generator) ? .and : .or
            return .binary(sign, condition(&generator, depth - 1), condition(&generator, depth - 1))
        }
        if Int.random(in: 0..<8, using: &generator) == 0 { return .not(condition(&generator, 0)) }
        let field = SQLExpression.field(Bool.random(using: &generator) ? "species" : Self.note)
        if Int.random(in: 0..<10, using: &generator) == 0 { return .isNull(field, negated: false) }
        let escape: Character? = Int.random(in: 0..<3, using: &generator) == 0 ? "\\" : nil
        var text = Self.text(&generator, 1...6)
        // An escape before what needs none is an error in PostgreSQL only at the end of a pattern.
        if escape != nil { text = text.replacingOccurrences(of: "\\", with: "\\%") }
        let pattern = SQLExpression.literal(.string(Bool.random(using: &generator) ? "%\(text)%" : "\(text)%"))
        let isNegated = Int.random(in: 0..<8, using: &generator) == 0
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return .like(field, pattern: pattern, escape: escape, negated: isNegated)
        case 1:
            return .like(
                .function(.lower, [field]), pattern: .function(.lower, [pattern]), escape: escape, negated: isNegated)
        case 2:
            return .like(
                .function(.upper, [field]), pattern: .function(.upper, [pattern]), escape: escape, negated: isNegated)
        default: return .like(.function(.upper, [field]), pattern: pattern, escape: escape, negated: isNegated)
        }
    }

    @Test("Random conditions find the same features with an index as without", arguments: [3, 7] as [UInt64])
    func sameAnswers(seed: UInt64) async throws {
        try await fill(300, seed: seed)
        var generator = SeededGenerator(seed: seed)
        let conditions = (0..<(StoreKind.current == .geoPackage ? 1_500 : 200)).map { _ in condition(&generator, 2) }
        var without: [[Int64]] = []
        for condition in conditions {
            without.append(try await store.objectIDs(FeatureQuery(condition: condition), in: Samples.trees))
        }
        try await store.updateService(definitionOfBoth)
        for (condition, expected) in zip(conditions, without) {
            let found = try await store.objectIDs(FeatureQuery(condition: condition), in: Samples.trees)
            #expect(found == expected, "\(condition)")
            let counted = try await store.count(FeatureQuery(condition: condition), in: Samples.trees)
            #expect(counted == expected.count, "\(condition)")
            let shown = try await store.records(FeatureQuery(condition: condition), in: Samples.trees)
            #expect(shown.map(\.objectID) == expected, "\(condition)")
            let page = try await store.records(FeatureQuery(condition: condition, limit: 7), in: Samples.trees)
            #expect(page.map(\.objectID) == Array(expected.prefix(7)), "\(condition)")
        }
        #expect(without.contains { !$0.isEmpty && $0.count < 150 })
    }

    private var definitionOfBoth: ServiceDefinition {
        var definition = Samples.service
        definition.layers[0].unknownMembers["indexes"] = [
            ["name": "one", "fields": "species", "indexType": "FullText"],
            ["name": "two", "fields": .string(Self.note), "indexType": "FullText"],
        ]
        return definition
    }

    private func matching(_ text: String, field: String = "species") async throws -> [Int64] {
        let condition = try SQLParser.parse(where: "UPPER(\(field)) LIKE UPPER('%\(text)%')")
        return try await store.objectIDs(FeatureQuery(condition: condition), in: Samples.trees)
    }

    @Test("Edits and other programs keep the index true, and the file stays sound")
    func edits() async throws {
        try await store.updateService(Self.service("species"))
        let added = try await store.apply(
            Samples.batch(adds: [Samples.tree("Acer campestre"), Samples.tree("Straße am İI")]), to: Samples.name)
        let ids = added.layers[0].adds.compactMap(\.objectID)
        #expect(try await matching("CAMP") == [ids[0]])
        #expect(try await matching("aße") == [ids[1]])
        _ = try await store.apply(
            Samples.batch(updates: [
                FeatureEdit(objectID: ids[0], attributes: [("species", .text("Quercus robur"))])
            ]), to: Samples.name)
        #expect(try await matching("camp") == [])
        #expect(try await matching("robur") == [ids[0]])
        try StoreKind.current.change(
            "UPDATE \"Trees\" SET species = 'Tilia cordata' WHERE species LIKE 'Quer%'", in: Samples.name, folder)
        #expect(try await matching("cordat") == [ids[0]])
        _ = try await store.apply(Samples.batch(deletes: [.objectID(ids[0])]), to: Samples.name)
        #expect(try await matching("cordat") == [])
        #expect(try await store.check() == [])
        try await store.updateService(Samples.service)
        #expect(try await matching("aße") == [ids[1]])
        #expect(try await store.check() == [])
    }

    @Test("An index of a field that is no text is refused, and a field takes its index along")
    func changes() async throws {
        await #expect(throws: StoreError.self) { try await store.updateService(Self.service("height")) }
        try await fill(20, seed: 1)
        try await store.updateService(definitionOfBoth)
        var fewer = definitionOfBoth
        fewer.layers[0].fields.removeAll { $0.name == "species" }
        fewer.layers[0].displayField = ""
        try await store.updateService(fewer, allowing: .removesFields)
        _ = try await store.apply(
            Samples.batch(adds: [FeatureEdit(attributes: [(Self.note, .text("a long remark"))])]), to: Samples.name)
        let condition = SQLExpression.like(
            .field(Self.note), pattern: .literal(.string("%g rem%")), escape: nil, negated: false)
        #expect(try await store.count(FeatureQuery(condition: condition), in: Samples.trees) == 1)
        #expect(try await store.check() == [])
        var gone = fewer
        gone.layers.removeFirst()
        try await store.updateService(gone, allowing: .removesLayers)
        #expect(try await store.check() == [])
    }
}

/// What is a file's own.
@Suite("Text indexes of files", .fewAtATime)
struct TextIndexFileTests {
    private let folder: TemporaryFolder
    private let store: GeoPackageStore
    private var path: String { folder.url.appending(path: "Trees.gpkg").path }

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.store(in: folder)
        _ = try await store.apply(
            Samples.batch(adds: [Samples.tree("Acer campestre", x: 1, y: 2), Samples.tree("Quercus robur")]),
            to: Samples.name)
        try await store.updateService(TextIndexTests.service("species"))
    }

    private func plan(_ condition: String, _ change: (inout FeatureQuery) -> Void = { _ in }) throws -> String {
        let connection = try StoreConnection(path: path, mode: .readOnly)
        defer { connection.forgetStatements() }
        let layer = try ServiceCatalogue.read(from: connection).layer(0)
        var query = FeatureQuery(condition: try SQLParser.parse(where: condition))
        change(&query)
        return try QueryCompiler(layer: layer, connection: connection, now: 0).features(query).sql
    }

    @Test("A condition asks the index where it must hold, and nowhere else")
    func used() throws {
        for condition in [
            "species LIKE '%camp%'", "UPPER(species) LIKE UPPER('%camp%')", "species LIKE 'Ac_r camp%' AND height > 3",
            "species LIKE '%camp%' OR LOWER(species) LIKE '%rob%'",
        ] { #expect(try plan(condition).contains("fieldwork_text_0"), "\(condition)") }
        for condition in [
            "species NOT LIKE '%camp%'", "NOT (species LIKE '%camp%')", "species LIKE '%ca%'", "species LIKE '%ca_pe%'",
            "species LIKE '%camp%' OR height > 3", "condition LIKE '%good%'", "(species LIKE '%camp%') IS NULL",
            "CASE WHEN species LIKE '%camp%' THEN 1 ELSE 2 END = 2",
        ] {
            let sql = try plan(condition)
            #expect(!sql.contains("fieldwork_text_0"), "\(condition)")
        }
        #expect(try !plan("species LIKE '%camp%'") { $0.objectIDs = [1, 2] }.contains("fieldwork_text_0"))
    }

    /// Were a letter folded otherwise by FTS5 than by UPPER or LOWER, features would be missed.
    @Test("Every letter that UPPER and LOWER change is found by what it becomes, or does not ask the index")
    func letters() throws {
        let connection = try StoreConnection(path: folder.url.appending(path: "letters.db").path, mode: .create)
        defer { connection.forgetStatements() }
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)")
        try connection.execute(
            "CREATE VIRTUAL TABLE f USING fts5(f0, tokenize = 'trigram', content = '', detail = 'column')")
        var pairs: [(Unicode.Scalar, Unicode.Scalar)] = []
        for mapping in [LetterCase.upper.mapping, LetterCase.lower.mapping] {
            pairs += mapping.map { ($0.key, $0.value) } + mapping.keys.map { ($0, $0) }
        }
        for value in UInt32(1)..<0x250 { if let scalar = Unicode.Scalar(value) { pairs.append((scalar, scalar)) } }
        try connection.transaction {
            for (index, pair) in pairs.enumerated() {
                try connection.run("INSERT INTO t VALUES (?, ?)") {
                    try $0.bind(Int64(index), at: 1)
                    try $0.bind("xy\(Character(pair.0))", at: 2)
                }
            }
            try connection.execute(
                "INSERT INTO f (rowid, f0) SELECT id, replace(replace(a, '\u{131}', 'i'), '\u{130}', 'i') FROM t")
        }
        var asked = 0
        for (index, pair) in pairs.enumerated() where TrigramTable.isDependable(pair.1, isPlain: pair.0 == pair.1) {
            let pattern = try #require(
                TextPattern("%xy\(Character(pair.1))%", escape: nil, isPlain: pair.0 == pair.1))
            guard let match = TrigramTable.match(.like(slot: 0, pattern), { _ in true }) else { continue }
            asked += 1
            let found = try connection.integer("SELECT 1 FROM f(?) WHERE rowid = ?") {
                try $0.bind(match, at: 1)
                try $0.bind(Int64(index), at: 2)
            }
            #expect(found == 1, "\(pair)")
        }
        #expect(asked > 1_000)
    }

    @Test(
        "GDAL edits the layer, shows no table of the index and warns of nothing",
        .enabled(if: ShellTool.exists("ogr2ogr")))
    func gdal() async throws {
        try await store.close()
        let report = try ShellTool.run("ogrinfo", ["-al", "-so", path])
        #expect(!report.contains("Warning"), "\(report)")
        #expect(try !ShellTool.run("ogrinfo", [path]).contains("fieldwork_text"))
        _ = try ShellTool.run(
            "ogrinfo", [path, "-sql", "UPDATE Trees SET species = 'Tilia cordata' WHERE OBJECTID = 1"])
        #expect(await FileCheck(URL(filePath: path)).findings() == [])
        let again = try await GeoPackageStore.open(at: folder.url)
        let condition = try SQLParser.parse(where: "species LIKE '%cordat%'")
        #expect(try await again.objectIDs(FeatureQuery(condition: condition), in: Samples.trees) == [1])
        try await again.close()
    }

    @Test("REPLACE, which fires no trigger for what it replaces, leaves an index that finds all")
    func replace() async throws {
        _ = try ShellTool.run(
            "sqlite3",
            [path, "CREATE TABLE k AS SELECT * FROM Trees; UPDATE k SET species = 'Fagus' WHERE OBJECTID = 2"])
        try StoreKind.geoPackage.change("INSERT OR REPLACE INTO Trees SELECT * FROM k", in: Samples.name, folder)
        let condition = try SQLParser.parse(where: "species LIKE '%agus%' OR species LIKE '%rcus%'")
        #expect(try await store.objectIDs(FeatureQuery(condition: condition), in: Samples.trees) == [2])
    }

    @Test("The doctor finds an index that lacks a feature, and one without triggers is not asked")
    func doctor() async throws {
        #expect(await FileCheck(URL(filePath: path)).findings() == [])
        let connection = try StoreConnection(path: path, mode: .readWrite)
        try connection.execute(
            "INSERT INTO fieldwork_text_0 (fieldwork_text_0, rowid, f1) VALUES ('delete', 1, 'Acer campestre')")
        #expect(await FileCheck(URL(filePath: path)).findings().contains { $0.contains("text index") })
        try connection.execute("DROP TRIGGER fieldwork_text_0_update")
        connection.forgetStatements()
        #expect(try !plan("species LIKE '%camp%'").contains("fieldwork_text_0"))
        #expect(await FileCheck(URL(filePath: path)).findings().contains { $0.contains("triggers") })
    }

    @Test("A file that is made plain has no index left")
    func plain() async throws {
        try await store.close()
        try await GeoPackageFile.makePlain(URL(filePath: path))
        let left = try ShellTool.run(
            "sqlite3", [path, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'fieldwork%'"])
        #expect(left.trimmingCharacters(in: .whitespacesAndNewlines) == "0")
    }
}
