package import Foundation
import Synchronization

/// Keeps a geodatabase's file to one program of Fieldwork at a time: two that sync the same replica would each know only half
/// of what was sent. Other programs may edit the file meanwhile. It ends with `end`, or with the process. Not part of the
/// vendor's API.
package final class GeodatabaseUse: Sendable {
    private struct File: Hashable {
        let device: UInt64
        let number: UInt64
    }

    private struct Known {
        /// Stay open: to close one would take SQLite's own locks on the file away from this process.
        var descriptors: [File: Int32] = [:]
        var inUse: Set<File> = []
    }

    private static let known = Mutex(Known())
    private let file: File
    private let isOver = Mutex(false)

    private init(_ file: File) { self.file = file }

    deinit { end() }

    /// Takes a file for this program. Throws `CommonError.notFound` where there is none, `CommonError.illegalState` while it is
    /// somebody else's.
    package static func begin(_ url: URL) throws(CommonError) -> GeodatabaseUse {
        let name = url.lastPathComponent
        return try known.withLock { known throws(CommonError) in
            var status = stat()
            guard stat(url.path, &status) == 0 else { throw .notFound(details: "There is no file \(name).") }
            let file = File(
                device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino))
            let taken = CommonError.illegalState(details: "\(name) is open in another Fieldwork.")
            guard !known.inUse.contains(file) else { throw taken }
            let descriptor = known.descriptors[file] ?? open(url.path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw .io(details: "\(name) can't be read.") }
            known.descriptors[file] = descriptor
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw taken }
            known.inUse.insert(file)
            return GeodatabaseUse(file)
        }
    }

    /// Leaves the file to others. It has to be closed before.
    package func end() {
        // A second end must not end what somebody else has begun meanwhile.
        guard
            isOver.withLock({ isOver in
                defer { isOver = true }; return !isOver
            })
        else { return }
        Self.known.withLock { known in
            guard known.inUse.remove(file) != nil, let descriptor = known.descriptors[file] else { return }
            flock(descriptor, LOCK_UN)
        }
    }
}
