package import FieldworkREST
import Synchronization

extension PostgresStore {
    /// Makes a service of a file that holds one. It is there whole or not at all: nobody sees it before its last row has come.
    /// All that the file has comes along: ids, attachments, history, replicas.
    /// - Parameter progress: is told how many features have come so far.
    /// - Returns: the number of features.
    package func publish(
        _ file: GeoPackageFile, as name: ServiceName, progress: @escaping @Sendable (Int) -> Void
    ) async throws -> Int {
        let count = Mutex(0)
        _ = try await takeOver(file.source, as: name, verifies: false) { part in
            guard part.isOfFeatures else { return }
            progress(
                count.withLock { count in
                    count += part.rows
                    return count
                })
        }
        return count.withLock { $0 }
    }

    /// In one transaction: a process that ends in its midst leaves nothing.
    package func takeOver(
        _ original: ConnectionSource, as name: ServiceName, verifies: Bool,
        progress: @escaping @Sendable (CopyProgress) -> Void
    ) async throws -> [String: TableChecksum] {
        try await OneTimeWorker().run { [connect] in
            try original.readOneState { source in
                var service = try ServiceCatalogue.read(from: source)
                service.definition.name = name
                try DefinitionRules.check(service.definition)
                let target = StoreConnection(session: try connect(PostgresFunctions.schema, true))
                return try target.transaction(SQLDialect.beginWithoutTimeLimits) {
                    let copy = try PostgresCatalogue.create(service.definition, on: target)
                    let checksums = try ServiceCopier(source: source, target: target, progress: progress)
                        .run(service, to: copy)
                    if verifies { try ServiceChecksums.verify(checksums, on: target) }
                    try Task.checkCancellation()
                    return checksums
                }
            }
        }
    }
}
