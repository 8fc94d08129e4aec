import Fieldwork
import FieldworkStore
import Foundation

/// Looks for damage in a map package.
struct MapPackageCheck: Sendable {
    let url: URL

    init(_ url: URL) { self.url = url }

    /// Folders are packages, or nothing that can be checked.
    static func isPackage(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }

    func findings() async throws -> [String] {
        var found: [String]
        do {
            found = try MobileMapPackage.damage(fileURL: url)
        } catch let error as CommonError {
            return [error.details]
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
        for name in names where name.hasSuffix(".gpkg") {
            found += await FileCheck(url.appending(path: name)).findings().map { "\(name): \($0)" }
        }
        return found
    }
}
