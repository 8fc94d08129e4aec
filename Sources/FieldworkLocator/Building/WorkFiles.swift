import Foundation

/// The names of the files in which a locator is made, beside the finished one. A process that is killed leaves them behind; the
/// next one that makes the same locator goes on where it was (`BuildCheckpoint`), or takes them away and begins anew.
enum WorkFiles {
    /// Hidden: a server does not take it for a locator. It tells the process that works in it.
    static func stem(of target: URL) -> String {
        ".\(target.lastPathComponent)-\(getpid())-\(UUID().uuidString)"
    }

    /// The files of processes that are no more.
    static func abandoned(of target: URL) -> [URL] {
        let folder = target.deletingLastPathComponent()
        let prefix = ".\(target.lastPathComponent)-"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { name in
            guard name.hasPrefix(prefix),
                let process = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ Int32($0) })
            else { return false }
            return process != getpid() && kill(process, 0) != 0 && errno == ESRCH
        }.map { folder.appending(path: $0, directoryHint: .notDirectory) }
    }

    /// Removes the files of processes that are no more.
    static func removeAbandoned(of target: URL) {
        for file in abandoned(of: target) { try? FileManager.default.removeItem(at: file) }
    }
}
