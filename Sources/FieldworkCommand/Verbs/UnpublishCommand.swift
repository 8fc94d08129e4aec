import ArgumentParser
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork unpublish`.
struct UnpublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpublish", abstract: "Serve a service no longer. Nothing of it is deleted.",
        discussion: """
            A file that was published in place stays where it is, with its history. Any other stays in the folder of the
            services, marked, until --restore serves it again. A server that is running notices at once.

            EXAMPLES
              fieldwork unpublish Trees
              fieldwork unpublish Trees --restore
            """)

    @Argument(help: "The service: Name or Folder/Name.")
    var service: String

    @Flag(help: "Serve again what was unpublished.")
    var restore = false

    @OptionGroup var data: DataOption

    func run() async throws {
        try await runVerb {
            let store = try await DefinitionFiles.store(data)
            let name = try DefinitionFiles.name(service)
            if restore {
                try await store.restore(name)
                Terminal.output("Published \(name.path) again")
            } else if let place = try await store.unpublish(name) {
                Terminal.output("Unpublished \(name.path). Its file stays at \(place.path)")
            } else {
                Terminal.output("Unpublished \(name.path)")
            }
            try await store.close()
        }
    }
}
