package import Foundation

/// Files and folders that nobody but their owner may read: they hold what a service's rules show to some only.
package enum OwnFiles {
    static let folderMode = 0o700
    static let fileMode = 0o600

    /// Makes a folder for its owner alone, with those above it that are missing. One that is there keeps its rights.
    package static func createFolder(_ url: URL) throws {
        if FileManager.default.fileExists(atPath: url.path) {
            // Throws where it is no folder.
            return try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: folderMode])
    }

    /// Makes a file the owner's alone.
    package static func protect(_ url: URL) throws {
        guard chmod(url.path, mode_t(fileMode)) == 0 else {
            throw StoreError(
                .failure,
                "\(url.lastPathComponent) can't be kept from other users: \(String(cString: strerror(errno))).")
        }
    }
}
