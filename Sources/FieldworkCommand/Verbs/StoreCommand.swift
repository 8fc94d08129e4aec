import ArgumentParser
import FieldworkPostGIS
import FieldworkStore

/// `fieldwork store`.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Care for a database of services.",
        subcommands: [Initialize.self, Migrate.self, Check.self, Copy.self, Partition.self])

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

    /// `fieldwork store migrate`.
    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "migrate", abstract: "Bring a database that an older Fieldwork prepared up to date.",
            discussion: """
                Renews what the services share and what each of them was given: functions, triggers, tables of their own. The
                features stay as they are. In one transaction: whole or not at all. Servers of the older version
                may run until it begins; a server of the new one refuses a database that was not brought up to date.

                EXAMPLES
                  fieldwork store migrate --store postgres://localhost/field
                """)

        @OptionGroup var database: StoreOption

        func validate() throws {
            guard database.store != nil else { throw ValidationError("Give the address of the database: --store.") }
        }

        func run() async throws {
            try await runVerb {
                guard let address = database.store else { return }
                let isOld = try await PostgresStore.migrate(address)
                Terminal.output(isOld ? "The database is up to date now." : "The database was up to date already.")
            }
        }
    }
}
