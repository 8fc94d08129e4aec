import ArgumentParser
import FieldworkPostGIS
import FieldworkStore

/// `fieldwork store`.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Care for a database of services.",
        subcommands: [Initialize.self, Check.self, Copy.self, Partition.self])

    /// `fieldwork store init`.
    struct Initialize: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init", abstract: "Prepare a database of PostgreSQL with PostGIS for services.",
            discussion: """
                Makes the schema fieldwork with the list of the services and the functions that they share. Does no harm to a
                database that is prepared already.

                EXAMPLES
                  createdb field && psql field -c 'CREATE EXTENSION postgis'
                  fieldwork store init --store postgres://localhost/field
                """)

        @OptionGroup var database: StoreOption

        func validate() throws {
            guard database.store != nil else { throw ValidationError("Give the address of the database: --store.") }
        }

        func run() async throws {
            try await runVerb {
                guard let address = database.store else { return }
                try await PostgresStore.initialize(address)
                Terminal.output("The database is ready for services.")
            }
        }
    }
}
