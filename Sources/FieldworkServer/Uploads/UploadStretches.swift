import Crypto
import FieldworkREST
import FieldworkStore
import Foundation

/// What has arrived of an upload that comes in stretches: each begins where the client left off, and each byte counts from
/// the moment that it is in the file, whatever becomes of the connection, of the request, or of this process. Stretches may
/// overlap: a connection that is dead on one side goes on for a while on the other.
struct UploadStretches: Sendable {
    /// The folder of one upload.
    let folder: URL

    private struct Stretch {
        var url: URL
        var offset: Int
        var size: Int
    }

    private static let prefix = "stretch-"

    /// In their order.
    private var stretches: [Stretch] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.compactMap { name -> Stretch? in
            guard name.hasPrefix(Self.prefix),
                let offset = Int(name.dropFirst(Self.prefix.count).prefix { $0 != "-" })
            else { return nil }
            let url = folder.appending(path: name)
            return Stretch(url: url, offset: offset, size: UploadFolder.size(url))
        }
        .sorted { ($0.offset, $0.url.path) < ($1.offset, $1.url.path) }
    }

    var isEmpty: Bool { stretches.isEmpty }

    /// How many bytes are there without a gap from the first one on: where the client goes on.
    var received: Int { UploadRules.reach(of: stretches.map { ($0.offset, $0.size) }) }

    /// A file for what comes now.
    func begin(at offset: Int) throws -> UploadStretch {
        try UploadRules.checkStretch(at: offset, present: stretches.map { ($0.offset, $0.size) })
        return try UploadStretch(
            at: folder.appending(path: "\(Self.prefix)\(offset)-\(UUID().uuidString)"),
            maximumBytes: FieldworkREST.Limits.attachmentBytes - offset)
    }

    /// Joins what is there to one file.
    func join(to file: ResultFile) throws -> UploadItem.Content {
        var hash = SHA256()
        var size = 0
        for stretch in stretches where stretch.offset <= size && stretch.offset + stretch.size > size {
            let handle = try FileHandle(forReadingFrom: stretch.url)
            defer { try? handle.close() }
            try handle.seek(toOffset: UInt64(size - stretch.offset))
            while let piece = try handle.read(upToCount: Limits.uploadPiece), !piece.isEmpty {
                hash.update(data: piece)
                size += piece.count
                try file.write([UInt8](piece))
            }
        }
        return UploadItem.Content(size: size, sha256: hash.finalize().hexadecimal)
    }

    func remove() { for stretch in stretches { try? FileManager.default.removeItem(at: stretch.url) } }
}

/// A stretch that is arriving in a file.
actor UploadStretch: UploadStretchSink {
    private let handle: FileHandle
    private let maximumBytes: Int
    private var size = 0

    fileprivate init(at url: URL, maximumBytes: Int) throws {
        guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
            throw StoreError.noRoom()
        }
        handle = try FileHandle(forWritingTo: url)
        self.maximumBytes = maximumBytes
    }

    func write(_ bytes: [UInt8]) throws {
        guard size + bytes.count <= maximumBytes else { throw UploadRules.tooLarge }
        size += bytes.count
        try StoreError.writing { try handle.write(contentsOf: Data(bytes)) }
    }

    /// The handle closes itself with its last reference; the bytes are the system's already.
    func finish() {}
}
