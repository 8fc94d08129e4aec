import Foundation

/// The feature services that the first page offers.
struct ServiceDirectory: Sendable {
    struct Entry: Sendable, Hashable {
        let name: String
        let url: URL
    }

    /// `…/rest/services/Trees/FeatureServer` is called Trees.
    static func name(of url: URL) -> String {
        let parts = url.pathComponents
        if let index = parts.lastIndex(of: "FeatureServer"), index > 0 { return parts[index - 1] }
        return url.lastPathComponent
    }
}

extension ServiceDirectory {
    static func list(_ root: URL) async throws -> [Entry] { [] }
}
