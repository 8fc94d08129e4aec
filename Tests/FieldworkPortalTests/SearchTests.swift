import TestSupport
import Testing

@testable import FieldworkPortal

@Suite("Searching items", .fewAtATime)
struct SearchTests {
    private static func titles(
        _ portal: TemporaryPortal, _ text: String, for principal: Principal, order: SearchOrder = .title
    ) async throws -> [String] {
        try await portal.portal.search(text, count: 100, order: order, isDescending: false, for: principal).items.map(
            \.title)
    }

    private static func withItems(
        _ kind: TemporaryPortal.Kind, _ test: (TemporaryPortal, Principal) async throws -> Void
    ) async throws {
        try await TemporaryPortal.with(kind) { portal in
            let ana = try await portal.add("ana", .administrator)
            _ = try await portal.addItem("Trees of Portland", owner: ana, tags: ["oak", "street trees"])
            portal.pass(seconds: 10)
            _ = try await portal.addItem("Oak survey", type: "Feature Service", owner: ana)
            portal.pass(seconds: 10)
            _ = try await portal.addItem("Feature film", type: "Image", owner: ana, tags: ["trees street"])
            try await test(portal, ana)
        }
    }

    @Test(
        "Words, phrases, fields, AND, OR, NOT, brackets, beginnings and ranges find what they say",
        arguments: TemporaryPortal.kinds)
    func grammar(_ kind: TemporaryPortal.Kind) async throws {
        try await Self.withItems(kind) { portal, ana in
            let (trees, oak, film) = ("Trees of Portland", "Oak survey", "Feature film")
            for (text, expected) in [
                ("", [film, oak, trees]), ("*", [film, oak, trees]), ("oak", [oak, trees]),
                ("OAK trees", [trees]), ("oak OR film", [film, oak, trees]), ("oak AND NOT trees", [oak]),
                ("oak -trees", [oak]), ("-oak", [film]), ("\"street trees\"", [trees]), ("\"trees street\"", [film]),
                ("type:\"Web Map\"", [trees]), ("type:\"web map\" OR type:Image", [film, trees]),
                ("type:(\"Web Map\" OR \"Feature Service\")", [oak, trees]), ("title:feature", [film]),
                ("feature", [film, oak]), ("owner:ANA oak", [oak, trees]), ("owner:ben", []), ("surv*", [oak]),
                ("title:surv*", [oak]), ("tags:oak", [trees]), ("access:private", [film, oak, trees]),
                ("access:public", []), ("nofield:x", []), ("-nofield:x", [film, oak, trees]),
                ("(oak OR film) AND title:f*", [film]), ("created:[0 TO 0000001700000005000]", [trees]),
                ("created:[1700000005000 TO *]", [film, oak]), ("modified:[* TO *]", [film, oak, trees]),
                ("orgid:nobody", []), ("NOT (oak OR film)", []), ("oak AND (", [oak, trees]), ("oak \"", [oak, trees]),
                ("title:[f TO g]", [film]), ("%", [film, oak, trees]), ("';--", [film, oak, trees]),
            ] {
                #expect(try await Self.titles(portal, text, for: ana) == expected, "\(text)")
            }
            let id = try await portal.portal.item(named: oak).id
            #expect(try await Self.titles(portal, "id:\(id)", for: ana) == [oak])
            #expect(try await Self.titles(portal, id, for: ana) == [oak])
            #expect(try await Self.titles(portal, "id:\"\(id)\" OR id:\"x\"", for: ana) == [oak])
        }
    }

    @Test("Pages and orders give each item once", arguments: TemporaryPortal.kinds)
    func pages(_ kind: TemporaryPortal.Kind) async throws {
        try await Self.withItems(kind) { portal, ana in
            var seen: [String] = []
            for start in 0..<4 {
                let page = try await portal.portal.search("", from: start, count: 1, for: ana)
                #expect(page.total == 3)
                seen += page.items.map(\.title)
            }
            #expect(seen == ["Feature film", "Oak survey", "Trees of Portland"], "the newest first")
            for order in ["title", "created", "modified", "owner", "type", "size", "numviews", "relevance"] {
                let known = try #require(SearchOrder(word: order))
                #expect(try await Self.titles(portal, "", for: ana, order: known).count == 3)
            }
            #expect(SearchOrder(word: "password") == nil)
        }
    }

