import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

/// A file, or the part of it that a client asked for, as the pieces of an answer.
struct FileAnswer: Sendable {
    let url: URL
    let range: Range<Int64>
    let size: Int64

    var isPart: Bool { range != 0..<size }
    var contentRange: String { "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)" }

    /// - Parameter header: the request's `Range`. What is not understood asks for the whole, as HTTP allows.
    /// - Returns: nil when the range lies behind the file's end.
    init?(_ url: URL, header: String?) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        self.url = url
        size = (attributes[.size] as? NSNumber)?.int64Value ?? 0
        guard let header, let wanted = Self.range(header, size) else {
            range = 0..<size
            return
        }
        guard !wanted.isEmpty else { return nil }
        range = wanted
    }

    /// One range of bytes: `bytes=100-199`, `bytes=100-`, `bytes=-100`; nil for anything else.
    private static func range(_ header: String, _ size: Int64) -> Range<Int64>? {
        guard header.hasPrefix("bytes=") else { return nil }
        let ends = header.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.allSatisfy(\.isNumber) }) else { return nil }
        switch (Int64(ends[0]), Int64(ends[1])) {
        case (let start?, let end?): return start <= end ? min(start, size)..<min(end, size - 1) + 1 : nil
        case (let start?, nil) where ends[1].isEmpty: return min(start, size)..<size
        case (nil, let count?) where ends[0].isEmpty: return max(0, size - count)..<size
        default: return nil
        }
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
