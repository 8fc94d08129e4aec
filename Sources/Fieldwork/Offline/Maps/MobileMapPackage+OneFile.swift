import FieldworkGeometry
import FieldworkStore
import FieldworkTiles
public import Foundation

/// A map package in one file, to be copied from device to device.
extension MobileMapPackage {
    /// Writes the package into one file: a zip file whose files are stored as they are. Edits in the package go along. The file appears
    /// when it is complete.
    ///
    /// A package that is synchronised is one device of its services: a copy would be a second one under the same name, and edits of
    /// one of them would be taken for the other's. It is refused; take the map with ``GenerateOfflineMapUpdateMode/noUpdates``.
    ///
    /// Not part of the vendor's API.
    /// - Parameters:
    ///   - file: where the file will be; nothing may be there.
    ///   - progress: called with the part that is done, 0 to 1.
    /// - Throws: what ``load()`` throws, `CommonError.propertyNotSupported` for a package that is synchronised or is one file, `CommonError.exists`
    ///   where something is at `file`, `CommonError.io` where it can't be written, `CancellationError`.
    public func pack(to file: URL, progress: @escaping (Double) -> Void = { _ in }) async throws {
        try await load()
        guard !isOneFile else {
            throw CommonError.propertyNotSupported(
                details: "\(fileURL.lastPathComponent) is one file already: copy it.")
        }
        guard let name = geodatabases.first(where: { $0.syncID != nil })?.fileURL.lastPathComponent else {
            return try await Self.whole(file) { making in
                try await self.write(to: making, progress)
            }
        }
        throw CommonError.propertyNotSupported(
            details: """
                \(fileURL.lastPathComponent) is synchronised with its services (\(name)): a copy of it would be a second device \
                under the same name. Take the map without updates to pack it.
                """)
    }

    /// Makes the folder of a package that ``pack(to:progress:)`` has written into one file. The folder appears when all is in it and is
    /// what its checksums say.
    ///
    /// - Parameters:
    ///   - fileURL: the file.
    ///   - outputDirectoryURL: where the folder will be; nothing may be there.
    /// - Throws: `CommonError.fileNotFound`, `CommonError.invalidArgument` for a file that is no package of ours, `CommonError.file` for
    ///   one that is damaged, `CommonError.exists` where something is at `outputDirectoryURL`, `CommonError.io` where it can't be
    ///   written or the disk has no room, `CancellationError`.
    public static func unpack(fileURL: URL, outputDirectoryURL: URL) async throws {
        try await unpack(fileURL: fileURL, outputDirectoryURL: outputDirectoryURL) { _ in }
    }

    /// The same with a report of the part that is done, 0 to 1. Not part of the vendor's API.
    public static func unpack(
        fileURL: URL, outputDirectoryURL: URL, progress: @escaping (Double) -> Void
    ) async throws {
        guard FileManager.default.fileExists(atPath: fileURL.path) else {
            throw CommonError.fileNotFound(details: "There is no map package at \(fileURL.path).")
        }
        try await whole(outputDirectoryURL) { making in
            try translated(fileURL) {
                let archive = try ZipArchive(PackageFile(path: fileURL.path))
                try unpack(archive, fileURL, to: making, progress)
            }
        }
    }

    // MARK: Writing

