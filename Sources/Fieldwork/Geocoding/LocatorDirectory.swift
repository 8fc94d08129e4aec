package import FieldworkGeometry
import FieldworkLocator
import FieldworkREST
package import Foundation

/// The locators that belong to a server, and parts of them for the work offline.
package enum LocatorDirectory {
    /// The locators that the server's portal offers whoever asks; where it offers none, those of the server's catalogue.
    /// - Parameter root: `…/rest/services`.
    package static func locators(of root: URL) async throws -> [URL] {
        let client = HTTPServiceClient()
        if let offered = try? await helperServices(of: root, client), !offered.isEmpty { return offered }
        return try await FeatureServiceDirectory.services(of: root, type: "GeocodeServer").map(\.url)
    }

    private static func helperServices(of root: URL, _ client: HTTPServiceClient) async throws -> [URL] {
        let instance = root.deletingLastPathComponent().deletingLastPathComponent()
        let address = instance.appending(path: "sharing/rest/portals/self")
        let answer = try await client.answer(to: ServiceRequest(address, [("f", "json")]))
        return PortalInfo(try JSONParser.parse(answer.bytes).objectValue ?? JSONObject()).geocodeServiceURLs
    }

    /// Fetches the part of a locator in an area, as a locator file. Only servers of this system make such parts.
    /// - Parameter file: is there when it is whole.
    package static func takeAlong(_ locator: URL, area: Envelope, to file: URL) async throws {
        let partial = file.deletingLastPathComponent().appending(path: ".\(file.lastPathComponent).part")
        try? FileManager.default.removeItem(at: partial)
        defer { try? FileManager.default.removeItem(at: partial) }
        guard var address = URLComponents(url: locator.appending(path: "cut"), resolvingAgainstBaseURL: false) else {
            throw ServiceError.unknown(details: "\(Redaction.address(locator)) is no address.")
        }
        address.queryItems = [URLQueryItem(name: "area", value: GeoServicesJSON.json(for: area).text)]
        guard let url = address.url else {
            throw ServiceError.unknown(details: "\(Redaction.address(locator)) is no address.")
        }
        try await HTTPServiceClient().download(url, to: partial) { _, _ in }
        // The server may have sent something else: only a file that opens as a locator is kept.
        try await LocatorTask(url: partial).load()
        guard rename(partial.path, file.path) == 0 else {
            throw CommonError.io(details: "\(file.path) could not be written.")
        }
    }
}

/// Coordinates as people type them.
package enum TypedCoordinates {
    /// The place that a text names by coordinates, with the text that names it; nil for any other text.
    package static func read(_ text: String) -> (longitude: Double, latitude: Double, label: String)? {
        CoordinateText.read(text).map { ($0.x, $0.y, $0.label) }
    }
}
