import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// What is printed of a person's rights is what the routes do, in random states of people, roles, groups and sharing. A test run
/// sends some hundred probes; `FIELDWORK_RIGHTS_PROBES=100000` says how many, `FIELDWORK_RIGHTS_SEED` repeats them.
@Suite("Rights in random probes", .fewAtATime)
struct RightsProbeTests {
    private static let author = Author(name: "test", address: "")
    private static let people = ["administrator", "owner", "editor", "viewer"]
    /// Probes of one state, before the next one is made.
    private static let probesOfState = 20

    private static let count = ProcessInfo.processInfo.environment["FIELDWORK_RIGHTS_PROBES"].flatMap { Int($0) } ?? 400
    private static let seed =
        ProcessInfo.processInfo.environment["FIELDWORK_RIGHTS_SEED"].flatMap { UInt64($0) }
        ?? .random(in: 0...1_000_000)

    /// What a probe does, and the right that it needs.
    private enum Action: String, CaseIterable {
        case describe, query, find, page, edit, update, share, administer, delete

        /// What `fieldwork rights` and the pages print for it.
        var word: String {
            switch self {
            case .describe, .query, .find, .page: "sees"
            case .edit: "edits features"
            case .update: "changes the item"
            case .share: "shares"
            case .administer: "administers"
            case .delete: "deletes"
            }
        }

        /// What a web map has no route for, and what a service's item has none for.
        static let ofService: [Action] = [.describe, .query, .find, .page, .edit, .update, .share, .administer]
        static let ofMap: [Action] = [.describe, .find, .page, .update, .share, .delete]
    }

    private struct Stage {
        let people: PeopleServer
        /// A service, and a view of it whose rights are its own.
        let services: [Item]
        var map: Item
        let groups: [Group]
        let role: Role
        var tokens: [String: String] = [:]
    }

