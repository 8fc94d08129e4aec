import FieldworkStore
import Foundation
import NIOCore

/// A stretch of a file that is sent as it is: read straight into the buffer of the connection. The file is kept open, so that it can be
/// deleted while it is sent.
final class FilePart: Sendable {
    let range: Range<Int64>
    private let descriptor: Int32

    /// - Throws: `StoreError` for a file that can't be opened.
    init(_ url: URL, range: Range<Int64>) throws {
        self.range = range
        descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable(errno) }
    }

    deinit { close(descriptor) }

    /// Appends the bytes from a place on, as many as a piece has and the stretch has left.
    /// - Throws: `StoreError` for a file that has become shorter: a client must not take what it got for the whole.
    func read(from offset: Int64, into buffer: inout ByteBuffer) throws {
        let most = Int(min(range.upperBound - offset, Int64(EncodedFeatures.pieceSize)))
        guard most > 0 else { return }
        try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: most) { bytes in
            while true {
                let count = pread(descriptor, bytes.baseAddress, most, off_t(offset))
                if count > 0 { return count }
                if count == 0 { throw StoreError(.failure, "A file that is being sent has become shorter.") }
                guard errno == EINTR else { throw Self.unreadable(errno) }
            }
        }
    }

    private static func unreadable(_ code: Int32) -> StoreError {
        StoreError(.failure, "A file that is to be sent can't be read: \(String(cString: strerror(code))).")
    }
}
