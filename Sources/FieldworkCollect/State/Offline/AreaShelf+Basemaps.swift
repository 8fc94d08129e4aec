import Fieldwork
import Foundation

extension AreaShelf {
    private static let basemapName = "basemap-"

    /// The name of a layer's package in an area's folder.
    static func basemapFileName(_ number: Int, _ ending: String) -> String { "\(basemapName)\(number).\(ending)" }

    /// The layers of tiles that are to come along with an area, by their order from below.
    struct BasemapWish: Codable, Sendable, Hashable {
        struct Layer: Codable, Sendable, Hashable {
            var service: URL
            var isVector: Bool
            /// Whether it lies over the features.
            var isReference: Bool
            /// The downloaded package in the area's folder. It is deleted once its tiles are in the shared file; earlier versions kept it.
            var file: String
            /// nil while it is not known which tiles there are, and in areas that an earlier version took.
            var tiles: Tiles?
        }

        /// Where an area's tiles are among those of all areas.
        struct Tiles: Codable, Sendable, Hashable {
            var file: String
            /// Whether only a part is downloaded, because other areas have the rest.
            var isPart: Bool
            /// Bytes of the tiles; nil until all are here.
            var bytes: Int64?
        }

        /// A layer with newer tiles, on its way. It takes the place of the one that is here once all of its tiles are.
        struct Renewal: Codable, Sendable, Hashable {
            /// The file of the layer that is here.
            var replaces: String
            var layer: Layer
        }

        /// What the services were found to have newer.
        struct Newer: Codable, Sendable, Hashable {
            /// The files of the layers.
            var files: [String]
            /// About how much would come; nil where that isn't told.
            var bytes: Int64?
        }

        var layers: [Layer]
        /// Whose tiles they are: what an area held when it was taken, whatever it is extended to later. West, south, east and north in metres
        /// of the plane; nil in areas that an earlier version took.
        var edges: [Double]?
        /// Those that have come or can't come.
        var settled: [String] = []
        /// nil for none.
        var renewals: [Renewal]?
        /// nil for nothing that is known to be newer.
        var newer: Newer?

        /// Those that are here or on their way, also those that are to take the place of others.
        var all: [Layer] { layers + (renewals ?? []).map(\.layer) }

        /// Changes a layer.
        mutating func change(_ file: String, _ change: (inout Layer) -> Void) {
            for index in layers.indices where layers[index].file == file { change(&layers[index]) }
            for index in renewals?.indices ?? 0..<0 where renewals?[index].layer.file == file {
                if var layer = renewals?[index].layer {
                    change(&layer)
                    renewals?[index].layer = layer
                }
            }
        }

        var isSettled: Bool { all.allSatisfy { settled.contains($0.file) } }
        /// Whether newer tiles are on their way.
        var isRenewing: Bool { renewals?.isEmpty == false }

        func isRenewal(_ file: String) -> Bool { renewals?.contains { $0.layer.file == file } == true }
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

    /// The layers of a basemap that are here in a folder.
    private func basemapLayers(in id: UUID) -> [(layer: BasemapWish.Layer, file: URL)] {
        (basemapWish(id)?.layers ?? []).compactMap { layer in
            tiles(layer, of: id).map { (layer: layer, file: $0) }
        }
    }

    /// The layers of the basemap that an area has: of the newest of its stages whose basemap is here.
    private func basemapLayers(_ id: UUID) -> [(layer: BasemapWish.Layer, file: URL)] {
        stages(of: id).lazy.map { basemapLayers(in: $0) }.first { !$0.isEmpty } ?? []
    }

    /// The stage whose basemap an area has; nil where there is none.
    func basemapStage(of id: UUID) -> UUID? { stages(of: id).first { !basemapLayers(in: $0).isEmpty } }

    /// Whether a stage of an area is of no use any more for its basemap: that of a later one is here.
    func isBasemapOutdone(_ id: UUID) -> Bool {
        let stages = stages(of: area(id)?.extends ?? id)
        guard let index = stages.firstIndex(of: id) else { return false }
        return stages[..<index].contains { basemapWish($0)?.isSettled == true && !basemapLayers(in: $0).isEmpty }
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
            basemapWish(id)?.all.contains { $0.tiles?.file == file } == true && !isBasemapOutdone(id)
        }
        for area in all() where isBasemapOutdone(area.id) { dropBasemap(of: area.id) }
    }

    /// Takes away what an area's folder has of a basemap, whole or on its way.
    func dropBasemap(of id: UUID) {
        try? FileManager.default.removeItem(at: basemapWishFile(id))
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder(id).path)) ?? []
        for file in files where file.hasPrefix(Self.basemapName) {
            try? FileManager.default.removeItem(at: folder(id).appending(path: file))
        }
    }

    /// Changes what is noted of an area's basemap; nothing where the area is gone.
    func changeBasemapWish(of id: UUID, _ change: (inout BasemapWish) -> Void) throws {
        guard var wish = basemapWish(id) else { return }
        change(&wish)
        try setBasemapWish(wish, of: id)
    }

    /// Where an area's own tiles lie: where it was when it was taken.
    func basemapExtent(of area: OfflineArea) -> Envelope {
        guard let edges = basemapWish(area.id)?.edges, edges.count == 4 else { return area.extent }
        return Envelope(
            xMin: edges[0], yMin: edges[1], xMax: edges[2], yMax: edges[3], spatialReference: .webMercator)
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
                        file: basemapFileName(number, "vtpk")))
            case let layer as ArcGISTiledLayer:
                guard let url = layer.url else { continue }
                layers.append(
                    .init(
                        service: url, isVector: false, isReference: isReference,
                        file: basemapFileName(number, "tpkx")))
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
