import Crypto
import FieldworkTiles
import Foundation

/// A file, or a stretch of one: a file of a map package lies in the package's folder, or in its one file.
struct FileSection: Sendable, Hashable {
    let url: URL
    /// The bytes that are meant; nil for all of them.
    let bytes: Range<Int>?

    init(_ url: URL, bytes: Range<Int>? = nil) {
        self.url = url
        self.bytes = bytes
    }
}

/// The files of a map package, by their names: a folder, or one file that holds them as they are.
enum MapPackageFiles: Sendable {
    case folder(URL)
    case archive(ZipArchive, URL)

    /// Throws `CommonError.fileNotFound` where nothing is, `CommonError.invalidArgument` for what is no map package of ours.
    init(_ url: URL) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw CommonError.fileNotFound(details: "There is no map package at \(url.path).")
        }
        let name = url.lastPathComponent
        if isFolder.boolValue {
            self = .folder(url)
        } else if let archive = try? ZipArchive(PackageFile(path: url.path)),
            archive.entries[MapPackageIndex.fileName] != nil
        {
            guard archive.entries.keys.allSatisfy(OfflineMapPart.isName) else {
                throw CommonError.invalidArgument(details: "\(name) is no map package of Fieldwork.")
            }
            self = .archive(archive, url)
        } else {
            let isVendors = ["mmpk", "mspk"].contains(url.pathExtension.lowercased())
            throw CommonError.invalidArgument(
                details: isVendors
                    ? "\(name) is a map package in the vendor's format, which is closed: it can't be opened. Take the map offline from its services."
                    : "\(name) is no map package: those are folders, or one file that was packed of a folder.")
        }
    }

    var url: URL {
        switch self {
        case .folder(let url), .archive(_, let url): url
        }
    }

    var isOneFile: Bool { if case .archive = self { true } else { false } }

    /// A small file as a whole; nil where there is none.
    func contents(_ name: String) throws -> Data? {
        switch self {
        case .folder(let url): return try? Data(contentsOf: url.appending(path: name))
        case .archive(let archive, let url):
            return try MobileMapPackage.translated(url) { try archive.contents(name).map { Data($0) } }
        }
    }

    /// Bytes of a file; nil where there is none.
    func size(_ name: String) -> Int64? {
        switch self {
        case .folder(let url):
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.appending(path: name).path)
            return (attributes?[.size] as? NSNumber)?.int64Value
        case .archive(let archive, _): return archive.entries[name].map { Int64($0.size) }
        }
    }

    /// Where a file lies. Throws `CommonError.file` for one that is compressed, or that can't be read where it lies.
    func part(_ name: String) throws -> FileSection {
        switch self {
        case .folder(let url): return FileSection(url.appending(path: name, directoryHint: .notDirectory))
        case .archive(let archive, let url):
            return try MobileMapPackage.translated(url) {
                guard let entry = archive.entries[name] else {
                    throw TileError(.broken, "\(name) is missing.")
                }
                return FileSection(url, bytes: try archive.place(of: entry, name: name))
            }
        }
    }

    /// SHA-256 of a file, in hexadecimal digits, and how many bytes that was of. A file in an archive has a checksum there as well, which
    /// is compared.
    func seal(_ name: String) throws -> MapPackageIndex.Seal {
        switch self {
        case .folder(let url): return try MapPackageIndex.seal(name, in: url)
        case .archive(let archive, let url):
            return try MobileMapPackage.translated(url) {
                var hash = SHA256()
                var size: Int64 = 0
                try archive.pieces(of: name) { (piece: [UInt8]) in
                    hash.update(data: piece)
                    size += Int64(piece.count)
                }
                return MapPackageIndex.Seal(file: name, size: size, checksum: MapPackageIndex.digits(hash.finalize()))
            }
        }
    }
}
