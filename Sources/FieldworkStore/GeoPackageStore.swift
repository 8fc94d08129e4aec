package import FieldworkREST
package import Foundation
import Synchronization

/// Services kept as GeoPackages in a folder: `<name>.gpkg`, or `<folder>/<name>.gpkg`. Each file opens as it stands in
/// QGIS, and a copy of a file is a backup.
package final class GeoPackageStore: ServiceStore {
    package let folder: URL
    private let state = Mutex(State())
    private let listing = FolderListing<[ServiceName]>()

    private struct State {
        var files: [ServiceName: GeoPackageFile] = [:]
        var attached: [ServiceName: URL] = [:]
        /// Files that were open before another one came into their place, until that one is open.
        var formers: [ServiceName: FileWatch] = [:]
        /// Files on their way to be opened in the place of others.
        var arrivals: [ServiceName: Task<GeoPackageFile, any Error>] = [:]
        var isClosed = false
    }

    /// Is told what an operator should know.
    private let notice: @Sendable (String) -> Void
    /// A thousand services have no thousand connections.
    let budget: ConnectionBudget

    private init(folder: URL, connections: Int, notice: @escaping @Sendable (String) -> Void) {
        self.folder = folder
        budget = ConnectionBudget(limit: connections)
        self.notice = notice
    }

    /// Opens a folder of services, and makes it, for its owner alone, when it is not there. Files are opened at their first
    /// use.
    /// - Parameters:
    ///   - connections: how many its files may have open together.
    ///   - notice: is told what an operator should know, such as that a file was replaced.
    package static func open(
        at folder: URL, connections: Int = Limits.connectionsOfFolder,
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> GeoPackageStore {
        try OwnFiles.createFolder(folder)
        return GeoPackageStore(folder: folder, connections: connections, notice: notice)
    }

    /// Opens one file on its own: a client's cache, an offline area.
    package static func openFile(
        at url: URL, options: GeoPackageFile.Options = GeoPackageFile.Options()
    ) async throws -> GeoPackageFile {
        try await GeoPackageFile.open(at: url, options: options)
    }

    /// Creates one file on its own.
    package static func createFile(
        at url: URL, definition: ServiceDefinition, options: GeoPackageFile.Options = GeoPackageFile.Options()
    ) async throws -> GeoPackageFile {
        try await GeoPackageFile.create(at: url, definition: definition, options: options)
    }

    /// Publishes an existing GeoPackage in place, for as long as this store is open. What its tables lack is added.
    package func attach(file url: URL, as name: ServiceName) async throws {
        try DefinitionRules.check(name)
        guard try await !serviceNames().contains(name) else {
            throw StoreError(.serviceExists, "There is a service \(name.path) already.")
        }
        try await GeoPackageFile.prepare(at: url, as: name)
        state.withLock { $0.attached[name] = url }
    }

    // MARK: Files

    /// Where the file of a service lies in a folder of services, there or not. Throws `StoreError.invalidDefinition` for
    /// a name that no service can have, such as one that leads out of the folder.
    package static func place(of name: ServiceName, in folder: URL) throws -> URL {
        try DefinitionRules.check(name)
        let parent = name.folder.map { folder.appending(path: $0, directoryHint: .isDirectory) } ?? folder
        return parent.appending(path: name.name + ".gpkg", directoryHint: .notDirectory)
    }

    func url(of name: ServiceName) throws -> URL {
        if let url = state.withLock({ $0.attached[name] }) { return url }
        do {
            return try Self.place(of: name, in: folder)
        } catch {
            // A name that no file can have is the name of no service.
            throw StoreError(.serviceNotFound, "There is no service \(name.path).")
        }
    }

    package func data(of service: ServiceName) async throws -> GeoPackageFile { try await file(service) }

    /// The file of a service, opened when it is not yet, and anew when another one has come into its place.
    package func file(_ name: ServiceName) async throws -> GeoPackageFile {
        let (known, arrival, former, isClosed) = state.withLock {
            ($0.files[name], $0.arrivals[name], $0.formers[name], $0.isClosed)
        }
        if isClosed { throw StoreError(.closed, "The store is closed.") }
        if let arrival { return try await arrival.value }
        guard let known else { return try await open(name, after: former) }
        do {
            try await known.watch.checkFileSuspending()
            return known
        } catch let error as StoreError where error.code == .replaced {
            return try await replacement(of: known, name)
        }
    }

    /// The file that came into the place of one that was open. Who still reads that one ends; all that ask for the service
    /// wait for the same opening.
    private func replacement(of former: GeoPackageFile, _ name: ServiceName) async throws -> GeoPackageFile {
        let arrival = state.withLock { state -> Task<GeoPackageFile, any Error>? in
            if let task = state.arrivals[name] { return task }
            guard !state.isClosed, state.files[name] === former else { return nil }
            let task = Task {
                defer { endArrival(name) }
                // Connections of the same process share what SQLite knows of a file: those to the former one end first.
                await former.close()
                return try await open(name, after: former.watch)
            }
            state.files[name] = nil
            state.formers[name] = former.watch
            state.arrivals[name] = task
            return task
        }
        if let arrival { return try await arrival.value }
        return try await file(name)
    }

    private func endArrival(_ name: ServiceName) { state.withLock { $0.arrivals[name] = nil } }

    private func open(_ name: ServiceName, after former: FileWatch?) async throws -> GeoPackageFile {
        let url = try url(of: name)
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw StoreError(.serviceNotFound, "There is no service \(name.path).")
        }
        let opened = try await GeoPackageFile.open(
            at: url, options: GeoPackageFile.Options(), after: former, within: budget)
        if let words = opened.notice { notice(words) }
        let (kept, isNew) = state.withLock { state -> (GeoPackageFile?, Bool) in
            if state.isClosed { return (nil, false) }
            if let other = state.files[name] { return (other, false) }
            state.files[name] = opened
            state.formers[name] = nil
            return (opened, true)
        }
        // Another task was faster: one writer a file, so that batches share transactions.
        if !isNew { await opened.close() }
        guard let kept else { throw StoreError(.closed, "The store is closed.") }
        return kept
    }

    // MARK: Catalogue

    package func serviceNames() async throws -> [ServiceName] {
        let attached = state.withLock { Array($0.attached.keys) }
        let names = try listing.value { try Self.names(in: folder, &$0) }
        return attached.isEmpty ? names : (attached + names).sorted { $0.path < $1.path }
    }

    /// The services of a folder, whether their files can be read or not.
    package static func names(in folder: URL) throws -> [ServiceName] {
        var folders = FolderListing<[ServiceName]>.Folders()
        return try names(in: folder, &folders)
    }

    private static func names(
        in folder: URL, _ folders: inout FolderListing<[ServiceName]>.Folders
    ) throws -> [ServiceName] {
        var names: [ServiceName] = []
        folders.look(at: folder)
        for entry in try entries(of: folder) {
            if let name = serviceName(entry) {
                names.append(ServiceName(name: name))
            } else if isFolder(entry, in: folder) {
                let inner = folder.appending(path: entry, directoryHint: .isDirectory)
                folders.look(at: inner)
                names += try entries(of: inner).compactMap(serviceName).map { ServiceName(folder: entry, name: $0) }
            }
        }
        let known = names.filter { (try? DefinitionRules.check($0)) != nil }
        return known.map { (path: $0.path, name: $0) }.sorted { $0.path < $1.path }.map(\.name)
    }

    private static func serviceName(_ entry: String) -> String? {
        entry.hasSuffix(".gpkg") ? String(entry.dropLast(".gpkg".count)) : nil
    }

    /// Logs come and go with connections, each time with a change of the folder: they are passed over without a look.
    private static func isFolder(_ entry: String, in folder: URL) -> Bool {
        if entry.hasSuffix(".gpkg-wal") || entry.hasSuffix(".gpkg-shm") { return false }
        var status = stat()
        return lstat("\(folder.path)/\(entry)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func entries(of folder: URL) throws -> [String] {
        let all = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }
        let marks = Set(all.filter { $0.hasSuffix(unpublishedSuffix) })
        return marks.isEmpty ? all : all.filter { !marks.contains($0 + unpublishedSuffix) }
    }

    package func service(_ name: ServiceName) async throws -> ServiceDefinition {
        let file = try await file(name)
        try await file.refresh()
        var definition = file.definition
        // The file's place is its name, also after someone has moved it.
        definition.name = name
        return definition
    }

    package func createService(_ definition: ServiceDefinition) async throws {
        try DefinitionRules.check(definition)
        let name = definition.name
        if state.withLock({ $0.attached[name] != nil }) {
            throw StoreError(.serviceExists, "There is a service \(name.path) already.")
        }
        do {
            let file = try await GeoPackageFile.create(
                at: url(of: name), definition: definition, within: budget)
            let isKept = state.withLock { state in
                guard !state.isClosed, state.files[name] == nil else { return false }
                state.files[name] = file
                return true
            }
            if !isKept { await file.close() }
        } catch let error as StoreError where error.code == .serviceExists {
            throw StoreError(.serviceExists, "There is a service \(name.path) already.")
        }
    }

    package func updateService(
        _ definition: ServiceDefinition, allowing changes: DefinitionChanges, replacing old: ServiceDefinition?
    ) async throws {
        try await file(definition.name).updateDefinition(definition, allowing: changes, replacing: old)
    }

    package func deleteService(_ name: ServiceName) async throws {
        let url = try url(of: name)
        let opened = try await file(name)
        let isAttached = state.withLock { state in
            state.files[name] = nil
            return state.attached.removeValue(forKey: name) != nil
        }
        await opened.close()
        // An attached file belongs to someone else: it is only no longer published.
        guard !isAttached else { return }
        for suffix in ["-wal", "-shm", ""] {
            let path = url.path + suffix
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        }
    }

    // MARK: Care

    /// What is wrong with the files, each finding with its service; empty when all is well. A file that can't be read is a
    /// finding.
    package func check() async throws -> [String] {
        var findings: [String] = []
        for name in try await serviceNames() {
            let url = try url(of: name)
            findings += await FileCheck(url).findings().map { "\(name.path): \($0)" }
        }
        return findings
    }

    /// Moves all logs into their files and closes them. The store is of no use afterwards.
    package func close() async throws {
        let files = state.withLock { state in
            state.isClosed = true
            defer { state.files = [:] }
            return Array(state.files.values)
        }
        for file in files { await file.close() }
    }
}