    @Test("What is printed of a person's rights is what the routes do")
    func probes() async throws {
        try await PeopleServer.with { people in
            var generator = SeededGenerator(seed: Self.seed)
            var stage = try await Self.stage(people)
            var outcomes: [String: Int] = [:]
            for number in 0..<Self.count {
                if number % Self.probesOfState == 0 { try await Self.shuffle(&stage, &generator) }
                let isMap = Bool.random(using: &generator)
                let actions = isMap ? Action.ofMap : Action.ofService
                let action = try #require(actions.randomElement(using: &generator))
                let name = (Self.people + [nil]).randomElement(using: &generator) ?? nil
                let item = isMap ? stage.map : try #require(stage.services.randomElement(using: &generator))
                let facts = try await people.portal.facts(ofItem: item.id)
                let principal = try await Self.principal(name, people)
                let rights = ItemRights(of: principal, on: facts)
                let expected = rights.words(for: item).contains(action.word)
                let done = try await Self.send(action, item, isMap, facts, stage.tokens[name ?? ""], people)
                let words =
                    "seed \(Self.seed), probe \(number): \(action) of \(item.title) by \(name ?? "nobody") "
                    + "(\(principal.privileges.map(\.rawValue).sorted())): \(facts)"
                // The states that follow are others after a probe that was wrong.
                try #require(done == expected, "\(words)")
                outcomes["\(action) \(done)", default: 0] += 1
                if action == .delete, done { stage.map = try await Self.addMap(people) }
            }
            // Each of the actions was seen to be allowed and to be refused.
            let seen = Action.allCases.flatMap { ["\($0) true", "\($0) false"] }
            if Self.count >= 400 { for outcome in seen { #expect(outcomes[outcome] != nil, "\(outcome)") } }
        }
    }

    private static func principal(_ name: String?, _ people: PeopleServer) async throws -> Principal {
        guard let name else { return .nobody }
        return try #require(try await people.portal.principal(named: name))
    }

    // MARK: States

    private static func stage(_ people: PeopleServer) async throws -> Stage {
        let portal = people.portal
        try await ViewPortalTests.addShade(people)
        var services: [Item] = []
        for name in ["Trees", "Shade"] { services.append(try #require(try await portal.item(ofService: name))) }
        var groups: [Group] = []
        for isUpdating in [false, true] {
            groups.append(
                try await portal.addGroup(
                    title: isUpdating ? "Updating" : "Reading", isUpdating: isUpdating, for: .everybody,
                    owner: "administrator", by: author))
        }
        let role = try await portal.setRole(
            id: nil, name: "Any", description: "", privileges: [], by: author)
        var stage = Stage(
            people: people, services: services, map: try await addMap(people), groups: groups, role: role)
        for name in Self.people { stage.tokens[name] = try await people.token(name) }
        return stage
    }

    private static func addMap(_ people: PeopleServer) async throws -> Item {
        var change = ItemChange()
        (change.title, change.type) = ("Map", "Web Map")
        return try await people.portal.addItem(change, owner: "owner", for: .everybody, by: author)
    }

    /// Changes what rights depend on: owners, roles, members, sharing, protection.
    private static func shuffle(_ stage: inout Stage, _ generator: inout SeededGenerator) async throws {
        let portal = stage.people.portal
        let privileges = Privilege.allCases.filter { _ in Bool.random(using: &generator) }
        _ = try await portal.setRole(
            id: stage.role.id, name: stage.role.name, description: "", privileges: Set(privileges), by: author)
        for name in ["owner", "editor", "viewer"] {
            let role = (Role.all + [stage.role, stage.role]).randomElement(using: &generator) ?? .viewer
            try await portal.setRole(role, of: name, by: author)
            for group in stage.groups {
                if Bool.random(using: &generator) {
                    _ = try await portal.addMembers([name], to: group.id, for: .everybody, by: author)
                } else {
                    _ = try await portal.removeMembers([name], from: group.id, for: .everybody, by: author)
                }
            }
        }
        for item in stage.services + [stage.map] {
            let owner = people.randomElement(using: &generator) ?? "owner"
            try await portal.reassign(item.id, to: owner, for: .everybody, by: author)
            let shared = stage.groups.filter { _ in Int.random(in: 0..<3, using: &generator) == 0 }.map(\.id)
            let everyone = Int.random(in: 0..<4, using: &generator) == 0
            _ = try await portal.share(
                item.id, everyone: everyone, organisation: Bool.random(using: &generator), addingGroups: shared,
                onlyGroups: true, for: .everybody, by: author)
            try await portal.setProtected(Bool.random(using: &generator), item.id, for: .everybody, by: author)
            if item.id != stage.map.id {
                let isOpen = everyone && Bool.random(using: &generator)
                try await portal.setOpenToEdits(isOpen, item.id, for: .everybody, by: author)
            }
        }
    }

    // MARK: Requests

    /// - Returns: whether it was done. Nothing that it does changes what the next one finds, but for a map that is deleted.
    private static func send(
        _ action: Action, _ item: Item, _ isMap: Bool, _ facts: ItemFacts, _ token: String?, _ people: PeopleServer
    ) async throws -> Bool {
        let client = people.client
        let portal = "/arcgis/sharing/rest"
        let headers = token.map { [("X-Esri-Authorization", "Bearer \($0)")] } ?? []
        let owned = "\(portal)/content/users/\(facts.owner)/items/\(item.id)"
        switch action {
        case .describe:
            let path = isMap ? "\(portal)/content/items/\(item.id)" : "\(item.name)/FeatureServer/0"
            return try await client.get(path, ["f": "json"], headers: headers).errorCode == nil
        case .query:
            return try await client.get(
                "\(item.name)/FeatureServer/0/query", ["f": "json", "where": "1=1", "returnCountOnly": "true"],
                headers: headers
            ).errorCode == nil
        case .find:
            let found = try await client.get("\(portal)/search", ["f": "json", "q": "id:\(item.id)"], headers: headers)
            return try found.json["total"] == 1
        case .page:
            let page = try await client.get("/arcgis/home/item.html", ["id": item.id], headers: headers)
            return page.status == 200
        case .edit:
            return try await client.post(
                "\(item.name)/FeatureServer/0/deleteFeatures", ["f": "json", "objectIds": "999999"], headers: headers
            ).errorCode == nil
        case .update:
            return try await client.post("\(owned)/update", ["f": "json", "snippet": "probed"], headers: headers)
                .errorCode
                == nil
        case .share:
            // As it is shared already: widening takes a privilege of its own.
            let everyone = facts.sharing.everyone
            return try await client.post(
                "\(owned)/share",
                ["f": "json", "everyone": "\(everyone)", "org": "\(facts.sharing.organisation)"], headers: headers
            ).errorCode == nil
        case .administer:
            return try await client.post(
                "/arcgis/rest/admin/services/\(item.name)/FeatureServer/refresh", ["f": "json"], headers: headers
            ).errorCode == nil
        case .delete:
            return try await client.post("\(owned)/delete", ["f": "json"], headers: headers).errorCode == nil
        }
    }
}
