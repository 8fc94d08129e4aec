import Fieldwork
import Foundation

extension AreaShelf {
    private static let basemapName = "basemap-"

    /// The layers of tiles that are to come along with an area, by their order from below.
    struct BasemapWish: Codable, Sendable, Hashable {
        struct Layer: Codable, Sendable, Hashable {
            var service: URL
            var isVector: Bool
            /// Whether it lies over the features.
            var isReference: Bool
            /// The area's own file: what comes from the service, until its tiles are in the file of all areas. Versions before 0.6 left it
            /// there.
            var file: String
            /// nil while it is not known which tiles there are, and in areas that an earlier version took.
            var tiles: Tiles?
        }

        /// Where an area's tiles are among those of all areas.
        struct Tiles: Codable, Sendable, Hashable {
            var file: String
            /// Whether tiles of other areas make up the rest of what comes.
            var isPart: Bool
            /// Bytes of the tiles; nil until all are here.
            var bytes: Int64?
        }

        var layers: [Layer]
        /// Those that have come or can't come.
        var settled: [String] = []

        /// Changes a layer.
        mutating func change(_ file: String, _ change: (inout Layer) -> Void) {
            for index in layers.indices where layers[index].file == file { change(&layers[index]) }
        }

        var isSettled: Bool { layers.allSatisfy { settled.contains($0.file) } }
    }

    private func basemapWishFile(_ id: UUID) -> URL { folder(id).appending(path: "basemap.json") }

    func basemapFile(_ layer: BasemapWish.Layer, of id: UUID) -> URL {
        folder(id).appending(path: layer.file, directoryHint: .notDirectory)
    }

    func basemapWish(_ id: UUID) -> BasemapWish? {
        (try? Data(contentsOf: basemapWishFile(id))).flatMap { try? JSONDecoder().decode(BasemapWish.self, from: $0) }
    }

    func setBasemapWish(_ wish: BasemapWish, of id: UUID) throws {
        try SafeFile.write(JSONEncoder().encode(wish), to: basemapWishFile(id))
    }

    /// The file with the tiles of an area's layer; nil while they aren't here.
    private func tiles(_ layer: BasemapWish.Layer, of id: UUID) -> URL? {
        let file = layer.tiles.map { tiles.url($0.file) } ?? basemapFile(layer, of: id)
        let isHere = layer.tiles.map { $0.bytes != nil } ?? true
        return isHere && FileManager.default.fileExists(atPath: file.path) ? file : nil
    }

    /// The layers of the basemap that was taken along with an area, or with what it was extended by.
    private func basemapLayers(_ id: UUID) -> [(layer: BasemapWish.Layer, file: URL)] {
        for holder in [area(id)?.holder, id].compactMap({ $0 }) {
            let here = (basemapWish(holder)?.layers ?? []).compactMap { layer in
                tiles(layer, of: holder).map { (layer: layer, file: $0) }
            }
            if !here.isEmpty { return here }
        }
        return []
    }

    /// The basemap that was taken along with an area; nil where there is none.
    func basemap(_ id: UUID) -> AreaBasemap? {
        let here = basemapLayers(id)
        guard !here.isEmpty else { return nil }
        func layers(_ isReference: Bool) -> [Layer] {
            here.filter { $0.layer.isReference == isReference }.map { layer, file in
                layer.isVector
                    ? ArcGISVectorTiledLayer(vectorTileCache: VectorTileCache(fileURL: file))
                    : ArcGISTiledLayer(tileCache: TileCache(fileURL: file))
            }
        }
        return AreaBasemap(
            basemap: Basemap(baseLayers: layers(false), referenceLayers: layers(true)),
            mark: here.map { "\($0.file.path) \($0.layer.tiles?.bytes ?? 0)" })
    }

    /// Bytes of the basemap that was taken along with an area, also of what other areas use as well.
    func basemapSize(_ id: UUID) -> Int64 {
        basemapLayers(id).reduce(0) { sum, here in
            sum + (here.layer.tiles?.bytes ?? Self.bytes(here.file))
        }
    }

    private static func bytes(_ file: URL) -> Int64 {
        ((try? FileManager.default.attributesOfItem(atPath: file.path))?[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// Takes out tiles that no area uses, and files of an area that a larger one has made needless.
    func tidyTiles() async throws {
        try await tiles.tidy { [self] id, file in
            !hasLargerBasemap(id) && basemapWish(id)?.layers.contains { $0.tiles?.file == file } == true
        }
        for area in all() where hasLargerBasemap(area.id) {
            for layer in basemapWish(area.id)?.layers ?? [] where layer.tiles == nil {
                try? FileManager.default.removeItem(at: basemapFile(layer, of: area.id))
            }
        }
    }

    /// Whether the area was extended, and the basemap of the larger one is here.
    private func hasLargerBasemap(_ id: UUID) -> Bool {
        guard let holder = area(id)?.holder, let wish = basemapWish(holder), wish.isSettled else { return false }
        return wish.layers.contains { tiles($0, of: holder) != nil }
    }

    /// Changes what is noted of an area's basemap; nothing where the area is gone.
    func changeBasemapWish(of id: UUID, _ change: (inout BasemapWish) -> Void) throws {
        guard var wish = basemapWish(id) else { return }
        change(&wish)
        try setBasemapWish(wish, of: id)
    }

    /// Whether the basemap of an area is still on its way.
    func awaitsBasemap(_ id: UUID) -> Bool { basemapWish(id)?.isSettled == false }

    /// The layers of a basemap that a service gives parts of, from below.
    static func wish(_ basemap: Basemap) -> BasemapWish {
        var layers: [BasemapWish.Layer] = []
        for (layer, isReference) in BasemapShelf.layers(basemap) {
            let number = layers.count + 1
            switch layer {
            case let layer as ArcGISVectorTiledLayer:
                guard let url = layer.url else { continue }
                layers.append(
                    .init(
                        service: url, isVector: true, isReference: isReference,
                        file: "\(basemapName)\(number).vtpk"))
            case let layer as ArcGISTiledLayer:
                guard let url = layer.url else { continue }
                layers.append(
                    .init(
                        service: url, isVector: false, isReference: isReference,
                        file: "\(basemapName)\(number).tpkx"))
            default: continue
            }
        }
        return BasemapWish(layers: layers)
    }
}

/// What a map is drawn over in an area.
struct AreaBasemap: Sendable {
    let basemap: Basemap
    /// Another one when other tiles have come.
    let mark: [String]
}
