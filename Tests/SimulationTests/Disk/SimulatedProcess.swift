import Foundation
import Synchronization

/// A process and the folder that is its disk. When it is killed, the folder is copied as it stands, for the process that
/// comes after; whatever the killed one still does it does in the old folder, and nobody listens to it.
final class SimulatedProcess: Sendable {
    let folder: URL
    let watch: CrashingDisk.Watch
    private let successor = Mutex<URL?>(nil)

    init(folder: URL) {
        self.folder = folder
        watch = CrashingDisk.watch(folder)
    }

    /// Where the next process finds what this one left; nil as long as it lives.
    var remains: URL? { successor.withLock { $0 } }
    var isDead: Bool { remains != nil }

    /// Kills the process now.
    func kill() { Self.kill(folder, successor) }

    /// Kills the process in the midst of the write after `writes` others, if it comes so far.
    func killLater(after writes: Int) {
        watch.arm(after: writes) { [weak self] in self?.kill() }
    }

    func spare() { watch.disarm() }

    /// Removes what a dead process has left, when it has ended and been copied.
    func bury() {
        CrashingDisk.forget(watch)
        try? FileManager.default.removeItem(at: folder)
    }

    private static func kill(_ folder: URL, _ successor: borrowing Mutex<URL?>) {
        successor.withLock { successor in
            guard successor == nil else { return }
            let (name, number) = split(folder.lastPathComponent)
            let copy = folder.deletingLastPathComponent().appending(
                path: "\(name).\(number + 1)", directoryHint: .isDirectory)
            try? FileManager.default.copyItem(at: folder, to: copy)
            successor = copy
        }
    }

    /// `server.3` is the third process of the server.
    private static func split(_ name: String) -> (name: Substring, number: Int) {
        let parts = name.split(separator: ".")
        return (parts[0], parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
    }
}
