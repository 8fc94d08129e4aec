package import Foundation

/// How locator files are called. A locator is a GeoPackage; an ending of its own keeps it from being taken for a service.
package enum LocatorFile {
    package static let pathExtension = "locator"

    /// Where the locator of a name lies in a folder of services.
    package static func url(name: String, folder: String? = nil, in data: URL) -> URL {
        let parent = folder.map { data.appending(path: $0, directoryHint: .isDirectory) } ?? data
        return parent.appending(path: "\(name).\(pathExtension)", directoryHint: .notDirectory)
    }

    /// Whether a name can be a locator's: it becomes a file's name and part of an address.
    package static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.count <= 120 && name.first?.isLetter == true
            && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
    }
}
