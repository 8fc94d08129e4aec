import FieldworkStore
import Foundation
import Synchronization

/// A file in the making: it appears under its name only when it is complete and on the disk.
final class ResultFile: Sendable {
    private let url: URL
    private let handle: Mutex<FileHandle>

    init(at url: URL) throws {
        guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
            throw StoreError.noRoom()
        }
        self.url = url
        handle = Mutex(try FileHandle(forWritingTo: url))
    }

    /// One that somebody else has written.
    init(completed url: URL) throws {
        self.url = url
        handle = Mutex(try FileHandle(forUpdating: url))
    }

    func write(_ bytes: [UInt8]) throws {
        try handle.withLock { handle in try StoreError.writing { try handle.write(contentsOf: Data(bytes)) } }
    }

    /// Replaces what has the name.
    func publish(as target: URL) throws {
        try handle.withLock { handle in
            try StoreError.writing {
                try handle.synchronize()
                try handle.close()
            }
        }
        guard rename(url.path, target.path) == 0 else {
            discard()
            throw StoreError(.failure, "The file \(target.lastPathComponent) could not be put in its place.")
        }
    }

    func discard() { try? FileManager.default.removeItem(at: url) }
}
