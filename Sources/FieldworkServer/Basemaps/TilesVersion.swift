import Crypto
import Foundation

/// Tells the tiles of one package from those of another that had its name: by the size of the file, the time of its last change, and what
/// it begins and ends with, where formats keep counters of changes and directories. The same file in another place, as after a backup was
/// put back, has the same version: nobody downloads again what he has.
enum TilesVersion {
    /// Bytes that are looked at, at either end.
    private static let end = 65_536

    /// nil for a file that can't be read.
    static func text(of path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let changed = attributes[.modificationDate] as? Date, let size = try? file.seekToEnd()
        else { return nil }
        var hash = SHA256()
        // Backups keep whole seconds.
        hash.update(data: Data("\(size) \(changed.timeIntervalSince1970.rounded(.down))".utf8))
        for place in [0, size > UInt64(end) ? size - UInt64(end) : 0] {
            guard (try? file.seek(toOffset: place)) != nil, let bytes = try? file.read(upToCount: end) else {
                return nil
            }
            hash.update(data: bytes)
        }
        return hash.finalize().prefix(12).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
