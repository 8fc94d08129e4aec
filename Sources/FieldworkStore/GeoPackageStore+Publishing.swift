package import FieldworkREST
package import Foundation

/// Services that are served no longer. Their files are never moved or deleted: a server may have them open, and SQLite
/// finds the log of a file by the file's name.
extension GeoPackageStore {
    static let unpublishedSuffix = ".unpublished"

    /// Takes a service from those that are served. A link to a file elsewhere is removed; a file in the folder gets a mark
    /// beside it. Throws `StoreError.serviceNotFound`.
    /// - Returns: where the file of a service lies that was published in place.
    package func unpublish(_ name: ServiceName) async throws -> URL? {
        guard try await serviceNames().contains(name) else {
            let isMarked = (try? Self.isUnpublished(name, in: folder)) == true
            throw StoreError(
                .serviceNotFound,
                isMarked ? "\(name.path) is unpublished already." : "There is no service \(name.path).")
        }
        let place = try url(of: name)
        if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: place.path) {
            try FileManager.default.removeItem(at: place)
            return URL(filePath: target)
        }
        try Data().write(to: Self.mark(of: place), options: .withoutOverwriting)
        return nil
    }

    /// Serves again what `unpublish` marked. Throws `StoreError.serviceNotFound`.
    package func restore(_ name: ServiceName) async throws {
        let mark = Self.mark(of: try url(of: name))
        guard FileManager.default.fileExists(atPath: mark.path) else {
            throw StoreError(.serviceNotFound, "There is no unpublished service \(name.path).")
        }
        try FileManager.default.removeItem(at: mark)
    }

    /// Whether a service of that name is in the folder, and not served. Throws `StoreError.invalidDefinition` for a name
    /// that no service can have.
    package static func isUnpublished(_ name: ServiceName, in folder: URL) throws -> Bool {
        let place = try place(of: name, in: folder)
        return [place, mark(of: place)].allSatisfy { FileManager.default.fileExists(atPath: $0.path) }
    }

    private static func mark(of place: URL) -> URL {
        place.deletingLastPathComponent()
            .appending(path: place.lastPathComponent + unpublishedSuffix, directoryHint: .notDirectory)
    }
}
