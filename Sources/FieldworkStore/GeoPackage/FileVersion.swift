import Foundation

/// Tells one state of a file or a folder from another: the file itself, its size and when it was changed.
package struct FileVersion: Sendable, Hashable {
    private let file: UInt64
    private let seconds: Int
    private let nanoseconds: Int
    private let size: Int

    /// nil where there is nothing.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
            let changed = status.st_mtimespec
        #else
            let changed = status.st_mtim
        #endif
        file = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int(clamping: status.st_size)
        seconds = Int(clamping: changed.tv_sec)
        nanoseconds = Int(clamping: changed.tv_nsec)
    }

    package var text: String { "\(file)-\(seconds).\(nanoseconds)-\(size)" }

    /// Whether the last change was more than a second ago.
    package var isSettled: Bool { Date().timeIntervalSince1970 - Double(seconds) > 2 }
}
