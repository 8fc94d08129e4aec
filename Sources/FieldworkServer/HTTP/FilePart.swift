import FieldworkStore
import Foundation
import NIOCore

/// A part of a file that is sent as it is. The file is kept open, so that it can be deleted while it is sent.
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
                if count == 0 { throw Self.shortened }
                guard errno == EINTR else { throw Self.unreadable(errno) }
            }
        }
    }

    /// A stretch of the part for the operating system to send, from a place on.
    final class Stretch: Sendable {
        let region: FileRegion
        private let part: FilePart

        fileprivate init(_ part: FilePart, _ range: Range<Int>) {
            self.part = part
            let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: part.descriptor)
            region = FileRegion(fileHandle: handle, readerIndex: range.lowerBound, endIndex: range.upperBound)
        }

        // The part closes its file.
        deinit { _ = try? region.fileHandle.takeDescriptorOwnership() }
    }

    /// Brings a stretch into the operating system's memory: whoever sends it then does not wait for the disk.
    /// - Throws: `StoreError` for a file that has become shorter.
    func stretch(from offset: Int64) throws -> Stretch {
        let end = min(range.upperBound, offset + Int64(EncodedFeatures.pieceSize))
        posix_fadvise(descriptor, off_t(offset), off_t(end - offset), Int32(POSIX_FADV_WILLNEED))
        var last: UInt8 = 0
        while true {
            let count = pread(descriptor, &last, 1, off_t(end - 1))
            if count > 0 { return Stretch(self, Int(offset)..<Int(end)) }
            if count == 0 { throw Self.shortened }
            guard errno == EINTR else { throw Self.unreadable(errno) }
        }
    }

    private static var shortened: StoreError {
        StoreError(.failure, "A file that is being sent has become shorter.")
    }

    private static func unreadable(_ code: Int32) -> StoreError {
        StoreError(.failure, "A file that is to be sent can't be read: \(String(cString: strerror(code))).")
    }
}
