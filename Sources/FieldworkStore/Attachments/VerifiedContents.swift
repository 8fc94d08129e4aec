import Foundation
import Synchronization

/// Which contents of a file were compared with their hashes since the file last changed: a video that is asked for in a
/// hundred ranges is read whole once. It holds one state of the file and a bounded set of rows.
package final class VerifiedContents: Sendable {
    /// What changes when anybody writes the file: that of the file itself and of the log that is written ahead of it.
    struct State: Sendable, Hashable {
        struct Part: Sendable, Hashable {
            let device: UInt64
            let number: UInt64
            let size: Int64
            let written: [Int]
            /// Of the entry of the file: it changes with a write even where the moment of the write is set back.
            let changed: [Int]
        }

        /// nil for what is not there.
        let parts: [Part?]
        /// Seconds since 1970 of the last change.
        let lastChange: Int

        init(path: String) {
            parts = [path, path + "-wal"].map(Self.part)
            lastChange = parts.compactMap { $0?.changed.first }.max() ?? 0
        }

        private static func part(_ path: String) -> Part? {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            return Part(
                device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino),
                size: Int64(status.st_size), written: [status.st_mtim.tv_sec, status.st_mtim.tv_nsec],
                changed: [status.st_ctim.tv_sec, status.st_ctim.tv_nsec])
        }
    }

    private struct Memory {
        var state: State?
        var rows: Set<Int64> = []
    }

    private let path: String
    private let memory = Mutex(Memory())

    /// - Parameter path: of the file that holds the contents.
    init(path: String) { self.path = path }

    /// As it is now.
    var state: State { State(path: path) }

    func holds(_ row: Int64, in state: State) -> Bool {
        memory.withLock { $0.state == state && $0.rows.contains(row) }
    }

    /// - Parameters:
    ///   - state: of the file before the content was opened.
    ///   - now: seconds since 1970. A file that was changed a moment ago could change again within the resolution of its
    ///     times: nothing is remembered of it.
    func remember(_ row: Int64, in state: State, now: Int = Int(Date.now.timeIntervalSince1970)) {
        guard now - state.lastChange >= Limits.settledSeconds else { return }
        memory.withLock { memory in
            if memory.state != state { memory = Memory(state: state) }
            if memory.rows.count >= Limits.verifiedContents { memory.rows.removeAll(keepingCapacity: true) }
            memory.rows.insert(row)
        }
    }
}