    @Test("A search finds what its reader may read, and nothing else", arguments: TemporaryPortal.kinds)
    func rights(_ kind: TemporaryPortal.Kind) async throws {
        try await Self.withItems(kind) { portal, ana in
            let author = TemporaryPortal.author
            try await portal.add("ben", .viewer)
            let group = try await portal.portal.addGroup(title: "Crew", for: ana, by: author)
            let again = try #require(try await portal.portal.principal(named: "ana"))
            func ids(_ title: String) async throws -> String { try await portal.portal.item(named: title).id }
            _ = try await portal.portal.share(
                try await ids("Oak survey"), everyone: true, for: again, by: author)
            _ = try await portal.portal.share(
                try await ids("Feature film"), addingGroups: [group.id], for: again, by: author)
            func seen(_ name: String?) async throws -> [String] {
                var principal = Principal.nobody
                if let name { principal = try #require(try await portal.portal.principal(named: name)) }
                return try await Self.titles(portal, "", for: principal)
            }
            #expect(try await seen(nil) == ["Oak survey"])
            #expect(try await seen("ben") == ["Oak survey"])
            _ = try await portal.portal.addMembers(["ben"], to: group.id, for: again, by: author)
            #expect(try await seen("ben") == ["Feature film", "Oak survey"])
            #expect(try await seen("ana").count == 3)
            let ben = try #require(try await portal.portal.principal(named: "ben"))
            let trees = try await ids("Trees of Portland")
            await #expect(throws: PortalError.self) { try await portal.portal.item(trees, for: ben) }
            await #expect(throws: PortalError.self) {
                try await portal.portal.updateItem(try await ids("Oak survey"), ItemChange(), for: ben, by: author)
            }
        }
    }

