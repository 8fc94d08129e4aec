import ArgumentParser
import FieldworkGeometry
import FieldworkREST
import FieldworkServer
import FieldworkStore
import Foundation

/// `fieldwork service`: definitions as documents.
struct ServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service", abstract: "Show, check and change the definition of a service.",
        discussion: """
            A definition is one JSON document in the members that the service's and its layers' resources have: aliases,
            domains, types, templates, renderers, labels, relationships, scales, definitionExpression, capabilities.

            EXAMPLES
              fieldwork service show Trees > trees.json
              fieldwork service validate trees.json
              fieldwork service edit Trees --file trees.json
              fieldwork service key admin.key
            """,
        subcommands: [Show.self, Edit.self, Validate.self, Key.self])

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the definition of a service.",
            discussion: """
                EXAMPLES
                  fieldwork service show Trees
                  fieldwork service show Trees --store postgres://localhost/field
                """)

        @Argument(help: "The service: Name or Folder/Name.")
        var service: String
        @OptionGroup var services: PlaceOption

        func run() async throws {
            try await runVerb {
                let store = try await services.place.open()
                let definition = try await store.service(try DefinitionFiles.name(service))
                try await store.close()
                var document = definition.document.objectValue ?? JSONObject()
                document["revision"] = .string(definition.revision)
                var bytes: [UInt8] = []
                JSONValue.object(document).writePretty(to: &bytes)
                Terminal.output(String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the definition of a service, also while it is served.",
            discussion: """
                New layers and fields are made. What the document leaves out is removed only with --allow-removal; the values
                stay in the history. Every problem is printed with its place, and then nothing has changed.

                EXAMPLES
                  fieldwork service edit Trees --file trees.json
                  fieldwork service show Trees | sed s/Street/Road/ | fieldwork service edit Trees
                """)

        @Argument(help: "The service: Name or Folder/Name.")
        var service: String
        @Option(help: "The document; standard input without it.")
        var file: String?
        @Flag(help: "Change only what the document names, instead of replacing the whole definition.")
        var merge = false
        @Flag(help: "Remove layers and fields that the document leaves out.")
        var allowRemoval = false
        @OptionGroup var services: PlaceOption

        func validate() throws {
            if merge, allowRemoval { throw ValidationError("--merge removes nothing: leave out --allow-removal.") }
        }

        func run() async throws {
            try await runVerb {
                let document = try DefinitionFiles.read(file)
                let store = try await services.place.open()
                let name = try DefinitionFiles.name(service)
                let current = try await store.service(name)
                if let revision = document["revision"]?.stringValue, revision != current.revision {
                    throw CommandFailure(
                        .temporary, "\(name.path) has changed since the document was printed. Nothing was changed.")
                }
                let wanted = try merge ? DefinitionFiles.merged(document, into: current) : document
                let changed = try DefinitionFiles.definition(wanted, name, replacing: current)
                try UnknownMembers.check(changed, replacing: current)
                guard changed != current else {
                    // An edit that changes nothing is no generation either.
                    try await store.close()
                    return Terminal.output("\(name.path) is as the document says already")
                }
                let removals: DefinitionChanges = allowRemoval ? .removals : []
                try await store.updateService(
                    changed, allowing: merge ? [] : removals.union(.additions), replacing: current)
                try await store.close()
                Terminal.output("Changed \(name.path)")
            }
        }
    }

    struct Validate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Look for the problems of a definition document. Changes nothing.",
            discussion: """
                EXAMPLES
                  fieldwork service validate trees.json
                """)

        @Argument(help: "The document; standard input without it.")
        var file: String?

        func run() async throws {
            try await runVerb {
                let document = try DefinitionFiles.read(file)
                let definition = try DefinitionFiles.definition(document, ServiceName(name: "Service"))
                try UnknownMembers.check(definition)
                try DefinitionFiles.checkScripts(of: definition)
                Terminal.output("The definition is valid")
            }
        }
    }

    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a key for the administrative operations of a server.",
            discussion: """
                Prints the key, which is kept nowhere; the file holds its hash, for fieldwork serve --admin-key-file.

                EXAMPLES
                  fieldwork service key admin.key
                """)

        @Argument(help: "The new file for the key's hash.")
        var file: String

        func run() async throws {
            try await runVerb {
                let url = URL(filePath: (file as NSString).expandingTildeInPath)
                do {
                    Terminal.output(try AdministrationKey.writeNew(to: url))
                } catch let error as CocoaError {
                    throw CommandFailure(.cannotCreate, FileErrorWords.text(error))
                }
            }
        }
    }
}
