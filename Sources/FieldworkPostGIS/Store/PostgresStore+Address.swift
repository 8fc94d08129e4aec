package import FieldworkStore

extension PostgresStore {
    /// Opens the database at an address (`postgres://user@host:port/database`). Throws `StoreError`.
    /// - Parameter standby: the address of a standby of it that answers queries; nil: the primary answers them.
    package static func open(_ address: String, standby: String? = nil) async throws -> PostgresStore {
        try await PostgresStore(
            connect: sessions(address), standby: try standby.map { Standby(connect: try sessions($0)) })
    }

    /// Prepares the database at an address for services.
    package static func initialize(_ address: String) async throws {
        try await initialize(connect: sessions(address))
    }

    /// Makes sessions of the database at an address. Throws `StoreError` for what is no address.
    package static func sessions(_ address: String) throws -> Connect {
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
