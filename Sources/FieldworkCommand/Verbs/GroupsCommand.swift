import ArgumentParser
import FieldworkGeometry
import FieldworkPortal

/// `fieldwork groups`.
struct GroupsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "groups", abstract: "Manage groups of people who share maps and services.",
        discussion: """
            EXAMPLES
              fieldwork groups add "Tree crew" --owner ana
              fieldwork groups join "Tree crew" ben carla
              fieldwork share Trees --group "Tree crew"
            """,
        subcommands: [Add.self, List.self, Join.self, Leave.self, Remove.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a group.")
        @Argument(help: "The title of the group.") var title: String
        @Option(help: ArgumentHelp("Who owns it.", valueName: "name")) var owner: String
        @Option(help: "Who sees the group: private, org or public.") var access = "private"
        @Flag(help: "Members may change the items that are shared with the group.") var sharedUpdate = false
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { portal in
                    let group = try await portal.addGroup(
                        title: title, access: access, isUpdating: sharedUpdate, for: .everybody, owner: owner,
                        by: .commandLine)
                    Terminal.output("\(group.id)  \(group.title)")
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the groups with their members.")
        @OptionGroup var place: PortalOption
        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                var (lines, list): ([String], [JSONValue]) = ([], [])
                try await place.withPortal { portal in
                    for group in try await portal.groups(for: .everybody) {
                        let members = try await portal.members(of: group.id, for: .everybody)
                        lines += ["\(group.id)  \(group.title)  (\(group.access))", "  owner: \(members.owner)"]
                        lines += members.managers.map { "  manager: \($0)" } + members.members.map { "  member: \($0)" }
                        list.append([
                            "id": .string(group.id), "title": .string(group.title), "access": .string(group.access),
                            "owner": .string(members.owner), "managers": .array(members.managers.map(JSONValue.string)),
                            "members": .array(members.members.map(JSONValue.string)),
                        ])
                    }
                }
                try format.print(.array(list), lines)
            }
        }
    }

    struct Join: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add people to a group.")
        @Argument(help: "The title or the id of the group.") var group: String
        @Argument(help: "The names of the people.") var names: [String]
        @Flag(help: "They manage the group.") var managers = false
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { portal in
                    let found = try await portal.group(titled: group)
                    let unknown = try await portal.addMembers(
                        managers ? [] : names, managers: managers ? names : [], to: found.id, for: .everybody,
                        by: .commandLine)
                    guard unknown.isEmpty else {
                        throw CommandFailure(.noInput, "There is no user \(unknown.joined(separator: ", ")).")
                    }
                }
            }
        }
    }

    struct Leave: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Take people out of a group.")
        @Argument(help: "The title or the id of the group.") var group: String
        @Argument(help: "The names of the people.") var names: [String]
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { portal in
                    let found = try await portal.group(titled: group)
                    let unknown = try await portal.removeMembers(
                        names, from: found.id, for: .everybody, by: .commandLine)
                    guard unknown.isEmpty else {
                        throw CommandFailure(.noInput, "No member: \(unknown.joined(separator: ", ")).")
                    }
                }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a group. Its items stay with their owners.")
        @Argument(help: "The title or the id of the group.") var group: String
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { portal in
                    let found = try await portal.group(titled: group)
                    try await portal.removeGroup(found.id, for: .everybody, by: .commandLine)
                }
            }
        }
    }
}
