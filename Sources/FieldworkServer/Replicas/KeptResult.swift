import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

/// A file that was made for a client.
struct KeptResult: Sendable {
    var size: Int64
    /// A part of it, read while it is taken.
    var pieces: @Sendable (Range<Int64>) throws -> EncodedFeatures

    init(size: Int64, pieces: @escaping @Sendable (Range<Int64>) throws -> EncodedFeatures) {
        self.size = size
        self.pieces = pieces
    }

    /// One on the disk.
    init(file url: URL) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        size = (attributes[.size] as? NSNumber)?.int64Value ?? 0
        pieces = { try Self.pieces(of: url, in: $0) }
    }

    private static func pieces(of url: URL, in range: Range<Int64>) throws -> EncodedFeatures {
        let handle = try FileHandle(forReadingFrom: url)
        try handle.seek(toOffset: UInt64(range.lowerBound))
        let source = Mutex((handle: handle, rest: Int(range.upperBound - range.lowerBound)))
        return EncodedFeatures {
            try source.withLock { source in
                guard source.rest > 0,
                    let data = try source.handle.read(upToCount: min(source.rest, EncodedFeatures.pieceSize)),
                    !data.isEmpty
                else { return nil }
                source.rest -= data.count
                return [UInt8](data)
            }
        }
    }
}
