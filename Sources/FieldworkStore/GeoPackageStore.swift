package import FieldworkREST
package import Foundation
import Synchronization

/// Services kept as GeoPackages in a folder: `<name>.gpkg`, or `<folder>/<name>.gpkg`. Each file opens as it stands in
/// QGIS, and a copy of a file is a backup.
package final class GeoPackageStore: ServiceStore {
    package let folder: URL
    private let state = Mutex(State())

    private struct State {
        var files: [ServiceName: GeoPackageFile] = [:]
        var attached: [ServiceName: URL] = [:]
        var isClosed = false
    }

    private init(folder: URL) { self.folder = folder }

    /// Opens a folder of services, and makes it when it is not there. Files are opened at their first use.
    package static func open(at folder: URL) async throws -> GeoPackageStore {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return GeoPackageStore(folder: folder)
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

    /// The file of a service, opened when it is not yet.
    package func file(_ name: ServiceName) async throws -> GeoPackageFile {
        let (known, isClosed) = state.withLock { ($0.files[name], $0.isClosed) }
        if isClosed { throw StoreError(.closed, "The store is closed.") }
        if let known { return known }
        let url = try url(of: name)
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw StoreError(.serviceNotFound, "There is no service \(name.path).")
        }
        let opened = try await GeoPackageFile.open(at: url)
        let (kept, isNew) = state.withLock { state -> (GeoPackageFile?, Bool) in
            if state.isClosed { return (nil, false) }
            if let other = state.files[name] { return (other, false) }
            state.files[name] = opened
            return (opened, true)
        }
        // Somebody was faster: one writer a file, so that batches share transactions.
        if !isNew { await opened.close() }
        guard let kept else { throw StoreError(.closed, "The store is closed.") }
        return kept
    }

    /// The file that lies at the place of a service now: a link may have been made anew. Who still reads the one before ends
    /// in peace; it closes with its last reader.
    private func currentFile(_ name: ServiceName) async throws -> GeoPackageFile {
        let opened = try await file(name)
        guard !opened.isInPlace else { return opened }
        state.withLock { state in
            if state.files[name] === opened { state.files[name] = nil }
        }
        return try await file(name)
    }

    // MARK: Catalogue

    package func serviceNames() async throws -> [ServiceName] {
        var names = state.withLock { Array($0.attached.keys) }
        for url in try contents(of: folder) {
            if url.pathExtension == "gpkg" {
                names.append(ServiceName(name: url.deletingPathExtension().lastPathComponent))
            } else if (try? url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true {
                for inner in try contents(of: url) where inner.pathExtension == "gpkg" {
                    names.append(
                        ServiceName(
                            folder: url.lastPathComponent, name: inner.deletingPathExtension().lastPathComponent))
                }
            }
        }
        return names.filter { (try? DefinitionRules.check($0)) != nil }.sorted { $0.path < $1.path }
    }

    private func contents(of folder: URL) throws -> [URL] {
        let all = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: [.isDirectoryKey], options: [.skipsHiddenFiles])
        let marks = Set(all.map(\.lastPathComponent).filter { $0.hasSuffix(Self.unpublishedSuffix) })
        if marks.isEmpty { return all }
        return all.filter { !marks.contains($0.lastPathComponent + Self.unpublishedSuffix) }
    }

    package func service(_ name: ServiceName) async throws -> ServiceDefinition {
        let file = try await currentFile(name)
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
            let file = try await GeoPackageFile.create(at: url(of: name), definition: definition)
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

    /// What is wrong with the files, each finding with its service; empty when all is well.
    package func check() async throws -> [String] {
        var findings: [String] = []
        for name in try await serviceNames() {
            findings += try await file(name).check().map { "\(name.path): \($0)" }
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
