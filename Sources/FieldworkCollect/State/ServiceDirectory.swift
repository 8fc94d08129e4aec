import Fieldwork
import Foundation

/// The maps that the first page offers: feature services, and web maps of this device.
struct ServiceDirectory: Sendable {
    struct Entry: Sendable, Hashable {
        /// The service's name, also of a web map that stands in its place.
        let name: String
        let url: URL
        /// nil: made of the name.
        var title: String?
        /// A sentence of what the map is for; nil where nothing says so.
        var about: String?
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

    /// The catalogue that lists a service: what stands up to `rest/services`; nil for an address of another form.
    static func catalogue(of service: URL) -> URL? {
        var url = service
        while url.lastPathComponent != "services", url.pathComponents.count > 2 { url.deleteLastPathComponent() }
        return root(of: url)
    }

    /// `…/rest/services/Trees/FeatureServer` is called Trees.
    static func name(of url: URL) -> String {
        let parts = url.pathComponents
        if let index = parts.lastIndex(of: "FeatureServer"), index > 0 { return parts[index - 1] }
        return url.lastPathComponent
    }
}
