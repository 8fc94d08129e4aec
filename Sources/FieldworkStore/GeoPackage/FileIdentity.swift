import Foundation

/// What makes a file the same file, whatever it is called; links are followed.
struct FileIdentity: Sendable, Hashable {
    let device: UInt64
    let number: UInt64

    /// nil when there is no file.
    init?(_ url: URL) {
        var status = stat()
        guard stat(url.path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
