import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

/// A file, or the part of it that a client asked for, as the pieces of an answer.
struct FileAnswer: Sendable {
    let url: URL
    let range: Range<Int64>
    let size: Int64

    /// - Parameter header: the request's `Range`. What is not understood asks for the whole, as HTTP allows.
    /// - Returns: nil when the range lies behind the file's end.
    init?(_ url: URL, header: String?) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        self.url = url
        size = (attributes[.size] as? NSNumber)?.int64Value ?? 0
        guard let wanted = ByteRange.wanted(header, of: size) else { return nil }
        range = wanted
    }

    func pieces() throws -> EncodedFeatures {
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
