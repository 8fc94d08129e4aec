import Foundation

/// The names of the files in which a locator is made, beside the finished one. A process that is killed leaves them behind; the
/// next one that makes the same locator begins anew, and takes them away.
enum WorkFiles {
    /// Hidden: a server does not take it for a locator. It tells the process that works in it.
    static func stem(of target: URL) -> String {
        ".\(target.lastPathComponent)-\(getpid())-\(UUID().uuidString)"
    }

    /// Removes the files of processes that are no more.
    static func removeAbandoned(of target: URL) {
        let folder = target.deletingLastPathComponent()
        let prefix = ".\(target.lastPathComponent)-"
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where name.hasPrefix(prefix) {
            guard let process = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ Int32($0) }),
                process != getpid(), kill(process, 0) != 0, errno == ESRCH
            else { continue }
            try? FileManager.default.removeItem(at: folder.appending(path: name, directoryHint: .notDirectory))
        }
    }
}
