import CZlib

/// Compresses bytes piece by piece. Owns zlib's state and frees it.
package struct GzipStream: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>

    /// Fast: an answer is made for one client, once.
    package static let fastLevel: Int32 = 1
    /// A window of 32 kB (15), with gzip's header and checksum (16).
    fileprivate static let windowBits: Int32 = 15 + 16
    private static let chunkSize = 64 * 1_024

    /// What zlib could not do, by its own number.
    package struct Failure: Error {
        package var code: Int32
    }

    /// Makes room for at least so many bytes and has them filled; the filler gives the number that it wrote.
    package typealias Room = (_ minimum: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) -> Void

    /// - Parameter level: 9 for what is kept and sent often.
    package init(level: Int32 = fastLevel) throws {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let code = fieldwork_deflateInit2(stream, level, Self.windowBits)
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

    /// Gives the compressed form of a piece. zlib may keep some of it back until the next piece or `finish`.
    package mutating func compress(_ piece: [UInt8], room: Room) throws {
        try piece.withUnsafeBytes { try deflate($0, flush: Z_NO_FLUSH, room) }
    }

    /// Gives what was kept back, and the checksum.
    package mutating func finish(room: Room) throws {
        try deflate(UnsafeRawBufferPointer(start: nil, count: 0), flush: Z_FINISH, room)
    }

    private mutating func deflate(_ input: UnsafeRawBufferPointer, flush: Int32, _ room: Room) throws {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(input.count)
        var code = Z_OK
        repeat {
            let pointer = stream
            room(Self.chunkSize) { output in
                pointer.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
                pointer.pointee.avail_out = UInt32(output.count)
                code = CZlib.deflate(pointer, flush)
                return output.count - Int(pointer.pointee.avail_out)
            }
            guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { throw Failure(code: code) }
        } while stream.pointee.avail_out == 0 || (flush == Z_FINISH && code != Z_STREAM_END)
        stream.pointee.next_in = nil
    }

    /// The compressed form of bytes that are in memory.
    package static func compressed(_ bytes: [UInt8], level: Int32 = fastLevel) throws -> [UInt8] {
        try WholeCompression.compressed(bytes, as: .gzip, level: level)
    }
}

/// Expands bytes that were compressed by gzip, piece by piece, and never more than it is allowed: a few bytes may stand for
/// very many.
package struct GzipReader: ~Copyable {
    package enum Failure: Error, Sendable, Hashable {
        /// The bytes are not gzip, or not all of it.
        case malformed
        /// What they stand for is more than allowed.
        case tooLarge
    }

    /// What stands around the compressed bytes.
    package enum Format: Sendable {
        case gzip
        /// zlib's own shorter header.
        case zlib
    }

    private let stream: UnsafeMutablePointer<z_stream>
    private let maximum: Int
    private var isAtEnd = false
    private static let chunkSize = 64 * 1_024

    /// - Parameter maximum: the most bytes that all pieces together may stand for.
    package init(maximum: Int, format: Format = .gzip) throws(Failure) {
        self.maximum = maximum
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let bits = format == .gzip ? GzipStream.windowBits : GzipStream.windowBits - 16
        guard fieldwork_inflateInit2(stream, bits) == Z_OK else {
            stream.deallocate()
            throw .malformed
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Appends what a piece stands for.
    package mutating func read(_ piece: [UInt8], into bytes: inout [UInt8]) throws(Failure) {
        guard !piece.isEmpty else { return }
        guard !isAtEnd else { throw .malformed }
        var piece = piece
        let (stream, maximum) = (stream, maximum)
        var ended = false
        stream.pointee.avail_in = UInt32(piece.count)
        let outcome = piece.withUnsafeMutableBufferPointer { input -> Failure? in
            stream.pointee.next_in = input.baseAddress
            repeat {
                var code = Z_OK
                // One more than allowed tells that it is too much.
                let room = min(Self.chunkSize, maximum - bytes.count + 1)
                bytes += [UInt8](unsafeUninitializedCapacity: room) { output, count in
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = UInt32(room)
                    code = inflate(stream, Z_NO_FLUSH)
                    count = room - Int(stream.pointee.avail_out)
                }
                if bytes.count > maximum { return .tooLarge }
                if code == Z_STREAM_END {
                    ended = true
                    return stream.pointee.avail_in == 0 ? nil : .malformed
                }
                guard code == Z_OK || code == Z_BUF_ERROR else { return .malformed }
            } while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0
            return nil
        }
        isAtEnd = ended
        stream.pointee.next_in = nil
        if let outcome { throw outcome }
    }

    /// Looks whether all of it has been read.
    package func finish() throws(Failure) {
        guard isAtEnd else { throw .malformed }
    }

    /// What bytes in memory stand for.
    package static func expanded(
        _ bytes: [UInt8], maximum: Int, format: Format = .gzip
    ) throws(Failure) -> [UInt8] {
        var reader = try GzipReader(maximum: maximum, format: format)
        var result: [UInt8] = []
        try reader.read(bytes, into: &result)
        try reader.finish()
        return result
    }
}
