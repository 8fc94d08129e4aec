package import FieldworkREST
package import Foundation

extension PostgresStore: ReplicaStore {
    package func write(
        _ request: ChangeRequest, of service: ServiceName, as definition: ServiceDefinition, into file: URL,
        notes: @escaping @Sendable (Int64) -> [(name: String, value: String)]
    ) async throws -> Int64 {
        let data = try await data(of: service)
        return try await data.write(request, of: data.catalogueSnapshot, as: definition, into: file, notes: notes)
    }
}
