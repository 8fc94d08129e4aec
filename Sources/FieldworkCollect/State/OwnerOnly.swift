import Foundation

/// Keeps what the app stores of a user from the other users of the machine.
enum OwnerOnly {
    /// What the app keeps in its data folder.
    static let names: Set<String> = [
        "settings.json", "services", "maps", "areas", "conflicts", "people", "people.json", PageKey.fileName,
        PageKey.fileName + ".part",
    ]

    /// Makes the folder for its owner alone. From a folder that exists, group and others lose their rights in what the app
    /// keeps there, and in the folder itself where nothing else is in it.
    static func prepare(_ folder: URL) throws {
        let manager = FileManager.default
        guard manager.fileExists(atPath: folder.path) else {
            try manager.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            return
        }
        let found = try manager.contentsOfDirectory(atPath: folder.path)
        if names.isSuperset(of: found) { tighten(folder.path) }
        // A key that others could read isn't made right by taking that away: `PageKey` makes a new one.
        for name in found where names.contains(name) && !name.hasPrefix(PageKey.fileName) {
            let item = folder.appending(path: name)
            tighten(item.path)
            guard let contents = manager.enumerator(atPath: item.path) else { continue }
            for case let path as String in contents { tighten(item.appending(path: path).path) }
        }
    }

    /// Takes the rights of group and others away; only from files and folders, never through a link.
    private static func tighten(_ path: String) {
        guard let own = own(path), own.mode & 0o077 != 0 else { return }
        guard own.kind == .typeDirectory || own.kind == .typeRegular else { return }
        chmod(path, mode_t(truncatingIfNeeded: own.mode & 0o700))
    }

    /// The rights and the kind of what this user owns, links not followed; nil for what another user owns or isn't there.
    static func own(_ path: String) -> (mode: Int, kind: FileAttributeType)? {
        guard let found = try? FileManager.default.attributesOfItem(atPath: path),
            let owner = found[.ownerAccountID] as? NSNumber, owner.uint32Value == geteuid(),
            let mode = found[.posixPermissions] as? NSNumber, let kind = found[.type] as? FileAttributeType
        else { return nil }
        return (mode.intValue, kind)
    }
}
