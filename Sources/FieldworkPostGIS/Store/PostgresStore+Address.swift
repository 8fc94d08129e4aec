package import FieldworkStore

extension PostgresStore {
    /// Opens the database at an address (`postgres://user@host:port/database`). Throws `StoreError`.
    /// - Parameters:
    ///   - standby: the address of a standby of it that answers queries, or of several; nil: the primary answers them.
    ///   - sessions: how many connections all services have together.
    package static func open(
        _ address: String, standby: String? = nil, sessions: Int = FieldworkStore.Limits.sessions
    ) async throws -> PostgresStore {
        let standbys = try standby.map { try settings($0).hosts } ?? []
        return try await PostgresStore(
            connect: Self.sessions(address), standbys: standbys.map { Standby(connect: Self.sessions($0)) },
            sessions: sessions)
    }

    /// Prepares the database at an address for services.
    package static func initialize(_ address: String) async throws {
        try await initialize(connect: sessions(address))
    }

    /// Brings the database at an address, which an older Fieldwork prepared, up to date. Throws `StoreError.notPrepared` for one
    /// that is not prepared.
    /// - Returns: whether it was not.
    package static func migrate(_ address: String) async throws -> Bool {
        try await migrate(connect: sessions(address))
    }

    /// Makes sessions of the database at an address. Throws `StoreError` for what is no address.
    package static func sessions(_ address: String) throws -> Connect { sessions(try settings(address)) }

    private static func settings(_ address: String) throws -> PostgresSettings {
        do {
            return try PostgresSettings(address)
        } catch {
            throw error.storeError
        }
    }

    package static func sessions(_ settings: PostgresSettings) -> Connect {
        { schema, writes in
            var settings = settings
            settings.searchPath = schema == functionsSchema ? [schema] : [schema, functionsSchema]
            settings.writes = writes
            settings.awaitsReplication = writes
            do {
                return try PostgresConnection(settings)
            } catch let error as PostgresError {
                throw error.storeError
            }
        }
    }
}
