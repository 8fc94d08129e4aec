import Crypto
package import Foundation

/// The key that opens the administrative operations. Only its hash is kept, on the disk as in memory: whoever reads the
/// file can't administer with it. Keys are random, so that a plain hash can't be guessed back.
package struct AdministrationKey: Sendable {
    private let hash: [UInt8]

    private static let prefix = "sha256:"

    /// A file that holds no key, or one that somebody wrote as it is.
    package struct MalformedFile: Error, Sendable, Hashable {
        package let path: String
    }

    init(hash: [UInt8]) { self.hash = hash }

    /// Reads the file that `writeNew(to:)` wrote. Throws `MalformedFile`.
    package init(file: URL) throws {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        let bytes = try handle.read(upToCount: Limits.administrationKeyFileBytes) ?? Data()
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.hasPrefix(Self.prefix), let hash = Self.bytes(hexadecimal: text.dropFirst(Self.prefix.count)),
            hash.count == SHA256.byteCount
        else { throw MalformedFile(path: file.path) }
        self.init(hash: hash)
    }

    /// Makes a key, writes its hash into a new file that only its owner may read, and gives the key, which is kept nowhere.
    /// Throws when there is a file already.
    package static func writeNew(to file: URL) throws -> String {
        var generator = SystemRandomNumberGenerator()
        let key = (0..<4).map { _ in hexadecimal(UInt64.random(in: .min ... .max, using: &generator)) }.joined()
        let text = prefix + SHA256.hash(data: Data(key.utf8)).map(hexadecimal).joined() + "\n"
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else {
            throw CocoaError(
                errno == EEXIST ? .fileWriteFileExists : .fileWriteNoPermission,
                userInfo: [NSFilePathErrorKey: file.path])
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.synchronize()
        return key
    }

    /// Whether a token is the key. Takes as long for a wrong one as for the right one.
    func opens(with token: String) -> Bool {
        let other = SHA256.hash(data: Data(token.utf8))
        return zip(hash, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func hexadecimal<Number: FixedWidthInteger>(_ number: Number) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: Number.bitWidth / 4 - text.count) + text
    }

    private static func bytes(hexadecimal text: Substring) -> [UInt8]? {
        guard text.utf8.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var rest = text
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
