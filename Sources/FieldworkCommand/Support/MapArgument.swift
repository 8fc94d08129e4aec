import Fieldwork
import Foundation

/// A map that a verb is given: a web map's document, the page of a portal's item, or a feature service whose layers it then shows.
enum MapArgument {
    static func map(_ text: String, basemap: String?) async throws -> Map {
        let map = try await self.map(text)
        guard let basemap else { return map }
        guard let url = address(basemap) else {
            throw CommandFailure(
                .noInput, "\(basemap) is not the address of a basemap: …/VectorTileServer or …/MapServer.")
        }
        let isVector = url.pathComponents.contains("VectorTileServer")
        map.basemap = Basemap(baseLayer: isVector ? ArcGISVectorTiledLayer(url: url) : ArcGISTiledLayer(url: url))
        return map
    }

    private static func map(_ text: String) async throws -> Map {
        guard let url = address(text) else {
            let file = URL(filePath: (text as NSString).expandingTildeInPath)
            guard FileManager.default.fileExists(atPath: file.path), let map = Map(url: file) else {
                throw CommandFailure(.noInput, "\(text) is no address, and there is no file of that name.")
            }
            return map
        }
        guard url.lastPathComponent == "FeatureServer" else {
            guard let map = Map(url: url) else {
                throw CommandFailure(.noInput, "\(text) is not the address of a map.")
            }
            return map
        }
        let service = ServiceGeodatabase(url: url)
        try await service.load()
        let map = Map()
        for info in service.serviceInfo?.layerInfos ?? [] {
            // The first layer of a service is the topmost.
            if let table = info.id.flatMap({ service.table(withLayerID: $0) }) {
                map.insertOperationalLayer(FeatureLayer(featureTable: table), at: 0)
            }
        }
        map.addTables(
            (service.serviceInfo?.tableInfos ?? []).compactMap { $0.id.flatMap { service.table(withLayerID: $0) } })
        return map
    }

    private static func address(_ text: String) -> URL? {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host() != nil else { return nil }
        return url
    }
}