    private func write(to making: URL, _ progress: @escaping (Double) -> Void) async throws {
        let names = try MapPackageIndex(folder: fileURL).parts.map(\.file)
        let copies = URL(filePath: "\(making.path).copies", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: copies) }
        // What is still in the log of an open geodatabase belongs to it.
        let open = Set(geodatabases.map(\.fileURL.lastPathComponent))
        for name in names where open.contains(name) {
            try await GeoPackageFile.copy(from: fileURL.appending(path: name), to: copies.appending(path: name))
        }
        try Self.translated(fileURL) {
            let files = try ([MapPackageIndex.fileName, MapPackageIndex.mapName] + names).map { name in
                let folder = open.contains(name) ? copies : fileURL
                return (name, try PackageFile(path: folder.appending(path: name).path))
            }
            let share = Share(of: 2 * files.reduce(0) { $0 + $1.1.size }, progress)
            let writer = try ZipWriter(making)
            for (name, file) in files { try writer.add(file, as: name, afterPiece: share.add) }
            try writer.finish()
        }
    }

    // MARK: Reading

    private static func unpack(
        _ archive: ZipArchive, _ file: URL, to folder: URL, _ progress: @escaping (Double) -> Void
    ) throws {
        guard archive.entries[MapPackageIndex.fileName] != nil, archive.entries[MapPackageIndex.mapName] != nil,
            archive.entries.keys.allSatisfy(OfflineMapPart.isName)
        else {
            throw CommonError.invalidArgument(details: "\(file.lastPathComponent) is no map package of Fieldwork.")
        }
        var size = 0
        for entry in archive.entries.values {
            let (sum, isTooLarge) = size.addingReportingOverflow(entry.size)
            // Files that lie over each other would make much of little.
            guard !isTooLarge, sum <= archive.size else {
                throw CommonError.file(details: "\(file.lastPathComponent) is damaged: it is shorter than its files.")
            }
            size = sum
        }
        try requireRoom(for: Int64(size), beside: folder)
        let share = Share(of: size, progress)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in archive.entries.keys.sorted() {
            let url = folder.appending(path: name, directoryHint: .notDirectory)
            guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
                throw TileError(.unwritable, "\(name) can't be written: there may be no room.")
            }
            let handle = try FileHandle(forWritingTo: url)
            defer { try? handle.close() }
            try archive.pieces(of: name) { (piece: [UInt8]) throws(TileError) in
                do {
                    try handle.write(contentsOf: piece)
                } catch {
                    throw TileError(.unwritable, "\(name) can't be written: \(Redaction.reason(error)).")
                }
                try share.add(piece.count)
            }
            try handle.synchronize()
        }
        let damage = try MapPackageIndex(folder: folder).damage(in: .folder(folder), isThorough: true)
        guard damage.isEmpty else {
            throw CommonError.file(
                details: "The map package \(file.lastPathComponent) is damaged. \(damage.joined(separator: " "))")
        }
    }

    private static func requireRoom(for size: Int64, beside folder: URL) throws {
        let place = folder.deletingLastPathComponent().path
        let system = try? FileManager.default.attributesOfFileSystem(forPath: place)
        guard let free = (system?[.systemFreeSize] as? NSNumber)?.int64Value, free < size else { return }
        throw CommonError.io(
            details: "The map package needs \(size / 1_048_576 + 1) MB, and \(free / 1_048_576) MB are free.")
    }

    // MARK: Both

    /// Makes something under another name, and gives it its own when it is complete.
    private static func whole(_ target: URL, _ body: (URL) async throws -> Void) async throws {
        guard !FileManager.default.fileExists(atPath: target.path) else {
            throw CommonError.exists(details: "\(target.path) is there already.")
        }
        let making = URL(filePath: "\(target.path).making")
        // What a process left that was killed.
        try? FileManager.default.removeItem(at: making)
        do {
            try await body(making)
            guard rename(making.path, target.path) == 0 else {
                throw CommonError.io(details: "\(target.lastPathComponent) could not be put in its place.")
            }
        } catch {
            try? FileManager.default.removeItem(at: making)
            throw error
        }
    }

    static func translated<Result>(_ file: URL, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as TileError {
            switch error.code {
            case .cancelled: throw CancellationError()
            case .unwritable, .unreadable: throw CommonError.io(details: error.message)
            case .unknownFormat, .broken, .tooLarge, .unsupported, .otherVersion, .noFont:
                throw CommonError.file(details: "\(file.lastPathComponent): \(error.message)")
            }
        }
    }

    /// How much of the bytes is done; the end of a task ends the work as well.
    private final class Share {
        private let total: Int
        private let progress: (Double) -> Void
        private var done = 0

        init(of total: Int, _ progress: @escaping (Double) -> Void) { (self.total, self.progress) = (total, progress) }

        func add(_ bytes: Int) throws(TileError) {
            guard !Task.isCancelled else { throw TileError(.cancelled, "The work was stopped.") }
            done += bytes
            progress(total > 0 ? min(1, Double(done) / Double(total)) : 1)
        }
    }
}
