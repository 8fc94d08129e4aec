import ArgumentParser
import FieldworkGeometry
import FieldworkPortal

/// `fieldwork rights`.
struct RightsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rights", abstract: "Print what a person may see and change, and why.",
        discussion: """
            The same function decides for every request of a running server.

            EXAMPLES
              fieldwork rights ana
              fieldwork rights ben Trees
              fieldwork rights nobody
                  What is open to whoever has not signed in.
            """)

    @Argument(help: "The name of the person, or nobody.")
    var name: String
    @Argument(help: "The path of a service, or the id or title of an item; all of them without.")
    var item: String?
    @OptionGroup var place: PortalOption
    @OptionGroup var format: ListFormat

    /// What a person may do with an item.
    private struct Entry: Sendable {
        var item: Item
        var rights: [String]
        var reasons: [String]
    }

    func run() async throws {
        try await runVerb {
            let services = try await place.servicePaths()
            let (word, entries) = try await place.withPortal { portal in
                try await portal.addServiceItems(services)
                let principal = try await principal(portal)
                let word = principal.role?.word ?? (principal.isSignedIn ? "person" : "not signed in")
                return try await (word, self.entries(principal, portal))
            }
            try format.print(
                ["name": .string(name), "role": .string(word), "items": .array(entries.map(Self.json))],
                ["\(name)  \(word)"] + entries.flatMap(Self.lines))
        }
    }

    private func entries(_ principal: Principal, _ portal: Portal) async throws -> [Entry] {
        if let item { return [try await entry(try await portal.item(named: item), principal, portal)] }
        var entries: [Entry] = []
        while true {
            let page = try await portal.search(
                "", from: entries.count, count: 100, order: .title, isDescending: false, for: .everybody)
            for item in page.items { entries.append(try await entry(item, principal, portal)) }
            if page.items.isEmpty || entries.count >= page.total { return entries }
        }
    }

    private func principal(_ portal: Portal) async throws -> Principal {
        guard try await portal.hasPeople() else { return .everybody }
        if let person = try await portal.person(named: name) {
            guard let principal = try await portal.principal(named: name) else {
                throw CommandFailure(.badData, "\(person.name) is disabled, and may do nothing.")
            }
            return principal
        }
        guard name == "nobody" else { throw CommandFailure(.noInput, "There is no user '\(name)'.") }
        return .nobody
    }

    private func entry(_ item: Item, _ principal: Principal, _ portal: Portal) async throws -> Entry {
        let rights = ItemRights(of: principal, on: try await portal.facts(ofItem: item.id))
        return Entry(item: item, rights: rights.words(for: item), reasons: rights.reasons)
    }

    private static func name(of item: Item) -> String { item.service == nil ? item.title : item.name }

    private static func lines(_ entry: Entry) -> [String] {
        let summary = entry.rights.isEmpty ? "nothing" : entry.rights.joined(separator: ", ")
        return ["\(name(of: entry.item))  (\(entry.item.type), \(entry.item.id)): \(summary)"]
            + entry.reasons.map { "    \($0)" }
    }

    private static func json(_ entry: Entry) -> JSONValue {
        [
            "id": .string(entry.item.id), "name": .string(name(of: entry.item)), "type": .string(entry.item.type),
            "rights": .array(entry.rights.map(JSONValue.string)),
            "reasons": .array(entry.reasons.map(JSONValue.string)),
        ]
    }
}
