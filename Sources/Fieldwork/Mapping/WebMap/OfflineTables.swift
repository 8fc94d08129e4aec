import Foundation

/// Files of this device in place of the services of a web map.
struct OfflineFiles {
    fileprivate var geodatabases: [(root: URL, geodatabase: Geodatabase)] = []
    private var tiles: [String: (file: FileSection, isVector: Bool)] = [:]

    /// - Parameters:
    ///   - geodatabase: loaded.
    ///   - service: where the web map says that the rows are.
    mutating func add(_ geodatabase: Geodatabase, inPlaceOf service: URL) {
        geodatabases.append((ServiceGeodatabase.serviceRoot(of: service), geodatabase))
    }

    /// - Parameter addresses: those of the layer in the web map.
    mutating func add(_ file: FileSection, isVector: Bool, inPlaceOf addresses: [String]) {
        for address in addresses { tiles[address] = (file, isVector) }
    }

    /// The layer of tiles in place of that of an address; nil for one that was not taken along.
    func layer(_ url: URL) -> Layer? {
        tiles[url.absoluteString].map { Self.layer($0.file, isVector: $0.isVector) }
    }

    static func layer(_ file: FileSection, isVector: Bool) -> Layer {
        isVector
            ? ArcGISVectorTiledLayer(vectorTileCache: VectorTileCache(file))
            : ArcGISTiledLayer(tileCache: TileCache(file))
    }
}

/// The tables of geodatabases in place of those of the services that they were taken from. One that a web map shows twice is two
/// tables over the same rows: each has its own pop-up and form.
final class OfflineTables {
    private let files: OfflineFiles
    private var shown: Set<String> = []

    init(_ files: OfflineFiles) { self.files = files }

    /// The table of a layer's address; nil for what no geodatabase holds.
    func table(_ url: URL) -> ArcGISFeatureTable? {
        let root = ServiceGeodatabase.serviceRoot(of: url)
        guard let geodatabase = files.geodatabases.first(where: { $0.root == root })?.geodatabase,
            let id = Int(url.lastPathComponent), let table = geodatabase.featureTable(withServiceLayerID: id)
        else { return nil }
        // Related tables are found by the first.
        return shown.insert(url.absoluteString).inserted ? table : GeodatabaseFeatureTable(copying: table)
    }

    /// The layer of tiles in place of that of an address; nil for one that was not taken along.
    func layer(_ url: URL) -> Layer? { files.layer(url) }
}
