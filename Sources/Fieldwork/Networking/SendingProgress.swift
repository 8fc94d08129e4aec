import Foundation
import Synchronization

/// How far the sending of edits has come. Not part of the vendor's API.
package struct SendingProgress: Sendable, Hashable {
    /// Edits of features that are to be sent, and those that the service has answered.
    package var edits = 0
    package var answeredEdits = 0
    /// Photos and files that are to be sent, and those that the service has.
    package var files = 0
    package var sentFiles = 0
    /// Bytes of the photos and files together, of those that the service has, and of the one that is under way.
    package var bytes: Int64 = 0
    package var sentBytes: Int64 = 0
    package var currentBytes: Int64 = 0
    /// Whether a photo or file is under way by itself.
    package var isSendingFile = false
    /// The size of that one.
    package var currentSize: Int64 = 0

    package init() {}

    /// What has been sent, 0 to 1: an edit and a file count alike, a file that is under way by its bytes.
    package var part: Double {
        let whole = edits + files
        guard whole > 0 else { return 0 }
        let current = isSendingFile && currentSize > 0 ? Double(currentBytes) / Double(currentSize) : 0
        return min(1, (Double(answeredEdits + sentFiles) + min(1, current)) / Double(whole))
    }
}

/// Keeps how far a sending has come, and tells when that has changed.
package final class SendingWatch: Sendable {
    private let state = Mutex(SendingProgress())
    private let listener: @Sendable () -> Void

    package init(_ listener: @escaping @Sendable () -> Void = {}) { self.listener = listener }

    package var progress: SendingProgress { state.withLock { $0 } }

    private func change(_ body: (inout SendingProgress) -> Void) {
        state.withLock { body(&$0) }
        listener()
    }

    func expect(edits: Int) { change { $0.edits += edits } }

    func expect(files: Int, bytes: Int64) {
        guard files > 0 else { return }
        change { progress in
            progress.files += files
            progress.bytes += bytes
        }
    }

    func answered(edits: Int) { change { $0.answeredEdits = min($0.edits, $0.answeredEdits + edits) } }

    func began(fileOf size: Int64) {
        change { ($0.isSendingFile, $0.currentSize, $0.currentBytes) = (true, size, 0) }
    }

    /// So much of the file is there: more than before, or less where it goes once more.
    func reached(_ bytes: Int64) { change { $0.currentBytes = min($0.currentSize, bytes) } }

    func carried(_ bytes: Int64) { change { $0.currentBytes = min($0.currentSize, $0.currentBytes + bytes) } }

    /// The service has all of it: what went within the edits, too.
    func finished() {
        change { progress in
            (progress.isSendingFile, progress.currentBytes, progress.currentSize) = (false, 0, 0)
            progress.answeredEdits = progress.edits
            (progress.sentFiles, progress.sentBytes) = (progress.files, progress.bytes)
        }
    }

    /// The service has a file, which went by itself or with others.
    func ended(fileOf size: Int64) {
        change { progress in
            (progress.isSendingFile, progress.currentBytes, progress.currentSize) = (false, 0, 0)
            progress.sentFiles = min(progress.files, progress.sentFiles + 1)
            progress.sentBytes = min(progress.bytes, progress.sentBytes + size)
        }
    }
}
