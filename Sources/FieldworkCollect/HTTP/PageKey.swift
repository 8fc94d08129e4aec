import Crypto
import Foundation

/// The key of the app's page, in a file of the data folder that its owner alone may read. It stays over starts, so that a
/// page which was open when the app ended goes on with the next start, with what was typed into it.
enum PageKey {
    static let fileName = "page-key"

    /// Hexadecimal digits of a key: 256 random bits.
    static let length = 64

    static func make() -> String {
        SymmetricKey(size: .bits256).withUnsafeBytes { bytes in
            bytes.map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
        }
    }

    /// The key that is kept in the folder, or a new one that is kept there from now on. A file that another user owns or may
    /// read is not believed: it is replaced.
    static func load(from folder: URL) throws -> String {
        let file = folder.appending(path: fileName)
        if let key = read(file) { return key }
        let key = make()
        try write(key, to: file)
        return key
    }

    private static func read(_ file: URL) -> String? {
        let descriptor = open(file.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let own = OwnerOnly.own(file.path), own.kind == .typeRegular, own.mode & 0o077 == 0,
            let bytes = try? handle.read(upToCount: length + 1), bytes.count == length,
            bytes.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func write(_ key: String, to file: URL) throws {
        let part = file.appendingPathExtension("part")
        unlink(part.path)
        let descriptor = open(part.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(file) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: Data(key.utf8))
        try handle.synchronize()
        guard rename(part.path, file.path) == 0 else { throw failure(file) }
    }

    private static func failure(_ file: URL) -> CollectError {
        CollectError(
            .dataFolder, "\(file.path) can't be written: \(String(cString: strerror(errno))).",
            nextStep: "Name another folder with --data, or make room.")
    }
}
