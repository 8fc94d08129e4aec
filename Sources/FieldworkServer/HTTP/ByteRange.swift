import FieldworkREST
import HTTPTypes

/// A `Range` header field set against a content's size. What is not understood asks for the whole, as HTTP allows.
enum ByteRange {
    /// - Returns: the bytes that are wanted; nil when they lie behind the end.
    static func wanted(_ header: String?, of size: Int64) -> Range<Int64>? {
        guard let header, let wanted = range(header, size) else { return 0..<size }
        return wanted.isEmpty ? nil : wanted
    }

    /// One range of bytes: `bytes=100-199`, `bytes=100-`, `bytes=-100`; nil for anything else.
    private static func range(_ header: String, _ size: Int64) -> Range<Int64>? {
        guard header.hasPrefix("bytes=") else { return nil }
        let ends = header.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.allSatisfy(\.isNumber) }) else { return nil }
        switch (Int64(ends[0]), Int64(ends[1])) {
        case (let start?, let end?):
            return start <= end ? min(start, size)..<max(min(start, size), min(end, size - 1) + 1) : nil
        case (let start?, nil) where ends[1].isEmpty: return min(start, size)..<size
        case (nil, let count?) where ends[0].isEmpty: return max(0, size - count)..<size
        default: return nil
        }
    }
}

extension Answer {
    /// Says which part of a file this is.
    mutating func setRange(_ range: Range<Int64>, of size: Int64) {
        contentLength = Int(range.upperBound - range.lowerBound)
        guard range != 0..<size else { return }
        status = .partialContent
        contentRange = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
        isCompressible = false
    }

    /// - Parameter size: of the content, where it is known: the client learns from it how far it may ask.
    static func rangeNotSatisfiable(of size: Int64? = nil) -> Answer {
        var answer = Answer.error(ServiceError(code: 416, message: "The file ends before that range."))
        answer.status = .rangeNotSatisfiable
        answer.contentRange = size.map { "bytes */\($0)" }
        return answer
    }
}
