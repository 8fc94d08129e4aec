import Fieldwork
import Foundation

/// The feature services that the first page offers.
struct ServiceDirectory: Sendable {
    struct Entry: Sendable, Hashable {
        let name: String
        let url: URL
    }

    static func list(_ root: URL) async throws -> [Entry] {
        try await FeatureServiceDirectory.services(of: root).map { Entry(name: $0.name, url: $0.url) }
    }

    /// `…/rest/services/Trees/FeatureServer` is called Trees.
    static func name(of url: URL) -> String {
        let parts = url.pathComponents
        if let index = parts.lastIndex(of: "FeatureServer"), index > 0 { return parts[index - 1] }
        return url.lastPathComponent
    }
}
