import Fieldwork
import Foundation

/// A GeoPackage of the user's that is worked in where it is, never in a copy: two copies of one replica would send their edits
/// twice.
struct HeldFile: Sendable, Codable, Hashable {
    /// Whole, with links followed.
    var path: String
    /// The replica that the file is; nil for a file of no service.
    let replica: UUID?

    var url: URL { URL(filePath: path, directoryHint: .notDirectory) }
    var name: String { url.lastPathComponent }

    /// The folder and name as people write them, `~/Documents/area.gpkg`.
    var shown: String { Self.shown(path) }

    static func shown(_ path: String) -> String {
        let home = FileManager.default.homeDirectoryForCurrentUser.path
        return path.hasPrefix(home + "/") ? "~" + path.dropFirst(home.count) : path
    }

    /// The place that somebody typed: a whole path, one in the own folder (`~/`), or a `file:` address. Throws
    /// `CollectError.fileNotOpened` for what can't be the path of a file.
    static func path(typed: String) throws(CollectError) -> String {
        let text = typed.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else {
            throw CollectError(
                .fileNotOpened, "There is no path yet.", nextStep: "Type it, or choose a file from the list.")
        }
        var path = text
        if text.lowercased().hasPrefix("file:") {
            guard let url = URL(string: text), url.isFileURL, (url.host() ?? "").isEmpty || url.host() == "localhost"
            else {
                throw CollectError(.fileNotOpened, "That is no address of a file of this device.")
            }
            path = url.path(percentEncoded: false)
        } else if text.hasPrefix("~/") {
            path = FileManager.default.homeDirectoryForCurrentUser.path + text.dropFirst()
        }
        guard path.hasPrefix("/"), !path.utf8.contains(0), path.utf8.count <= Limits.pathBytes else {
            throw CollectError(
                .fileNotOpened, "That is not the path of a file.", nextStep: "A path begins with / or ~/.")
        }
        return path
    }

    /// The whole path with its links followed, of a file that can be worked in; nothing of the file is read. Throws
    /// `CollectError.fileNotOpened` with the reason.
    static func canonical(_ path: String) throws(CollectError) -> String {
        guard let found = realpath(path, nil) else {
            throw errno == EACCES
                ? CollectError(.fileNotOpened, "You may not look into the folder of \(shown(path)).")
                : CollectError(
                    .fileNotOpened, "There is no file \(shown(path)).",
                    nextStep: "It may have been moved or deleted. Choose it from the list, or check its path.")
        }
        defer { free(found) }
        let whole = String(cString: found)
        let type = try? FileManager.default.attributesOfItem(atPath: whole)[.type] as? FileAttributeType
        guard type == .typeRegular else {
            throw CollectError(.fileNotOpened, "\(shown(path)) is no file.", nextStep: "A map is a GeoPackage, .gpkg.")
        }
        guard access(whole, R_OK) == 0 else {
            throw CollectError(
                .fileNotOpened, "You may not read \(shown(path)).", nextStep: "Ask its owner for the right to.")
        }
        return whole
    }

    /// Each edit is kept in the file at once: it and its folder have to be writable. Throws `CollectError.fileNotOpened`.
    static func requireRights(_ path: String) throws(CollectError) {
        let folder = (path as NSString).deletingLastPathComponent
        guard access(path, W_OK) == 0, access(folder, W_OK) == 0 else {
            throw CollectError(
                .fileNotOpened, "\(shown(path)) can't be written.",
                nextStep:
                    "Fieldwork keeps each edit in the file at once. Ask for the right to change it and its folder.")
        }
    }
}
