import FieldworkGeometry
import FieldworkREST
import FieldworkServer
import FieldworkStore
import FieldworkTiles
import Foundation
import Testing

/// A real server with a basemap of vector tiles and one of images.
struct BasemapServer {
    let running: RunningFeatureServer
    let folder: URL

    static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    static func vectorTile() -> [UInt8] {
        var layer = VectorLayer(name: "roads")
        layer.add(id: 1, kind: .point, commands: [9, 50, 34])
        var tile: [UInt8] = []
        layer.append(to: &tile)
        return tile
    }

    static func with(_ test: (BasemapServer) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-tiles-\(UUID().uuidString)")
        let basemaps = BasemapFolder(data: folder)
        try FileManager.default.createDirectory(at: basemaps.url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let tile = try #require(TileAddress(level: 2, column: 1, row: 3))
        let vector = try MBTilesWriter(path: basemaps.file("City").path, format: .vector)
        try vector.add(try GzipStream.compressed(vectorTile()), at: tile)
        try vector.finish(
            TileSetDescription(
                name: "The city", attribution: "© City", format: .vector, levels: 2...2,
                vectorLayers: [["id": "roads"]]))
        let images = try MBTilesWriter(path: basemaps.file("Air").path, format: .png)
        try images.add(png, at: tile)
        try images.finish(TileSetDescription(name: "Air", attribution: "© Air", format: .png, levels: 2...2))
        var configuration = ServerConfiguration(port: 0, definitionLifetime: .zero)
        configuration.dataFolder = folder
        let store = try await GeoPackageStore.open(at: folder.appending(path: "services"))
        let running = try await RunningFeatureServer.start(store: store, configuration: configuration)
        do {
            try await test(BasemapServer(running: running, folder: folder))
            try await running.stop()
        } catch {
            try? await running.stop()
            throw error
        }
    }

    func url(_ path: String) throws -> URL { try #require(URL(string: "\(running.servicesAddress)/\(path)")) }
    func file(_ name: String) -> URL { BasemapFolder(data: folder).file(name) }
}
