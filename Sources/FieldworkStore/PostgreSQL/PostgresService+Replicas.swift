package import FieldworkREST
package import Foundation

extension PostgresService {
    /// See `ReplicaStore.write`.
    package func write(
        _ request: ChangeRequest, of catalogue: ServiceCatalogue, as definition: ServiceDefinition, into target: URL,
        notes: @escaping @Sendable (Int64) -> [(name: String, value: String)]
    ) async throws -> Int64 {
        let maker = ReplicaFileWriter(catalogue: catalogue, source: .database(source), target: target)
        return try await OneTimeWorker().run { try maker.make(request, definition, notes: notes) }
    }
}
