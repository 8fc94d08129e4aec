import FieldworkREST
import Foundation

/// Makes a GeoPackage that appears under its name only when it is complete and on the disk.
struct NewFile {
    let url: URL

    func create(_ definition: ServiceDefinition) throws {
        let manager = FileManager.default
        guard !manager.fileExists(atPath: url.path) else {
            throw StoreError(.serviceExists, "\(url.lastPathComponent) is there already.")
        }
        let folder = url.deletingLastPathComponent()
        try OwnFiles.createFolder(folder)
        let temporary = folder.appending(path: ".\(url.lastPathComponent).\(UUID().uuidString)")
        do {
            try Self.fill(temporary, definition)
            try place(temporary)
        } catch {
            try? manager.removeItem(at: temporary)
            throw error
        }
    }

    /// Gives a finished file in the same folder its name.
    func place(_ temporary: URL) throws {
        try Self.synchronize(temporary)
        do {
            // A hard link fails where a file has appeared meanwhile; a rename would replace it.
            try FileManager.default.linkItem(at: temporary, to: url)
            try FileManager.default.removeItem(at: temporary)
        } catch let error as CocoaError where error.code == .fileWriteFileExists {
            throw StoreError(.serviceExists, "\(url.lastPathComponent) is there already.")
        }
        try Self.synchronize(url.deletingLastPathComponent())
    }

    /// Makes the file where it is, for somebody who puts it in its place.
    static func fill(_ url: URL, _ definition: ServiceDefinition) throws {
        let connection = try StoreConnection(path: url.path, mode: .create)
        try OwnFiles.protect(url)
        try connection.transaction {
            try GeoPackageSchema.createCore(on: connection)
            try GeoPackageSchema.createBookkeeping(on: connection)
            _ = try ServiceCatalogue.create(definition, on: connection)
            try GeoPackageSchema.listOneTable(on: connection)
        }
        connection.forgetStatements()
    }

    static func synchronize(_ url: URL) throws {
        let descriptor = open(url.path, O_RDONLY)
        guard descriptor >= 0 else {
            throw StoreError(.failure, "\(url.lastPathComponent) can't be opened to be synchronised.")
        }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw StoreError(.failure, "\(url.lastPathComponent) can't be brought to the disk.")
        }
    }
}
