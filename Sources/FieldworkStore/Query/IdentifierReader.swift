import FieldworkREST
import Foundation

/// Reads the object ids of features.
struct IdentifierReader {
    let layer: StoredLayer
    let connection: StoreConnection

    func objectIDs(_ query: FeatureQuery) throws -> [Int64] {
        let plan = try QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds)
            .identifiers(query)
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        statement.page()
        var ids: [Int64] = []
        while try statement.step(), ids.count < plan.limit ?? .max {
            ids.append(statement.integer(0))
            guard ids.count % Limits.idsPerStatement == 0 else { continue }
            try connection.watch.charge(Limits.idsPerStatement * MemoryLayout<Int64>.size)
            try connection.watch.check()
        }
        return ids
    }
}
