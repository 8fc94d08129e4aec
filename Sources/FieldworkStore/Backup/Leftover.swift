package import Foundation

/// What a process that was killed left in a folder of services, or what was moved out of the way there.
package struct Leftover: Sendable, Hashable {
    package let url: URL
    /// Whether nothing is in it that is not elsewhere as well.
    let isUnfinished: Bool

    /// Those in a folder of services and in the folders in it.
    package static func all(in folder: URL) throws -> [Leftover] {
        var found: [Leftover] = []
        for url in try contents(of: folder) {
            if let leftover = Leftover(url) {
                found.append(leftover)
            } else if (try? url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true,
                !url.lastPathComponent.hasPrefix(".")
            {
                found += try contents(of: url).compactMap(Leftover.init)
            }
        }
        return found.sorted { $0.url.path < $1.url.path }
    }

    private static func contents(of folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.isDirectoryKey])
    }

    private init?(_ url: URL) {
        let name = url.lastPathComponent
        self.url = url
        if name.hasPrefix("."), name.hasSuffix(".making") || name.hasSuffix(".copying") {
            isUnfinished = true
        } else if name.contains(".gpkg-wal.set-aside-") || name.contains(".gpkg.replaced-")
            || name.contains("portal.sqlite.replaced-")
        {
            isUnfinished = false
        } else {
            return nil
        }
    }

    package var words: String {
        isUnfinished
            ? "It was left by a publish, copy or backup that was killed, or one is at work; --remove-leftovers removes it."
            : "It holds what was there before something was put back; remove it when nobody needs it."
    }

    /// Whether it can go: nothing has written to it for some time, and it holds nothing of its own.
    package func isAbandoned(at moment: Date = .now) -> Bool {
        guard isUnfinished else { return false }
        let inside = (try? FileManager.default.subpathsOfDirectory(atPath: url.path)) ?? []
        let paths = [url.path] + inside.map { url.appending(path: $0).path }
        let changes = paths.compactMap {
            (try? FileManager.default.attributesOfItem(atPath: $0)[.modificationDate]) as? Date
        }
        return changes.allSatisfy { moment.timeIntervalSince($0) > Limits.leftoverSeconds }
    }

    package func remove() throws { try FileManager.default.removeItem(at: url) }
}
