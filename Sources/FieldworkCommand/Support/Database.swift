import FieldworkPostGIS
import FieldworkStore

/// Databases of services, as a verb opens them.
enum Database {
    /// A database that can't be reached is no reason to try the same again at once.
    static func open(
        _ address: String, standby: String? = nil, sessions: Int = FieldworkStore.Limits.sessions
    ) async throws -> PostgresStore {
        do {
            return try await PostgresStore.open(address, standby: standby, sessions: sessions)
        } catch let error as StoreError where error.code == .busy {
            throw CommandFailure(.unavailable, "The database can't be reached: \(error.message)")
        }
    }
}
