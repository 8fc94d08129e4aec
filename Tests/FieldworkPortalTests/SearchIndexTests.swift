import FieldworkREST
import FieldworkStore
import TestSupport
import Testing

@testable import FieldworkPortal

@Suite("The index of searches", .fewAtATime)
struct SearchIndexTests {
    private static let words = ["oak", "elm", "river", "road", "map", "mapping", "north", "crew"]

    private static func item(_ id: Int, _ generator: inout SeededGenerator) -> Item {
        func some(_ most: Int) -> [String] {
            (0..<Int.random(in: 0...most, using: &generator)).compactMap { _ in words.randomElement(using: &generator) }
        }
        var fields = ItemFields()
        fields.tags = some(3)
        fields.snippet = some(6).joined(separator: " ")
        return Item(
            id: "\(id)", owner: ["Ana", "ben"].randomElement(using: &generator) ?? "", folder: "",
            title: some(3).joined(separator: " "),
            type: ["Web Map", "Feature Service", "Image"].randomElement(using: &generator) ?? "", name: "", url: "",
            service: nil,
            sharing: Sharing(
                everyone: .random(using: &generator), organisation: .random(using: &generator),
                groups: Bool.random(using: &generator) ? ["g"] : []),
            isProtected: false, created: .random(in: 0...50, using: &generator),
            modified: .random(in: 0...50, using: &generator), views: .random(in: 0...3, using: &generator), size: -1,
            fields: fields)
    }

    private static func query(_ generator: inout SeededGenerator) -> String {
        func word() -> String { words.randomElement(using: &generator) ?? "" }
        let pieces = [
            word(), "-\(word())", "\(word().prefix(2))*", "\"\(word()) \(word())\"", "title:\"\(word()) \(word())\"",
            "tags:\(word())", "type:\"web map\"", "owner:ana", "owner:b*", "access:shared", "access:org", "group:g",
            "created:[\(Int.random(in: 0...50, using: &generator)) TO *]", "(\(word()) OR \(word()))", "title:[e TO n]",
        ]
        return (0..<Int.random(in: 1...3, using: &generator)).compactMap { _ in
            pieces.randomElement(using: &generator)
        }.joined(separator: " ")
    }

    /// Whether an item is found, told from the item itself.
    private static func finds(_ query: SearchQuery, _ item: Item) -> Bool {
        func texts(_ field: SearchField?) -> [[String]] {
            (field.map { [$0] } ?? SearchTerms.fields).map { SearchTerms.words(SearchTerms.text(of: $0, item)) }
        }
        switch query {
        case .everything: return true
        case .unknownField: return false
        case .and(let parts): return parts.allSatisfy { finds($0, item) }
        case .or(let parts): return parts.contains { finds($0, item) }
        case .not(let part): return !finds(part, item)
        case .word(.owner, let text, let isPrefix):
            return isPrefix ? item.owner.lowercased().hasPrefix(text) : item.owner.lowercased() == text
        case .word(.access, let text, _): return item.sharing.access == (text == "public" ? "public" : text)
        case .word(.group, let text, _): return item.sharing.groups.contains(text)
        case .word(let field, let text, let isPrefix):
            return texts(field).contains { $0.contains { isPrefix ? $0.hasPrefix(text) : $0 == text } }
        case .phrase(.type, let text): return item.type.lowercased() == text
        case .phrase(let field, let text):
            return texts(field).contains { " \($0.joined(separator: " ")) ".contains(" \(text) ") }
        case .range(.created, let lower, _): return item.created >= Int64(lower ?? "0") ?? 0
        case .range(_, let lower, let upper):
            let title = item.title.lowercased()
            return title >= lower ?? "" && title <= upper ?? ""
        }
    }

