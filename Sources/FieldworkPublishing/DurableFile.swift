package import Foundation

/// Puts finished files in their place so that they are whole or not there, even when the power fails.
package enum DurableFile {
    /// Syncs a file, renames it (replacing what was there) and syncs the folder.
    package static func replace(_ target: URL, with source: URL) throws {
        try sync(source)
        guard rename(source.path, target.path) == 0 else {
            throw PublishingError(.cannotCreate, "\(target.path) can't be written: \(reason()).")
        }
        try sync(target.deletingLastPathComponent())
    }

    /// The same, but never over a file that is there, also when it came there a moment ago.
    package static func place(_ source: URL, at target: URL) throws {
        try sync(source)
        // A second name fails where a renaming would replace.
        if link(source.path, target.path) == 0 {
            unlink(source.path)
        } else if [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) {
            try claim(target)
            guard rename(source.path, target.path) == 0 else {
                let failure = PublishingError(.cannotCreate, "\(target.path) can't be written: \(reason()).")
                unlink(target.path)
                throw failure
            }
        } else {
            throw refusal(target)
        }
        try sync(target.deletingLastPathComponent())
    }

    /// On a file system without links: whoever makes the empty file has the name.
    private static func claim(_ target: URL) throws {
        let descriptor = open(target.path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { throw refusal(target) }
        close(descriptor)
    }

    private static func refusal(_ target: URL) -> PublishingError {
        PublishingError(
            .cannotCreate,
            errno == EEXIST ? "\(target.path) is there already." : "\(target.path) can't be written: \(reason()).")
    }

    /// A closed GeoPackage is one file. A write-ahead log left beside it would hold features that a move leaves behind.
    package static func requireNoLog(beside file: URL) throws {
        let log = try? FileManager.default.attributesOfItem(atPath: file.path + "-wal")
        guard (log?[.size] as? Int ?? 0) == 0 else {
            throw PublishingError(.software, "\(file.lastPathComponent) was not closed; another program has it open.")
        }
    }

    package static func sync(_ url: URL) throws {
        let descriptor = open(url.path, O_RDONLY)
        guard descriptor >= 0 else {
            throw PublishingError(.inputOutput, "\(url.path) can't be opened: \(reason()).")
        }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw PublishingError(.inputOutput, "\(url.path) can't be written: \(reason()).")
        }
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
