import ArgumentParser
import FieldworkGeometry
import FieldworkPortal
import Foundation

/// `fieldwork users`.
struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users", abstract: "Manage the people who may use a server.",
        discussion: """
            A server without people asks nobody to sign in. With the first person it does.

            EXAMPLES
              fieldwork users add ana --role administrator
              fieldwork users add cy --role viewer --link https://maps.example/arcgis
              printf '%s\\n' "$PASSWORD" | fieldwork users add ben --role editor --full-name "Ben Okri"
              fieldwork users list
            """,
        subcommands: [
            Add.self, List.self, Disable.self, Enable.self, Password.self, SetRole.self, Unlock.self, Remove.self,
            Link.self, Unlink.self, Links.self, Audit.self,
        ])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a person. The password comes from the terminal, or is a line of standard input.")

        @Argument(help: "The name that the person signs in with.")
        var name: String
        @Option(help: "viewer, editor, user, publisher, administrator, or a role of the organisation.")
        var role = "viewer"
        @Option(help: "The name that others see.")
        var fullName: String?
        @Option(help: "An address of electronic mail.")
        var email = ""
        @OptionGroup var link: LinkOption
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal(makesFolder: true) { portal in
                    let role = try await portal.role(role)
                    // Nobody knows the password of somebody who is to choose one.
                    let password = try link.isWanted ? Secret.make() : PasswordInput.read(for: name)
                    let person = try await portal.addPerson(
                        name, password: password, role: role, fullName: fullName, email: email, by: .commandLine)
                    Terminal.output("\(person.name) may sign in as \(role.word).")
                    try await link.print(for: person.name, portal)
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the people with their roles.")

        @OptionGroup var place: PortalOption
        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                var (lines, list): ([String], [JSONValue]) = ([], [])
                try await place.withPortal { portal in
                    while true {
                        let page = try await portal.people(from: list.count, count: 1_000)
                        for person in page.people {
                            let role = try await portal.role(person.roleID).word
                            let state = person.isDisabled ? "  disabled" : ""
                            lines.append("\(person.name)  \(role)  \(person.fullName)\(state)")
                            list.append([
                                "username": .string(person.name), "role": .string(role),
                                "fullName": .string(person.fullName), "disabled": .bool(person.isDisabled),
                            ])
                        }
                        if page.people.isEmpty || list.count >= page.total { return }
                    }
                }
                try format.print(.array(list), lines)
            }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Keep a person from signing in, and end every token.")
        @Argument(help: "The name of the person.") var name: String
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { try await $0.setDisabled(true, name, by: .commandLine) }
                Terminal.output("\(name) can't sign in any more.")
            }
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let a disabled person sign in again.")
        @Argument(help: "The name of the person.") var name: String
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { try await $0.setDisabled(false, name, by: .commandLine) }
                Terminal.output("\(name) can sign in again.")
            }
        }
    }

    struct Password: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Set a person's password, and end every token.")
        @Argument(help: "The name of the person.") var name: String
        @OptionGroup var link: LinkOption
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { portal in
                    guard !link.isWanted else { return try await link.print(for: name, portal) }
                    let password = try PasswordInput.read(for: name)
                    try await portal.setPassword(password, of: name, by: .commandLine)
                    Terminal.output("\(name) has a new password.")
                }
            }
        }
    }

    struct SetRole: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "role", abstract: "Give a person another role.")
        @Argument(help: "The name of the person.") var name: String
        @Argument(help: "viewer, editor, user, publisher, administrator, or a role of the organisation.")
        var role: String
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { portal in
                    try await portal.setRole(try await portal.role(role), of: name, by: .commandLine)
                }
                Terminal.output("\(name) is \(role) now.")
            }
        }
    }

    struct Unlock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a person try again at once after too many failed sign-ins.")
        @Argument(help: "The name of the person.") var name: String
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { try await $0.unlock(name, by: .commandLine) }
                Terminal.output("\(name) can try again.")
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a person.")
        @Argument(help: "The name of the person.") var name: String
        @Option(help: ArgumentHelp("Who gets the person's items and groups.", valueName: "name"))
        var leaveTo: String?
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { try await $0.removePerson(name, leavingTo: leaveTo, by: .commandLine) }
                Terminal.output("\(name) is removed.")
            }
        }
    }

    struct Audit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print sign-ins and changes of rights, a line each with tabs between its parts, the newest first."
        )
        @Option(help: "How many entries.") var count = 1_000
        @OptionGroup var place: PortalOption
        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                try await place.withPortal { portal in
                    var rest = count
                    var before: Int64?
                    if format.format == .json { try Terminal.result("[") }
                    while rest > 0 {
                        let entries = try await portal.audit(before: before, count: min(rest, 1_000))
                        guard let last = entries.last else { break }
                        switch format.format {
                        case .text: for entry in entries { try Terminal.result(Self.line(entry)) }
                        case .json:
                            // A log may be long: it is never held as a whole.
                            let text = entries.map { Self.json($0).text }.joined(separator: ",\n")
                            try Terminal.result((before == nil ? "" : ",\n") + text)
                        }
                        rest -= entries.count
                        before = last.id
                    }
                    if format.format == .json { try Terminal.result("]\n") }
                }
            }
        }

        private static func json(_ entry: AuditEntry) -> JSONValue {
            [
                "moment": .integer(entry.moment), "actor": .string(entry.actor), "address": .string(entry.address),
                "action": .string(entry.action), "target": .string(entry.target), "details": .string(entry.details),
            ]
        }

        private static func line(_ entry: AuditEntry) -> String {
            let date = Date(timeIntervalSince1970: Double(entry.moment) / 1_000).ISO8601Format()
            let words = [date, entry.actor, entry.address, entry.action, entry.target, entry.details]
            // A name that somebody tried may hold what a terminal obeys.
            let plain = words.map { word in
                String(
                    String.UnicodeScalarView(
                        word.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
            }
            return plain.joined(separator: "\t") + "\n"
        }
    }
}
