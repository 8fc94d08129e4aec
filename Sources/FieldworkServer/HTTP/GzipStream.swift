import CZlib
import NIOCore

/// Compresses an answer piece by piece. Owns zlib's state and frees it.
struct GzipStream: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>

    /// Fast: an answer is made for one client, once.
    private static let level: Int32 = 1
    /// A window of 32 kB (15), with gzip's header and checksum (16).
    private static let windowBits: Int32 = 15 + 16
    private static let chunkSize = 64 * 1_024

    struct Failure: Error {
        var code: Int32
    }

    init() throws {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let code = fieldwork_deflateInit2(stream, Self.level, Self.windowBits)
        guard code == Z_OK else {
            // `deinit` does not run when an initializer throws.
            stream.deallocate()
            throw Failure(code: code)
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Appends the compressed form of a piece. zlib may keep some of it back until the next piece or `finish`.
    mutating func compress(_ piece: [UInt8], into buffer: inout ByteBuffer) throws {
        try piece.withUnsafeBytes { try deflate($0, flush: Z_NO_FLUSH, into: &buffer) }
    }

    /// Appends what was kept back, and the checksum.
    mutating func finish(into buffer: inout ByteBuffer) throws {
        try deflate(UnsafeRawBufferPointer(start: nil, count: 0), flush: Z_FINISH, into: &buffer)
    }

    private mutating func deflate(_ input: UnsafeRawBufferPointer, flush: Int32, into buffer: inout ByteBuffer) throws {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(input.count)
        var code = Z_OK
        repeat {
            let pointer = stream
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.chunkSize) { output in
                pointer.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
                pointer.pointee.avail_out = UInt32(output.count)
                code = CZlib.deflate(pointer, flush)
                return output.count - Int(pointer.pointee.avail_out)
            }
            guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { throw Failure(code: code) }
        } while stream.pointee.avail_out == 0 || (flush == Z_FINISH && code != Z_STREAM_END)
        stream.pointee.next_in = nil
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
