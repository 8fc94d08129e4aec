import ArgumentParser
import FieldworkPortal

/// `fieldwork share`.
struct ShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Say who may see a service, a web map or another item.",
        discussion: """
            Who may see a service may read its features; who may edit them, the person's role says. With --editing
            everyone may edit a service that is shared with everyone, also without signing in: for reports by the public.

            EXAMPLES
              fieldwork share Trees --everyone
              fieldwork share "Trees of Portland" --group "Tree crew"
              fieldwork share Reports --everyone --editing
              fieldwork share Trees --private
                  Its owner alone, and administrators.
            """)

    @Argument(help: "The path of a service, or the id or title of an item.")
    var item: String
    @Flag(help: "Everyone, also without signing in.")
    var everyone = false
    @Flag(help: "With --everyone: everyone may edit the service's features too, as its capabilities allow.")
    var editing = false
    @Flag(name: [.long, .customLong("organization")], help: "Everyone who has signed in.")
    var organisation = false
    @Option(help: ArgumentHelp("The members of a group. May be given several times.", valueName: "title"))
    var group: [String] = []
    @Flag(name: .customLong("private"), help: "Nobody but the owner.")
    var isPrivate = false
    @OptionGroup var place: PortalOption

    func validate() throws {
        if editing, !everyone { throw ValidationError("--editing goes with --everyone.") }
        let wanted = [everyone, organisation, isPrivate].filter { $0 }.count
        guard wanted <= 1, wanted == 1 || !group.isEmpty, !(isPrivate && !group.isEmpty) else {
            throw ValidationError("Say one of --everyone, --organisation, --private, and groups with --group.")
        }
    }

    func run() async throws {
        try await runVerb {
            let services = try await place.servicePaths()
            try await place.withPortal { portal in
                try await portal.addServiceItems(services)
                let found = try await portal.item(named: item)
                var groups: [String] = []
                for title in group { groups.append(try await portal.group(titled: title).id) }
                _ = try await portal.share(
                    found.id, everyone: everyone, organisation: organisation || everyone, addingGroups: groups,
                    onlyGroups: true, for: .everybody, by: .commandLine)
                try await portal.setOpenToEdits(editing, found.id, for: .everybody, by: .commandLine)
                let shared = try await portal.item(named: found.id)
                let open = editing ? ", who may edit it without signing in" : ""
                Terminal.output("\(shared.title) (\(shared.type)) is shared: \(Self.words(shared.sharing))\(open)")
                let hidden = try await portal.servicesSharedLess(thanMap: found.id)
                guard !hidden.isEmpty else { return }
                Terminal.error(
                    """
                    Fewer people may see \(hidden.joined(separator: ", ")): the others see the map without \
                    \(hidden.count == 1 ? "it" : "them").
                    """)
            }
        }
    }

    private static func words(_ sharing: Sharing) -> String {
        let groups = sharing.groups.isEmpty ? "" : " and \(sharing.groups.count) group(s)"
        if sharing.everyone { return "everyone\(groups)" }
        if sharing.organisation { return "everyone who has signed in\(groups)" }
        return sharing.groups.isEmpty ? "its owner alone" : "the members of \(sharing.groups.count) group(s)"
    }
}
