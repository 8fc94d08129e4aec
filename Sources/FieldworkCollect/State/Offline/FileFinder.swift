import Fieldwork
import Foundation

/// A GeoPackage that could be opened, as a list shows it.
struct FoundFile: Sendable {
    let path: String
    let bytes: Int64
    let changed: Date
    let summary: GeodatabaseSummary
}

/// Looks for GeoPackages where people keep files: at the top of a few folders, never deeper.
struct FileFinder: Sendable {
    /// The app's own folder of data, the user's folder, documents, downloads.
    static func usualFolders(dataDirectory: URL) -> [URL] {
        let manager = FileManager.default
        let home = manager.homeDirectoryForCurrentUser
        // Systems in other languages name these folders otherwise.
        let named =
            manager.urls(for: .documentDirectory, in: .userDomainMask)
            + manager.urls(for: .downloadsDirectory, in: .userDomainMask)
        return [dataDirectory, home] + named + [home.appending(path: "Documents"), home.appending(path: "Downloads")]
    }

    let folders: [URL]

    private struct Candidate {
        let path: String
        let bytes: Int64
        let changed: Date
    }

    /// The newest first. What is no GeoPackage, or can't be read, isn't among them.
    func files() async -> [FoundFile] {
        var found: [FoundFile] = []
        for candidate in candidates().prefix(Limits.foundFiles) {
            guard let summary = try? await GeodatabaseSummary.read(URL(filePath: candidate.path)),
                !summary.layers.isEmpty
            else { continue }
            found.append(
                FoundFile(
                    path: candidate.path, bytes: candidate.bytes, changed: candidate.changed, summary: summary))
        }
        return found
    }

    private func candidates() -> [Candidate] {
        var byPath: [String: Candidate] = [:]
        for folder in folders {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            for name in names where name.lowercased().hasSuffix(".gpkg") && !name.hasPrefix(".") {
                guard let path = try? HeldFile.canonical(folder.appending(path: name).path), byPath[path] == nil,
                    let attributes = try? FileManager.default.attributesOfItem(atPath: path),
                    let bytes = attributes[.size] as? NSNumber, let changed = attributes[.modificationDate] as? Date
                else { continue }
                byPath[path] = Candidate(path: path, bytes: bytes.int64Value, changed: changed)
            }
        }
        return byPath.values.sorted { ($0.changed, $0.path) > ($1.changed, $1.path) }
    }
}
