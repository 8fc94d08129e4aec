import Crypto
import Foundation
import Logging

/// A file of secrets: encrypted and signed with AES-GCM, readable by its user alone. Its key is in the system's keyring where
/// there is one, else in a file beside it that only the user can read.
struct SealedFile: Sendable {
    /// Holds the file, its key and its lock.
    let folder: URL
    /// nil for none.
    let keyring: SystemKeyring?
    var logger = Logger(label: "fieldwork.credentials")

    private static let mark = Data("FieldworkSealed1".utf8)
    private static let inKeyring = UInt8(ascii: "k")
    private static let inFile = UInt8(ascii: "f")

    var file: URL { folder.appending(path: "credentials.sealed") }
    private var keyFile: URL { folder.appending(path: "credentials.key") }
    private var lockFile: URL { folder.appending(path: "credentials.lock") }

    /// Does something while no other process changes the file.
    func locked<Result>(_ body: () throws -> Result) throws -> Result {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let descriptor = open(lockFile.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, flock(descriptor, LOCK_EX) == 0 else { throw failure("locked") }
        defer { close(descriptor) }
        return try body()
    }

    /// What the file holds; nil when there is none. A file that can't be opened with its key is set aside, never deleted.
    /// Throws `CommonError.io` when the keyring doesn't give the key now.
    func read() throws -> Data? {
        guard let sealed = try? Data(contentsOf: file) else {
            if FileManager.default.fileExists(atPath: file.path) { throw failure("read") }
            return nil
        }
        let head = Self.mark.count + 1
        guard sealed.count > head, sealed.starts(with: Self.mark) else { return setAside("it is not one of this kind") }
        let kind = sealed[Self.mark.count]
        guard let key = try key(kind) else { return setAside("its key is gone") }
        do {
            let box = try AES.GCM.SealedBox(combined: sealed.dropFirst(head))
            return try AES.GCM.open(box, using: key, authenticating: sealed.prefix(head))
        } catch {
            return setAside("it was damaged or changed")
        }
    }

    /// Writes the file whole: what was there before stays until the new one is on the disk.
    func write(_ data: Data) throws {
        let (kind, key) = try keyForWriting()
        let head = Self.mark + [kind]
        guard let box = try AES.GCM.seal(data, using: key, authenticating: head).combined else {
            throw failure("encrypted")
        }
        try Self.writePrivate(head + box, to: file)
    }

    // MARK: Keys

    private func key(_ kind: UInt8) throws -> SymmetricKey? {
        if kind == Self.inKeyring {
            guard let keyring, let text = try keyring.secret() else {
                throw CommonError.io(
                    details: "The credentials in \(folder.path) can't be opened: the system's keyring does not give "
                        + "their key. Unlock it and try again.")
            }
            return Data(base64Encoded: text).flatMap(Self.symmetric)
        }
        guard let data = try? Data(contentsOf: keyFile) else { return nil }
        closeToOthers(keyFile)
        return Self.symmetric(data)
    }

    private static func symmetric(_ data: Data) -> SymmetricKey? { data.count == 32 ? SymmetricKey(data: data) : nil }

    /// The key of the file that is there; a new one for the first file.
    private func keyForWriting() throws -> (UInt8, SymmetricKey) {
        if let kind = try? FileHandle(forReadingFrom: file).read(upToCount: Self.mark.count + 1)?.last,
            let key = try key(kind)
        {
            return (kind, key)
        }
        if let data = try? Data(contentsOf: keyFile), let key = Self.symmetric(data) { return (Self.inFile, key) }
        let key = SymmetricKey(size: .bits256)
        let bytes = key.withUnsafeBytes { Data($0) }
        if let keyring, (try? keyring.keep(bytes.base64EncodedString())) != nil { return (Self.inKeyring, key) }
        try Self.writePrivate(bytes, to: keyFile)
        return (Self.inFile, key)
    }

    // MARK: Files

    /// A file that others could read is closed to them, and said.
    private func closeToOthers(_ url: URL) {
        let mode = (try? FileManager.default.attributesOfItem(atPath: url.path))?[.posixPermissions] as? Int
        guard let mode, mode & 0o077 != 0 else { return }
        chmod(url.path, 0o600)
        logger.warning(
            "\(url.path) could be read by others. It was closed to them; sign out and in again if they may have read it."
        )
    }

    /// Puts what can't be read out of the way.
    private func setAside(_ reason: String) -> Data? {
        let target = folder.appending(path: "credentials.broken-\(UUID().uuidString)")
        guard rename(file.path, target.path) == 0 else { return nil }
        logger.warning(
            "The file of credentials can't be used: \(reason). It was set aside as \(target.path). Sign in again.")
        return nil
    }

    private static func writePrivate(_ data: Data, to url: URL) throws {
        let part = url.appendingPathExtension("part")
        unlink(part.path)
        let descriptor = open(part.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(url, "written") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: data)
            try handle.synchronize()
            try handle.close()
        } catch {
            unlink(part.path)
            throw failure(url, "written")
        }
        guard rename(part.path, url.path) == 0 else { throw failure(url, "written") }
        let folder = open(url.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private func failure(_ verb: String) -> CommonError { Self.failure(file, verb) }

    private static func failure(_ url: URL, _ verb: String) -> CommonError {
        .io(details: "\(url.path) can't be \(verb): \(String(cString: strerror(errno))).")
    }
}