    @Test("Members of a group with shared update change what is shared with it, and no more")
    func sharedUpdate() async throws {
        try await TemporaryPortal.with { portal in
            let author = TemporaryPortal.author
            let ana = try await portal.add("ana", .administrator)
            try await portal.add("ben", .viewer)
            let item = try await portal.addItem("Map", owner: ana)
            let group = try await portal.portal.addGroup(title: "Crew", isUpdating: true, for: ana, by: author)
            _ = try await portal.portal.addMembers(["ben"], to: group.id, for: .everybody, by: author)
            _ = try await portal.portal.share(item.id, addingGroups: [group.id], for: .everybody, by: author)
            let ben = try #require(try await portal.portal.principal(named: "ben"))
            var change = ItemChange()
            change.title = "Better map"
            try await portal.portal.updateItem(item.id, change, for: ben, by: author)
            #expect(try await portal.portal.item(named: item.id).title == "Better map")
            await #expect(throws: PortalError.self) {
                try await portal.portal.removeItem(item.id, services: [], for: ben, by: author)
            }
            await #expect(throws: PortalError.self) {
                try await portal.portal.share(item.id, everyone: true, for: ben, by: author)
            }
        }
    }

    @Test("Members of a group without shared update read what is shared with it, and change nothing")
    func sharedReading() async throws {
        try await TemporaryPortal.with { portal in
            let author = TemporaryPortal.author
            let ana = try await portal.add("ana", .administrator)
            try await portal.add("ben", .publisher)
            let item = try await portal.addItem("Map", owner: ana)
            let group = try await portal.portal.addGroup(title: "Readers", for: ana, by: author)
            _ = try await portal.portal.addMembers(["ben"], to: group.id, for: .everybody, by: author)
            _ = try await portal.portal.share(item.id, addingGroups: [group.id], for: ana, by: author)
            let ben = try #require(try await portal.portal.principal(named: "ben"))
            let rights = try await portal.portal.item(item.id, for: ben).rights
            #expect(rights.reads && !rights.updates && !rights.shares && !rights.deletes)
            var change = ItemChange()
            change.title = "Worse map"
            await #expect(throws: PortalError.self) {
                try await portal.portal.updateItem(item.id, change, for: ben, by: author)
            }
            #expect(try await portal.portal.item(named: "Map").id == item.id)
        }
    }

    @Test("An item is shared with groups that the person belongs to; others are refused, though everybody sees them")
    func foreignGroups() async throws {
        try await TemporaryPortal.with { portal in
            let author = TemporaryPortal.author
            let ana = try await portal.add("ana", .administrator)
            let ben = try await portal.add("ben", .publisher)
            let foreign = try await portal.portal.addGroup(title: "Office", access: "public", for: ana, by: author)
            let own = try await portal.portal.addGroup(title: "Crew", for: ben, by: author)
            let owner = try #require(try await portal.portal.principal(named: "ben"))
            let item = try await portal.addItem("Map", owner: ben)
            let refused = try await portal.portal.share(
                item.id, addingGroups: [foreign.id, own.id], for: owner, by: author)
            #expect(refused == [foreign.id])
            #expect(try await portal.portal.item(item.id, for: owner).item.sharing.groups == [own.id])
        }
    }

    @Test("A role that may share with groups only shares nothing with the organisation or with everyone")
    func sharingByRole() async throws {
        try await TemporaryPortal.with { portal in
            let author = TemporaryPortal.author
            let role = try await portal.portal.setRole(
                id: nil, name: "Crew lead", description: "", privileges: [.createItem, .shareToGroup], by: author)
            let ben = try await portal.add("ben", role)
            let item = try await portal.addItem("Map", owner: ben)
            await #expect(throws: PortalError.self) {
                try await portal.portal.share(item.id, everyone: true, for: ben, by: author)
            }
            await #expect(throws: PortalError.self) {
                try await portal.portal.share(item.id, organisation: true, for: ben, by: author)
            }
            let sharing = try await portal.portal.item(item.id, for: ben).item.sharing
            #expect(!sharing.everyone && !sharing.organisation)
        }
    }

    @Test("A protected item is deleted by nobody, and an unprotected one by its owner")
    func protection() async throws {
        try await TemporaryPortal.with { portal in
            let author = TemporaryPortal.author
            let ana = try await portal.add("ana", .publisher)
            let item = try await portal.addItem("Map", owner: ana)
            try await portal.portal.setProtected(true, item.id, for: ana, by: author)
            do {
                try await portal.portal.removeItem(item.id, services: [], for: ana, by: author)
                Issue.record("a protected item was deleted")
            } catch let error as PortalError {
                #expect(error.kind == .protected)
            }
            try await portal.portal.setProtected(false, item.id, for: ana, by: author)
            try await portal.portal.removeItem(item.id, services: [], for: ana, by: author)
            await #expect(throws: PortalError.self) { try await portal.portal.item(item.id, for: ana) }
        }
    }

    @Test("A search has a length, a number of terms and a depth on both sides of which it is refused")
    func limits() throws {
        try Portal.check(search: String(repeating: "x", count: Limits.searchLength))
        #expect(throws: PortalError.self) {
            try Portal.check(search: String(repeating: "x", count: Limits.searchLength + 1))
        }
        try Portal.check(search: String(repeating: "x ", count: Limits.searchTerms))
        #expect(throws: PortalError.self) {
            try Portal.check(search: String(repeating: "x ", count: Limits.searchTerms + 1))
        }
        let depth = Limits.searchDepth
        try Portal.check(search: String(repeating: "(", count: depth) + "x")
        #expect(throws: PortalError.self) { try Portal.check(search: String(repeating: "(", count: depth + 1) + "x") }
    }

    @Test("Whatever is searched for is read or refused, and finds nothing that its reader may not read")
    func fuzz() async throws {
        try await Self.withItems(.file) { portal, _ in
            var generator = SystemRandomNumberGenerator()
            let pieces = [
                "(", ")", "\"", "[", "]", "{", "}", ":", "-", "!", "+", "*", "AND", "OR", "NOT", " TO ", "title",
                "type:",
                "owner:ana", "access:private", "oak", "\\", "%", "'", ";", "\u{0}", "🌳", "created:[", "1 TO 2]", "&&",
                "||", " ",
            ]
            for _ in 0..<2_000 {
                let count = Int.random(in: 1...12, using: &generator)
                let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined(
                    separator: Bool.random(using: &generator) ? " " : "")
                do {
                    let found = try await portal.portal.search(text, for: .nobody)
                    #expect(found.total == 0 && found.items.isEmpty, "\(text)")
                } catch let error as PortalError {
                    #expect(error.kind == .overLimit, "\(text)")
                }
            }
        }
    }
}
