import FieldworkLocator
import FieldworkREST
import FieldworkStore
import Foundation

/// The locators of a folder, by the names that clients use: files `NAME.locator` beside the services, in the folder or one below.
/// A file that was replaced is opened anew at the next request.
actor LocatorCatalog {
    private struct Entry {
        var locator: Locator
        var identity: FileVersion
    }

    /// nil for a server without locators.
    private let folder: URL?
    let cutter = LocatorCutter()
    private var entries: [String: Entry] = [:]

    init(folder: URL?) { self.folder = folder }

    /// The names of all locators, in the order of their paths.
    func names() -> [ServiceName] { found().map(\.name) }

    /// The locator of a path such as `Folder/Name`, without regard to case; nil when there is none.
    func locator(path: String) async throws -> (name: ServiceName, locator: Locator)? {
        let key = path.lowercased()
        // The client's text is only compared with names that exist. It never reaches the file system.
        guard let (name, url) = found().first(where: { $0.name.path.lowercased() == key }),
            let identity = FileVersion(path: url.path)
        else {
            entries[key] = nil
            return nil
        }
        if let known = entries[key], known.identity == identity { return (name, known.locator) }
        let locator = try await Locator.open(url)
        entries[key] = Entry(locator: locator, identity: identity)
        return (name, locator)
    }

    private func found() -> [(name: ServiceName, url: URL)] {
        guard let folder else { return [] }
        var found = files(in: folder).map { (name: ServiceName(name: Self.name($0)), url: $0) }
        for inner in contents(of: folder) where inner.hasDirectoryPath {
            found += files(in: inner).map {
                (name: ServiceName(folder: inner.lastPathComponent, name: Self.name($0)), url: $0)
            }
        }
        return found.sorted { $0.name.path.lowercased() < $1.name.path.lowercased() }
    }

    private func files(in folder: URL) -> [URL] {
        contents(of: folder).filter { $0.pathExtension == LocatorFile.pathExtension && !$0.hasDirectoryPath }
    }

    private static func name(_ url: URL) -> String { url.deletingPathExtension().lastPathComponent }

    private func contents(of folder: URL) -> [URL] {
        (try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: [.isDirectoryKey], options: [.skipsHiddenFiles])) ?? []
    }
}