    @Test("However items came, changed and went, the index finds those that have what is searched for, in their order")
    func changes() throws {
        var generator = SeededGenerator(seed: 26)
        var (index, items) = (SearchIndex(), [String: Item]())
        var wasRenumbered = false
        for round in 0..<6_000 {
            let slotsBefore = index.entries.count
            if Int.random(in: 0..<4, using: &generator) == 0,
                let id = items.keys.sorted().randomElement(using: &generator)
            {
                index.remove(id)
                items[id] = nil
            } else {
                let item = Self.item(Int.random(in: 0..<60, using: &generator), &generator)
                index.add(item)
                items[item.id] = item
            }
            wasRenumbered = wasRenumbered || index.entries.count < slotsBefore
            guard round % 10 == 0 else { continue }
            let text = Self.query(&generator)
            let query = try SearchParser.parse(text)
            let found = index.found(query, organisation: "o")
            let expected = items.values.filter { Self.finds(query, $0) }.sorted {
                ($0.modified, $0.id) > ($1.modified, $1.id)
            }
            let (start, count) = (Int.random(in: 0...20, using: &generator), Int.random(in: 0...300, using: &generator))
            let page = index.page(of: found, from: start, count: count, by: .modified, isDescending: true)
            #expect(found.count == expected.count, "\(text)")
            #expect(page == expected.dropFirst(start).prefix(count).map(\.id), "\(text)")
        }
        #expect(wasRenumbered)
    }

    @Test(
        "What another process adds, changes, shares and removes is found by the next search",
        arguments: TemporaryPortal.kinds)
    func otherProcess(_ kind: TemporaryPortal.Kind) async throws {
        try await TemporaryPortal.with(kind) { portal in
            let ana = try await portal.add("ana", .administrator)
            func titles(_ text: String, _ principal: Principal) async throws -> [String] {
                try await portal.other.search(text, for: principal).items.map(\.title)
            }
            #expect(try await titles("oak", ana) == [])
            let item = try await portal.addItem("Oak", owner: ana)
            #expect(try await titles("oak", ana) == ["Oak"])
            #expect(try await titles("oak", .nobody) == [])
            _ = try await portal.portal.share(item.id, everyone: true, for: ana, by: TemporaryPortal.author)
            #expect(try await titles("oak", .nobody) == ["Oak"])
            _ = try await portal.portal.share(
                item.id, everyone: false, organisation: false, for: ana, by: TemporaryPortal.author)
            #expect(try await portal.other.search("oak", for: .nobody).total == 0)
            var change = ItemChange()
            change.title = "Elm"
            try await portal.portal.updateItem(item.id, change, for: ana, by: TemporaryPortal.author)
            #expect(try await titles("oak", ana) == [])
            #expect(try await titles("elm", ana) == ["Elm"])
            try await portal.portal.removeItem(item.id, services: [], for: ana, by: TemporaryPortal.author)
            #expect(try await titles("", ana) == [])
        }
    }

    @Test("An index that missed more changes than are kept, or that is ahead of its tables, is made anew")
    func gaps() async throws {
        try await TemporaryPortal.with { portal in
            let ana = try await portal.add("ana", .administrator)
            _ = try await portal.addItem("Oak", owner: ana)
            #expect(try await portal.other.search("oak", for: ana).total == 1)
            let elm = try await portal.addItem("Elm", owner: ana)
            for _ in 0..<3 { try await portal.portal.noteView(of: elm.id) }
            // The change that added the elm, and the first view.
            try await portal.portal.records.write { records in
                try records.run(
                    "DELETE FROM {changed_items} WHERE number < (SELECT max(number) FROM {changed_items}) - 1")
                try records.run("DELETE FROM {changed_items} WHERE item <> ?", [.text(elm.id)])
            }
            _ = try await portal.addItem("Ash", owner: ana)
            #expect(try await portal.other.search("elm", for: ana).total == 1)
            #expect(try await portal.other.search("ash", for: ana).total == 1)
            // Tables that were put back from before the last changes.
            try await portal.portal.records.write { records in
                try records.run("DELETE FROM {items} WHERE title = 'Ash'")
                try records.run("DELETE FROM {changed_items} WHERE number = (SELECT max(number) FROM {changed_items})")
            }
            #expect(try await portal.other.search("ash", for: ana).total == 0)
        }
    }

    @Test("Each view of an item counts in the order by views", arguments: TemporaryPortal.kinds)
    func views(_ kind: TemporaryPortal.Kind) async throws {
        try await TemporaryPortal.with(kind) { portal in
            let ana = try await portal.add("ana", .administrator)
            let items = [try await portal.addItem("Oak", owner: ana), try await portal.addItem("Elm", owner: ana)]
            for item in items {
                for _ in 0..<2 { try await portal.portal.noteView(of: item.id) }
                try await portal.portal.noteView(of: items[0].id)
            }
            let found = try await portal.portal.search("", order: .views, for: ana)
            #expect(found.items.map(\.title) == ["Oak", "Elm"] && found.items.first?.views == 4)
        }
    }
}
