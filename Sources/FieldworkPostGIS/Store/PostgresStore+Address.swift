package import FieldworkStore

extension PostgresStore {
    /// Opens the database at an address (`postgres://user@host:port/database`). Throws `StoreError`.
    package static func open(_ address: String) async throws -> PostgresStore {
        try await PostgresStore(connect: sessions(address))
    }

    /// Prepares the database at an address for services.
    package static func initialize(_ address: String) async throws {
        try await initialize(connect: sessions(address))
    }

    private static func sessions(_ address: String) throws -> Connect {
        do {
            let settings = try PostgresSettings(address)
            return { schema, writes in
                var settings = settings
                settings.searchPath = schema == functionsSchema ? [schema] : [schema, functionsSchema]
                settings.writes = writes
                do {
                    return try PostgresConnection(settings)
                } catch let error as PostgresError {
                    throw error.storeError
                }
            }
        } catch {
            throw error.storeError
        }
    }
}
