import ArgumentParser
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

    func run() async throws {
        try await runVerb {
            let services = try await place.servicePaths()
            try await place.withPortal { portal in
                try await portal.addServiceItems(services)
                let principal = try await principal(portal)
                Terminal.output(
                    "\(name)  \(principal.role?.word ?? (principal.isSignedIn ? "person" : "not signed in"))")
                if let item {
                    try await show(try await portal.item(named: item), principal, portal)
                    return
                }
                var start = 0
                while true {
                    let page = try await portal.search(
                        "", from: start, count: 100, order: .title, isDescending: false, for: .everybody)
                    for item in page.items { try await show(item, principal, portal) }
                    start += page.items.count
                    if page.items.isEmpty || start >= page.total { return }
                }
            }
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

    private func show(_ item: Item, _ principal: Principal, _ portal: Portal) async throws {
        let rights = ItemRights(of: principal, on: try await portal.facts(ofItem: item.id))
        let words = rights.words(for: item)
        let summary = words.isEmpty ? "nothing" : words.joined(separator: ", ")
        Terminal.output("\(item.service == nil ? item.title : item.name)  (\(item.type), \(item.id)): \(summary)")
        for reason in rights.reasons { Terminal.output("    \(reason)") }
    }
}
