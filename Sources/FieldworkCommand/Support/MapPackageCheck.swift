import Fieldwork
import FieldworkStore
import Foundation

/// Looks for damage in a map package.
struct MapPackageCheck: Sendable {
    let url: URL

    init(_ url: URL) { self.url = url }

    /// Folders and zip files are packages, or nothing that can be checked.
    static func isPackage(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else { return false }
        return isFolder.boolValue || isZip(url)
    }

    private static func isZip(_ url: URL) -> Bool {
        guard let handle = try? FileHandle(forReadingFrom: url) else { return false }
        defer { try? handle.close() }
        return (try? handle.read(upToCount: 4)) == Data([0x50, 0x4B, 3, 4])
    }

    func findings() async throws -> [String] {
        var found: [String]
        do {
            found = try MobileMapPackage.damage(fileURL: url)
        } catch let error as CommonError {
            return [error.details]
        }
        // The files within a zip file are what their checksums say.
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted() else { return found }
        for name in names where name.hasSuffix(".gpkg") {
            found += await FileCheck(url.appending(path: name)).findings().map { "\(name): \($0)" }
        }
        return found
    }
}
