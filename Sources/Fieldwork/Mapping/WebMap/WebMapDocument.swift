package import Foundation
import FieldworkREST

/// A web map's document as it lies somewhere: in a file, or behind an address.
package struct WebMapDocument: Sendable {
    /// What the map is called where it lies; nil where nobody says.
    package let title: String?
    package let json: Data

    /// - Parameter json: a document that was read before.
    package init(title: String?, json: Data) {
        self.title = title
        self.json = json
    }

    /// Reads a document of this device or of a server. The address of an item's data, `…/items/ID/data`, also gives the
    /// item's title. Throws `CommonError.notFound` for a file that can't be read or is too large, `ServiceError` for an
    /// address that doesn't answer.
    package static func read(_ address: URL) async throws -> WebMapDocument {
        try await read(address, client: HTTPServiceClient())
    }

    static func read(_ address: URL, client: any ServiceClient) async throws -> WebMapDocument {
        guard !address.isFileURL else { return try file(address) }
        let answer = try await client.answer(to: ServiceRequest(address, [("f", "json")]))
        return WebMapDocument(title: try await title(of: address, client: client), json: Data(answer.bytes))
    }

    private static func file(_ address: URL) throws -> WebMapDocument {
        let size = (try? address.resourceValues(forKeys: [.fileSizeKey]))?.fileSize
        guard let size, size <= Limits.webMapBytes, let json = try? Data(contentsOf: address) else {
            throw CommonError.notFound(
                details: "\(address.lastPathComponent) can't be read, or has more than \(Limits.webMapBytes) bytes.")
        }
        return WebMapDocument(title: nil, json: json)
    }

    private static func title(of address: URL, client: any ServiceClient) async throws -> String? {
        guard address.lastPathComponent == "data",
            address.deletingLastPathComponent().deletingLastPathComponent().lastPathComponent == "items"
        else { return nil }
        let item = ServiceRequest(address.deletingLastPathComponent(), [("f", "json")])
        let answer = try await client.answer(to: item)
        return (try? JSONParser.parse(answer.bytes))?["title"]?.stringValue
    }

    /// The map of the document, whose services keep their unsent edits and cached features in folders of the caller.
    /// - Parameters:
    ///   - directory: holds one folder a service.
    ///   - folderName: names the folder of a service by the address of its root.
    package func map(keptIn directory: URL, folderName: @escaping @Sendable (URL) -> String) throws -> Map {
        try Map.fromJSON(
            json,
            environment: ServiceEnvironment(
                directory: directory, client: HTTPServiceClient(), folderNameOfService: folderName))
    }

    /// The map of the document over what was taken along: its layers show the rows of geodatabases in place of the
    /// services'. Layers of other services, and those that were not taken along, are not shown.
    /// - Parameter taken: geodatabases that are loaded, each with the address under which the document names its service.
    package func map(over taken: [(geodatabase: Geodatabase, service: URL)]) throws -> Map {
        var files = OfflineFiles()
        for (geodatabase, service) in taken { files.add(geodatabase, inPlaceOf: service) }
        return try Map.fromJSON(json, environment: .standard, offline: OfflineTables(files))
    }
}
