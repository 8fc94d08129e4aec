import Fieldwork
import Foundation

/// The basemaps that can lie under a map: that of its author, those of its server, and packages in a folder of this device.
actor BasemapShelf {
    struct Offer: Sendable {
        /// Names it in addresses and in what this device keeps.
        let key: String
        let name: String
        let basemap: Basemap
        /// Another one when the tiles of an area are others; empty for what stays the same.
        var mark: [String] = []

        /// Another one where the mark is another.
        var version: String { BasemapShelf.version(mark) }
    }

    /// Names what lies under the map, for a page that draws it: the choice, and which tiles an offline area has.
    /// - Parameter choice: nil where nothing was chosen.
    nonisolated func drawn(_ choice: String?) -> String {
        "\(choice ?? "") \(Self.version(ownBasemap()?.mark ?? []))"
    }

    /// A mark for addresses and pages, which say nothing of the folders of this device.
    private static func version(_ mark: [String]) -> String { StableHash.hex(mark.joined(separator: " ")) }

    /// Nothing lies under the map.
    static let none = "none"
    private static let authored = "map"
    private static let taken = "area"

    private let webMap: Basemap?
    private let root: URL?
    private let folder: URL
    private nonisolated let ownBasemap: @Sendable () -> AreaBasemap?
    private var known: (offers: [Offer], date: Date)?
    /// When the basemap of the offline area was looked up last.
    private var lookedAtOwn = Date.distantPast

    /// - Parameters:
    ///   - root: the catalogue of the server; nil for none.
    ///   - folder: packages of tiles.
    ///   - ownBasemap: what came along with an offline area, once it is here.
    init(webMap: Basemap?, root: URL?, folder: URL, ownBasemap: @escaping @Sendable () -> AreaBasemap? = { nil }) {
        self.ownBasemap = ownBasemap
        self.webMap = webMap
        self.root = root
        self.folder = folder
    }

    /// What there is now: the author's first. A server that doesn't answer offers nothing.
    func offers() async -> [Offer] {
        let isFresh = known.map { Date().timeIntervalSince($0.date) < Limits.basemapSeconds } ?? false
        // Each tile of a map asks. One that has not come yet is looked for each time.
        if isFresh, let known, known.offers.contains(where: { $0.key == Self.taken }),
            Date().timeIntervalSince(lookedAtOwn) < Limits.ownBasemapSeconds
        {
            return known.offers
        }
        let own = ownBasemap()
        lookedAtOwn = Date()
        if isFresh, let known, known.offers.first(where: { $0.key == Self.taken })?.mark == own?.mark {
            return known.offers
        }
        var offers: [Offer] = []
        if let own {
            offers.append(Offer(key: Self.taken, name: "Taken along", basemap: own.basemap, mark: own.mark))
        }
        if let webMap, (webMap.baseLayers + webMap.referenceLayers).contains(where: Self.isDrawn) {
            offers.append(
                Offer(key: Self.authored, name: webMap.name.isEmpty ? "The map's own" : webMap.name, basemap: webMap))
        }
        offers += packages()
        if let root {
            let listed = (try? await Basemap.basemaps(ofServer: root)) ?? []
            offers += listed.prefix(Limits.basemaps).map { Offer(key: "s-\($0.name)", name: $0.name, basemap: $0) }
        }
        // Objects that are loaded stay: only what is new is made anew.
        let before = Dictionary((known?.offers ?? []).map { ($0.key, $0) }) { first, _ in first }
        offers = offers.map { offer in before[offer.key].flatMap { $0.mark == offer.mark ? $0 : nil } ?? offer }
        known = (offers, Date())
        return offers
    }

    private func packages() -> [Offer] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.sorted().prefix(Limits.basemaps).compactMap { file in
            let url = folder.appending(path: file, directoryHint: .notDirectory)
            guard ["vtpk", "tpkx", "mbtiles", "pmtiles"].contains(url.pathExtension.lowercased()) else { return nil }
            // Some kinds of files hold either: the layer that the file is not for does not load, and is not drawn.
            let layers: [Layer] = [
                ArcGISTiledLayer(tileCache: TileCache(fileURL: url)),
                ArcGISVectorTiledLayer(vectorTileCache: VectorTileCache(fileURL: url)),
            ]
            let name = url.deletingPathExtension().lastPathComponent
            return Offer(key: "f-\(file)", name: name, basemap: Basemap(baseLayers: layers, referenceLayers: []))
        }
    }

    /// The basemap that was chosen, else the author's, else the first that there is.
    /// - Parameter choice: nil where nothing was chosen.
    func chosen(_ choice: String?) async -> Offer? {
        guard choice != Self.none else { return nil }
        let offers = await offers()
        return offers.first { $0.key == choice } ?? offers.first
    }

    func offer(_ key: String) async -> Offer? { await offers().first { $0.key == key } }

    /// Bottom to top, those over the map's own layers last.
    static func layers(_ basemap: Basemap) -> [(layer: Layer, isReference: Bool)] {
        (basemap.baseLayers.map { ($0, false) } + basemap.referenceLayers.map { ($0, true) }).filter { isDrawn($0.0) }
    }

    private static func isDrawn(_ layer: Layer) -> Bool {
        layer.isVisible && (layer is ArcGISVectorTiledLayer || layer is ImageTiledLayer)
    }
}
