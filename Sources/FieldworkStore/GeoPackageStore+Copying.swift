package import FieldworkREST
import Foundation

extension GeoPackageStore {
    /// In a file that gets its name when it is complete and on the disk. What a process left that ended in its midst is removed by
    /// the next one.
    package func takeOver(
        _ original: ConnectionSource, as name: ServiceName, verifies: Bool,
        progress: @escaping @Sendable (CopyProgress) -> Void
    ) async throws -> [String: TableChecksum] {
        let place = try Self.place(of: name, in: folder)
        guard !FileManager.default.fileExists(atPath: place.path) else {
            throw StoreError(.serviceExists, "There is a service \(name.path) already, or one that is unpublished.")
        }
        let parent = place.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        let unfinished = parent.appending(
            path: ".\(place.lastPathComponent).copying", directoryHint: .notDirectory)
        return try await OneTimeWorker().run {
            Self.remove(unfinished)
            do {
                let checksums = try original.readOneState { source in
                    try Self.fill(unfinished, from: source, as: name, verifies: verifies, progress: progress)
                }
                try Task.checkCancellation()
                try NewFile(url: place).place(unfinished)
                return checksums
            } catch {
                Self.remove(unfinished)
                throw error
            }
        }
    }

    private static func fill(
        _ unfinished: URL, from source: StoreConnection, as name: ServiceName, verifies: Bool,
        progress: (CopyProgress) -> Void
    ) throws -> [String: TableChecksum] {
        var service = try ServiceCatalogue.read(from: source)
        service.definition.name = name
        try NewFile.fill(unfinished, service.definition)
        let target = try StoreConnection(path: unfinished.path, mode: .readWrite)
        defer { target.forgetStatements() }
        // It has no name yet: what is lost with the power is made again. It is brought to the disk at the end.
        try target.execute("PRAGMA synchronous = OFF")
        try target.execute("PRAGMA journal_mode = MEMORY")
        try target.execute("PRAGMA cache_size = -\(Limits.replicaFileCacheKibibytes)")
        return try withoutActuallyEscaping(progress) { progress in
            let copy = try ServiceCatalogue.read(from: target)
            try ReplicaTables.prepare(copy, on: target)
            let checksums = try target.transaction {
                try ServiceCopier(source: source, target: target, progress: progress).run(service, to: copy)
            }
            if verifies { try ServiceChecksums.verify(checksums, on: target) }
            return checksums
        }
    }

    private static func remove(_ unfinished: URL) {
        for suffix in ["-journal", "-wal", "-shm", ""] {
            try? FileManager.default.removeItem(atPath: unfinished.path + suffix)
        }
    }
}
