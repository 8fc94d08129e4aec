import Foundation

/// Puts finished files in their place so that they are whole or not there, even when the power fails.
enum DurableFile {
    /// Syncs a file, renames it (replacing what was there) and syncs the folder.
    static func move(_ source: URL, to target: URL) throws {
        try sync(source)
        guard rename(source.path, target.path) == 0 else {
            throw CommandFailure(.cannotCreate, "\(target.path) can't be written: \(String(cString: strerror(errno))).")
        }
        try sync(target.deletingLastPathComponent())
    }

    static func sync(_ url: URL) throws {
        let descriptor = open(url.path, O_RDONLY)
        guard descriptor >= 0 else {
            throw CommandFailure(.inputOutput, "\(url.path) can't be opened: \(String(cString: strerror(errno))).")
        }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw CommandFailure(.inputOutput, "\(url.path) can't be written: \(String(cString: strerror(errno))).")
        }
    }
}
