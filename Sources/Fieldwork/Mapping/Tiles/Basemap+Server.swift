public import Foundation

extension Basemap {
    /// The basemaps of a server, in its order: services of ready tiles. A service of features stands under the same faces, and is
    /// none. Not part of the vendor's API.
    /// - Parameter root: the server's catalogue, `…/rest/services`.
    /// - Throws: `ServiceError`.
    public static func basemaps(ofServer root: URL) async throws -> [Basemap] {
        let catalogue = try await FeatureServiceDirectory.json(root, client: HTTPServiceClient())
        let services = (catalogue["services"]?.arrayValue ?? []).compactMap { service in
            service["name"]?.stringValue.flatMap { name in service["type"]?.stringValue.map { (name, $0) } }
        }
        let features = Set(services.filter { $0.1 == "FeatureServer" }.map(\.0))
        return services.compactMap { name, type in
            guard !features.contains(name) else { return nil }
            let url = root.appending(path: name).appending(path: type)
            let layer: Layer
            switch type {
            case "VectorTileServer": layer = ArcGISVectorTiledLayer(url: url)
            case "MapServer": layer = ArcGISTiledLayer(url: url)
            default: return nil
            }
            let basemap = Basemap(baseLayer: layer)
            basemap.name = name
            return basemap
        }
    }
}
