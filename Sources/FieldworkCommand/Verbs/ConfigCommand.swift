import ArgumentParser
import FieldworkGeometry
import FieldworkPublishing
import Foundation

/// `fieldwork config`.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check the file of options, and show what holds.",
        discussion: """
            Options may stand in fieldwork.toml: in the working folder, else /etc/fieldwork/fieldwork.toml, else where --config of
            serve or FIELDWORK_CONFIG say. A table has the options of the verb of its name; data and store before the first
            table hold for every verb:

              data = "/srv/fieldwork"

              [serve]
              port = 6080
              host = "0.0.0.0"
              allow-origin = ["https://maps.example"]
              access-log = "/var/log/fieldwork/access.log"

              [backup]
              to = "/backup/fieldwork"

            Each option is a variable too: FIELDWORK_DATA, FIELDWORK_SERVE_PORT, with commas between several values. The command
            line comes before the environment, the environment before the file.

            EXAMPLES
              fieldwork config check
              fieldwork config check /etc/fieldwork/fieldwork.toml
              fieldwork config show serve
            """,
        subcommands: [Check.self, Show.self])

    /// `fieldwork config check`.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Look for mistakes in the file of options.",
            discussion: """
                Names the line of what is wrong. A server may start with what passes; that its files and folders are there is not
                looked at.

                EXAMPLES
                  fieldwork config check
                  fieldwork config check /etc/fieldwork/fieldwork.toml
                """)

        @Argument(help: "The file; by default the one that would be read.")
        var file: String?

        func run() async throws {
            try await runVerb {
                guard let file = file ?? Configuration.file([]) else {
                    throw CommandFailure(.noInput, "There is no fieldwork.toml here and none in /etc/fieldwork.")
                }
                let tree = try CommandTree.read()
                let entries = try Configuration.entries(of: file)
                for entry in entries { try Configuration.check(entry, in: file, tree) }
                // The values of a server are tried as its command line would be.
                let words = try Configuration.applied(to: ["serve"], [Configuration.prefix + "CONFIG": file])
                do {
                    _ = try FieldworkCommand.parseAsRoot(words)
                } catch {
                    throw CommandFailure(.badData, "\(file): \(FieldworkCommand.message(for: error))")
                }
                Terminal.output("\(file): \(Counted.text(entries.count, "option")), no mistake")
            }
        }
    }

    /// `fieldwork config show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show the options of a verb that are set, and where.",
            discussion: """
                EXAMPLES
                  fieldwork config show
                  fieldwork config show backup --format json
                """)

        @Argument(help: "The verb.")
        var verb: [String] = ["serve"]

        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                let tree = try CommandTree.read()
                guard let found = tree.verb(named: verb) else {
                    throw CommandFailure(.noInput, "There is no verb \(verb.joined(separator: " ")).")
                }
                let settings = try Configuration.settings(
                    of: found, verb, tree, Configuration.file([]), ProcessInfo.processInfo.environment)
                try format.print(
                    .array(
                        settings.map {
                            [
                                "option": .string($0.option), "values": .array($0.values.map { .string($0) }),
                                "place": .string($0.place),
                            ]
                        }),
                    TextColumns.lines(settings.map { [$0.option, $0.values.joined(separator: ", "), $0.place] }))
            }
        }
    }
}
