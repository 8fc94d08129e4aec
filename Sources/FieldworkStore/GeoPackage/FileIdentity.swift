import Foundation

/// What makes a file the same file, whatever it is called; links are followed.
struct FileIdentity: Sendable, Hashable {
    let device: UInt64
    let number: UInt64

    /// - Parameter status: what the system says of the file.
    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
