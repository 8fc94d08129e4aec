import ArgumentParser
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork unpublish`.
struct UnpublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpublish", abstract: "Stop serving a service, or delete it.",
        discussion: """
            A file that was published in place stays where it is, with its history. Any other stays in the folder of the
            services, marked, until --restore serves it again; a service of a database stays there in its schema. Of a
            database's table that was published in place all is taken away that it was given, with the history; the table stays.
            A server that is running notices at once.

            --delete removes a service for good, published or not, with its features, attachments, history and replicas: nothing
            brings it back but a backup. It asks for the service's name; a script gives --yes. A file that was published in place,
            or a table of a database, is never deleted.

            EXAMPLES
              fieldwork unpublish Trees
              fieldwork unpublish Trees --delete
              fieldwork unpublish Trees --restore
              fieldwork unpublish Trees --store postgres://localhost/field
            """)

    @Argument(help: "The service: Name or Folder/Name.")
    var service: String

    @Flag(help: "Serve again what was unpublished.")
    var restore = false

    @Flag(help: "Delete the service with all that is in it.")
    var delete = false

    @Flag(help: "With --delete, ask nobody.")
    var yes = false

    @OptionGroup var services: PlaceOption

    func validate() throws {
        guard !restore || !delete else { throw ValidationError("Give --restore or --delete, not both.") }
        guard delete || !yes else { throw ValidationError("--yes goes with --delete.") }
    }

    func run() async throws {
        try await runVerb {
            let name = try DefinitionFiles.name(service)
            if delete { return try await ServiceDeletion(name: name, asks: !yes).run(services.data, services.database) }
            if let address = services.database.store { return try await unpublish(name, from: address) }
            let store = try await DefinitionFiles.store(services.data)
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

    private func unpublish(_ name: ServiceName, from address: String) async throws {
        let store = try await Database.open(address)
        do {
            try await restore ? store.restore(name) : store.unpublish(name)
            try await store.close()
        } catch {
            try? await store.close()
            throw error
        }
        Terminal.output(restore ? "Published \(name.path) again" : "Unpublished \(name.path)")
    }
}
