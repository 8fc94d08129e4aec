import Crypto
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

/// A file of a request's form, on the disk. It goes with its last reference, unless somebody has taken it.
final class ReceivedFile: Sendable {
    let url: URL
    /// As the client calls it.
    let name: String
    let contentType: String?
    let size: Int
    /// Of the bytes, in hexadecimal.
    let sha256: String

    fileprivate init(url: URL, name: String, contentType: String?, size: Int, sha256: String) {
        self.url = url
        self.name = name
        self.contentType = contentType
        self.size = size
        self.sha256 = sha256
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var uploaded: UploadedFile {
        UploadedFile(
            name: name, contentType: contentType,
            content: AttachmentContent(path: url.path, size: size, sha256: sha256))
    }

    /// Gives the file another place, where it stays; its bytes are on the disk when this returns.
    func move(to target: URL) throws {
        try StoreError.writing {
            let handle = try FileHandle(forUpdating: url)
            try handle.synchronize()
            try handle.close()
        }
        guard rename(url.path, target.path) == 0 else {
            throw StoreError(.failure, "The file \(target.lastPathComponent) could not be put in its place.")
        }
    }
}

/// A file that is being received: its bytes go to the disk as they come, and are counted.
struct FileReception: ~Copyable {
    private let field: MultipartReader.Field
    private let url: URL
    private let handle: FileHandle
    private let maximumBytes: Int
    private var size = 0
    private var hash = SHA256()
    private var isKept = false

    /// - Parameter folder: where the file is made, under a name that nobody else has.
    init(
        _ field: MultipartReader.Field, in folder: URL, maximumBytes: Int = FieldworkREST.Limits.attachmentBytes
    ) throws {
        try StoreError.writing {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        let url = folder.appending(path: UUID().uuidString)
        guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
            throw StoreError.noRoom()
        }
        let handle = try FileHandle(forWritingTo: url)
        self.field = field
        self.url = url
        self.handle = handle
        self.maximumBytes = maximumBytes
    }

    deinit {
        try? handle.close()
        if !isKept { try? FileManager.default.removeItem(at: url) }
    }

    mutating func write(_ bytes: ArraySlice<UInt8>) throws {
        guard size + bytes.count <= maximumBytes else {
            throw ServiceError(
                code: 413, message: "The file is too large.",
                details: ["A file may have \(maximumBytes) bytes."])
        }
        size += bytes.count
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        let handle = handle
        try StoreError.writing { try handle.write(contentsOf: Data(bytes)) }
    }

    mutating func finish() -> ReceivedFile {
        isKept = true
        return ReceivedFile(
            url: url, name: field.fileName ?? "", contentType: field.contentType, size: size,
            sha256: hash.finalize().hexadecimal)
    }
}

extension SHA256.Digest {
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
