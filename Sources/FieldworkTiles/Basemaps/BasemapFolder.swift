package import Foundation

/// The folder with the packages of tiles that a server serves beside its services: `basemaps/NAME.tiles`, each a package as it
/// came, whatever its kind.
package struct BasemapFolder: Sendable {
    package let url: URL

    private static let ending = "tiles"

    /// - Parameter data: the folder of the services.
    package init(data: URL) { url = data.appending(path: "basemaps", directoryHint: .isDirectory) }

    /// Names are parts of addresses and of files: letters, digits, `_` and `-`.
    package static func isName(_ name: String) -> Bool {
        (1...100).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x5F || byte == 0x2D
            }
    }

    /// In the order of their names.
    package func names() -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        return files.filter { $0.hasSuffix(".\(Self.ending)") }
            .map { String($0.dropLast(Self.ending.count + 1)) }.filter(Self.isName)
            .sorted { $0.lowercased() < $1.lowercased() }
    }

    package func file(_ name: String) -> URL {
        url.appending(path: "\(name).\(Self.ending)", directoryHint: .notDirectory)
    }

    /// Refuses what is no name, and one that is taken.
    package func check(_ name: String, replaces: Bool) throws(TileError) {
        guard Self.isName(name) else {
            throw TileError(
                .unsupported, "A basemap's name has letters, digits, '_' and '-' only: '\(name.prefix(100))'.")
        }
        guard replaces || !names().contains(where: { $0.lowercased() == name.lowercased() }) else {
            throw TileError(.unsupported, "There is a basemap \(name) already. --replace puts this one in its place.")
        }
    }

    /// Where a package is made before it is added. The file is on the same disk, and is not served.
    package func draft(_ name: String) throws -> URL {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        clearDrafts()
        return url.appending(path: ".\(name).\(ProcessInfo.processInfo.processIdentifier).making")
    }

    /// Deletes drafts of processes that were killed: `.NAME.PROCESS.making`, and the file of parts beside it.
    private func clearDrafts() {
        for file in (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] {
            let words = file.split(separator: ".")
            guard file.hasPrefix("."), words.count >= 3, words[2] == "making" || words[2] == "coming",
                let process = Int32(words[1]), process > 0, kill(process, 0) != 0, errno == ESRCH
            else { continue }
            try? FileManager.default.removeItem(at: url.appending(path: file))
        }
    }

    /// Takes a package into the folder, where it appears whole or not at all.
    /// - Parameter moves: the file is one of ours that isn't needed elsewhere.
    package func add(_ package: URL, as name: String, replaces: Bool, moves: Bool = false) throws {
        try check(name, replaces: replaces)
        let taken = names().first { $0.lowercased() == name.lowercased() }
        let manager = FileManager.default
        try manager.createDirectory(at: url, withIntermediateDirectories: true)
        let coming = url.appending(path: ".\(name).\(ProcessInfo.processInfo.processIdentifier).coming")
        do {
            if moves {
                try manager.moveItem(at: package, to: coming)
            } else {
                try manager.copyItem(at: package, to: coming)
            }
            let handle = try FileHandle(forUpdating: coming)
            try handle.synchronize()
            try handle.close()
            // A name of another case is the same basemap.
            if let taken, taken != name { try manager.removeItem(at: file(taken)) }
            guard rename(coming.path, file(name).path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? manager.removeItem(at: coming)
            throw error
        }
    }

    /// - Returns: false when there is none of this name.
    package func remove(_ name: String) throws -> Bool {
        guard let known = names().first(where: { $0.lowercased() == name.lowercased() }) else { return false }
        try FileManager.default.removeItem(at: file(known))
        return true
    }
}
