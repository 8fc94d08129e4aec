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

    /// The catalogue that an address names: that of a server without more, or one that ends in
    /// `rest/services`. nil for the address of a map.
    static func root(of url: URL) -> URL? {
        guard ["http", "https"].contains(url.scheme?.lowercased() ?? ""), url.host()?.isEmpty == false else {
            return nil
        }
        guard var bare = URLComponents(url: url, resolvingAgainstBaseURL: false) else { return nil }
        (bare.query, bare.fragment) = (nil, nil)
        let parts = url.pathComponents.filter { $0 != "/" }
        if parts.isEmpty {
            bare.path = "/arcgis/rest/services"
        } else if parts.suffix(2) == ["rest", "services"] {
            bare.path = "/" + parts.joined(separator: "/")
        } else {
            return nil
        }
        return bare.url
    }

    /// `…/rest/services/Trees/FeatureServer` is called Trees.
    static func name(of url: URL) -> String {
        let parts = url.pathComponents
        if let index = parts.lastIndex(of: "FeatureServer"), index > 0 { return parts[index - 1] }
        return url.lastPathComponent
    }
}
