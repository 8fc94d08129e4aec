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
    /// - Parameter type: the kind of services, as addresses spell it.
    package static func services(of root: URL, type: String = "FeatureServer") async throws -> [Entry] {
        try await services(of: root, type: type, client: HTTPServiceClient())
    }

    static func services(
        of root: URL, type: String = "FeatureServer", client: any ServiceClient
    ) async throws -> [Entry] {
        let catalogue = try await json(root, client: client)
        var entries = Self.entries(in: catalogue, type, root: root)
        for folder in (catalogue["folders"]?.arrayValue ?? []).compactMap(\.stringValue).prefix(Limits.catalogueFolders)
        {
            entries += Self.entries(
                in: try await json(root.appending(path: folder), client: client), type, root: root)
        }
        return entries
    }

    private static func entries(in catalogue: JSONValue, _ type: String, root: URL) -> [Entry] {
        (catalogue["services"]?.arrayValue ?? []).compactMap { service in
            guard service["type"]?.stringValue == type, let name = service["name"]?.stringValue else {
                return nil
            }
            return Entry(name: name, url: root.appending(path: name).appending(path: type))
        }
    }

    static func json(_ url: URL, client: any ServiceClient) async throws -> JSONValue {
        let answer = try await client.answer(to: ServiceRequest(url, [("f", "json")]))
        do {
            return try JSONParser.parse(answer.bytes)
        } catch {
            throw ServiceError.unknown(details: "The catalogue at \(Redaction.address(url)) is not JSON.")
        }
    }
}
