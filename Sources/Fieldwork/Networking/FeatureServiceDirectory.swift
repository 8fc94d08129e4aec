import FieldworkGeometry
package import Foundation

/// The catalogue of a server, as far as it lists feature services.
package enum FeatureServiceDirectory {
    package struct Entry: Sendable, Hashable {
        /// With its folder, `folder/name`.
        package let name: String
        /// `…/FeatureServer`.
        package let url: URL
    }

    /// The feature services of a server and of its folders, in the server's order.
    /// - Parameter root: `…/rest/services`.
    package static func services(of root: URL) async throws -> [Entry] {
        try await services(of: root, client: HTTPServiceClient())
    }

    static func services(of root: URL, client: any ServiceClient) async throws -> [Entry] {
        let catalogue = try await json(root, client: client)
        var entries = Self.entries(in: catalogue, root: root)
        for folder in (catalogue["folders"]?.arrayValue ?? []).compactMap(\.stringValue).prefix(Limits.catalogueFolders)
        {
            entries += Self.entries(in: try await json(root.appending(path: folder), client: client), root: root)
        }
        return entries
    }

    /// A basemap of a server: ready tiles without features of a service.
    package struct BasemapEntry: Sendable, Hashable {
        package let name: String
        /// `…/VectorTileServer` or `…/MapServer`.
        package let url: URL
        package let isVector: Bool
    }

    /// The basemaps of a server, in its order. A service of features stands under these faces too, and is none.
    /// - Parameter root: `…/rest/services`.
    package static func basemaps(of root: URL) async throws -> [BasemapEntry] {
        let catalogue = try await json(root, client: HTTPServiceClient())
        let services = (catalogue["services"]?.arrayValue ?? []).compactMap { service in
            service["name"]?.stringValue.flatMap { name in service["type"]?.stringValue.map { (name, $0) } }
        }
        let features = Set(services.filter { $0.1 == "FeatureServer" }.map(\.0))
        return services.compactMap { name, type in
            guard !features.contains(name), type == "VectorTileServer" || type == "MapServer" else { return nil }
            return BasemapEntry(
                name: name, url: root.appending(path: name).appending(path: type), isVector: type == "VectorTileServer")
        }
    }

    private static func entries(in catalogue: JSONValue, root: URL) -> [Entry] {
        (catalogue["services"]?.arrayValue ?? []).compactMap { service in
            guard service["type"]?.stringValue == "FeatureServer", let name = service["name"]?.stringValue else {
                return nil
            }
            return Entry(name: name, url: root.appending(path: name).appending(path: "FeatureServer"))
        }
    }

    private static func json(_ url: URL, client: any ServiceClient) async throws -> JSONValue {
        let answer = try await client.answer(to: ServiceRequest(url, [("f", "json")]))
        do {
            return try JSONParser.parse(answer.bytes)
        } catch {
            throw ServiceError.unknown(details: "The catalogue at \(Redaction.address(url)) is not JSON.")
        }
    }
}
