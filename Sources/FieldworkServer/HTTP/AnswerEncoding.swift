import FieldworkREST
import NIOCore

extension GzipStream {
    /// Appends the compressed form of a piece. zlib may keep some of it back until the next piece or `finish`.
    mutating func compress(_ piece: [UInt8], into buffer: inout ByteBuffer) throws {
        try compress(piece) { minimum, fill in
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: minimum) { fill($0) }
        }
    }

    /// Appends what was kept back, and the checksum.
    mutating func finish(into buffer: inout ByteBuffer) throws {
        try finish { minimum, fill in
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: minimum) { fill($0) }
        }
    }
}

/// What a client accepts as the encoding of an answer.
enum AnswerEncoding: Sendable, Hashable {
    case identity
    case gzip

    /// - Parameter accepted: the request's `Accept-Encoding` field.
    init(accepted: String?) {
        self = .identity
        guard let accepted else { return }
        for part in accepted.utf8.split(separator: 0x2C) {
            let words = Substring(part).split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
            guard words.first == "gzip" || words.first == "*" else { continue }
            let quality = words.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            self = quality > 0 ? .gzip : .identity
            if words.first == "gzip" { return }
        }
    }
}
