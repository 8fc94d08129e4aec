package import Foundation

/// A copy of a service's file that is whole: taken of a file that is served as well, checked, and there under its name when it
/// is complete and on the disk.
package struct FileBackup: Sendable {
    let source: URL
    let target: URL

    /// - Parameters:
    ///   - source: the file of a service, which a server may have open.
    ///   - target: where the copy comes.
    package init(of source: URL, to target: URL) {
        self.source = source
        self.target = target
    }

    /// Throws `StoreError.serviceExists` when there is a file at the target and it is not to be replaced, `StoreError.corrupt`
    /// with the findings when the copy is not whole, `CancellationError`.
    /// - Returns: the generation of the copy.
    @discardableResult
    package func make(
        replaces: Bool = false, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws -> Int64 {
        guard replaces || !FileManager.default.fileExists(atPath: target.path) else {
            throw StoreError(.serviceExists, "\(target.path) is there already.")
        }
        try OwnFiles.createFolder(target.deletingLastPathComponent())
        let partial = Self.workingFile(for: target)
        do {
            let generation = try await OneTimeWorker().run {
                try FileCopy(source: source, target: partial, progress: progress).make()
                return try Self.detach(partial) { try ChangeLog.generation(on: $0) }
            }
            try Task.checkCancellation()
            try await Self.requireWhole(partial, called: source.lastPathComponent)
            try Self.place(partial, at: target, replaces: replaces)
            return generation
        } catch {
            Self.remove(partial)
            throw error
        }
    }

    static func workingFile(for target: URL) -> URL {
        target.deletingLastPathComponent().appending(
            path: ".\(target.lastPathComponent).\(UUID().uuidString).making", directoryHint: .notDirectory)
    }

    /// Makes a copy a file of its own: no log of the original belongs to it, and it needs none.
    /// - Parameter isServed: whether it is to be opened by a server, which writes ahead.
    static func detach<Result>(
        _ copy: URL, isServed: Bool = false, _ body: (StoreConnection) throws -> Result
    ) throws -> Result {
        try OwnFiles.protect(copy)
        let connection = try StoreConnection(path: copy.path, mode: .readWrite)
        defer { connection.forgetStatements() }
        guard try ServiceCatalogue.exists(on: connection) else {
            throw StoreError(.notAGeoPackage, "\(copy.lastPathComponent) is no GeoPackage of a service.")
        }
        try LogStamp.prepare(on: connection)
        let result = try connection.transaction {
            let result = try body(connection)
            try connection.execute("UPDATE fieldwork_state SET stamp = random(), base = NULL WHERE id = 1")
            return result
        }
        connection.forgetStatements()
        try connection.execute("PRAGMA journal_mode = \(isServed ? "WAL" : "DELETE")")
        return result
    }

    static func requireWhole(_ copy: URL, called name: String) async throws {
        let findings = await FileCheck(copy).findings()
        guard findings.isEmpty else {
            throw StoreError(.corrupt, "\(name) is not whole: \(findings.prefix(5).joined(separator: " "))")
        }
    }

    static func place(_ copy: URL, at target: URL, replaces: Bool) throws {
        if !replaces { return try NewFile(url: target).place(copy) }
        try NewFile.synchronize(copy)
        guard rename(copy.path, target.path) == 0 else {
            throw StoreError(.failure, "\(target.path) can't be replaced: \(String(cString: strerror(errno))).")
        }
        try NewFile.synchronize(target.deletingLastPathComponent())
    }

    static func remove(_ copy: URL) {
        for suffix in ["-journal", "-wal", "-shm", ""] {
            try? FileManager.default.removeItem(atPath: copy.path + suffix)
        }
    }
}
