import ArgumentParser
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore

extension StoreCommand {
    /// `fieldwork store partition`.
    struct Partition: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "partition", abstract: "Keep the table of a large layer in several parts.",
            discussion: """
                The parts are PostgreSQL's own partitions, by the hash of the object id: each is vacuumed, analysed and indexed by
                itself, and can be moved to another disk. Nothing changes for clients. The table is copied, in one transaction:
                edits of the layer wait until its end, queries while the indexes are made, and who waits for too long is told 503.
                Replicas that are being made are waited for. There has to be room for the table twice. With --parts 1 it is one
                table again.

                Values that a definition says to be unique can't be kept in parts, besides global ids.

                EXAMPLES
                  fieldwork store partition Trees --layer 0 --parts 16 --store postgres://localhost/field
                """)

        @Argument(help: "The service: Name or Folder/Name.")
        var service: String

        @Option(help: "The id of the layer or table.")
        var layer = 0

        @Option(help: "How many parts.")
        var parts: Int

        @OptionGroup var database: StoreOption

        func validate() throws {
            guard database.store != nil else { throw ValidationError("Give the address of the database: --store.") }
            guard (1...FieldworkStore.Limits.partitions).contains(parts) else {
                throw ValidationError("A table has 1 to \(FieldworkStore.Limits.partitions) parts.")
            }
        }

        func run() async throws {
            try await runVerb {
                guard let address = database.store else { return }
                let place = LayerAddress(service: try DefinitionFiles.name(service), layerID: layer)
                let store = try await Database.open(address)
                let before = try await closing(store) { store in
                    let before = try await store.parts(of: place)
                    if before != parts {
                        Terminal.error("Copying the table of layer \(layer) of \(place.service.path)")
                        try await store.partition(place, into: parts)
                    }
                    return before
                }
                let now = parts == 1 ? "is one table" : "has \(parts) parts"
                Terminal.output("Layer \(layer) of \(place.service.path) \(now)\(before == parts ? " already" : "")")
            }
        }
    }
}
