import Foundation

/// A file that is read in pieces, from several threads at a time. Nothing is read beyond its end, whatever it says itself.
package final class PackageFile: Sendable {
    private let descriptor: Int32
    /// Where what is read begins.
    private let start: Int
    package let size: Int

    /// - Parameter part: the bytes of the file that are read, as if there were no others; nil for all of them.
    package init(path: String, part: Range<Int>? = nil) throws(TileError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw TileError(.unreadable, "The file can't be opened: \(String(cString: strerror(errno))).")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw TileError(.unreadable, "This is no file.")
        }
        let part = part ?? 0..<Int(status.st_size)
        guard part.lowerBound >= 0, part.upperBound <= Int(status.st_size) else {
            close(descriptor)
            throw TileError(.broken, "The file ends early: a part of it ends at \(part.upperBound).")
        }
        (start, size) = (part.lowerBound, part.count)
    }

    deinit { close(descriptor) }

    /// - Parameter limit: the most that may be asked for at once.
    package func bytes(at offset: Int, count: Int, limit: Int = Limits.packagePieceBytes) throws(TileError) -> [UInt8] {
        guard offset >= 0, count >= 0, offset <= size, count <= size - offset else {
            throw TileError(.broken, "The file ends early: it names \(count) bytes at \(offset), of \(size).")
        }
        guard count <= limit else {
            throw TileError(.tooLarge, "A part of the file has \(count) bytes; \(limit) are allowed.")
        }
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
            while read < count {
                guard let start = buffer.baseAddress else { return }
                let step = pread(descriptor, start.advanced(by: read), count - read, off_t(self.start + offset + read))
                if step < 0, errno == EINTR { continue }
                guard step > 0 else {
                    failure = step < 0 ? errno : EIO
                    return
                }
                read += step
            }
        }
        guard failure == 0 else {
            throw TileError(.unreadable, "The file can't be read: \(String(cString: strerror(failure))).")
        }
        return bytes
    }

    /// A stretch of the file from its beginning to its end, in pieces of a megabyte.
    /// - Parameter range: the whole file where none is given.
    package func pieces(
        of range: Range<Int>? = nil, _ body: ([UInt8]) throws(TileError) -> Void
    ) throws(TileError) {
        let range = range ?? 0..<size
        var place = range.lowerBound
        while place < range.upperBound {
            let piece = try bytes(at: place, count: min(Self.pieceSize, range.upperBound - place))
            try body(piece)
            place += piece.count
        }
    }

    private static let pieceSize = 1_024 * 1_024
}

extension [UInt8] {
    /// A number in little-endian order; nil where it would reach beyond the end.
    func littleEndian(at offset: Int, bytes count: Int) -> UInt64? {
        guard offset >= 0, count <= self.count - offset else { return nil }
        return (0..<count).reduce(0) { $0 | UInt64(self[offset + $1]) << UInt64(8 * $1) }
    }

    /// The same for a number that counts bytes.
    func length(at offset: Int, bytes count: Int) throws(TileError) -> Int {
        guard let value = littleEndian(at: offset, bytes: count), let length = Int(exactly: value) else {
            throw TileError(.broken, "The file breaks off within a number.")
        }
        return length
    }
}
