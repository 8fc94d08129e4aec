import Foundation

/// The tables of a geodatabase in place of those of the service that it was taken from. One that a web map shows twice is
/// two tables over the same rows: each has its own pop-up and form.
final class OfflineTables {
    private let geodatabase: Geodatabase
    private let root: URL
    private var shown: Set<Int> = []

    /// - Parameters:
    ///   - geodatabase: loaded.
    ///   - service: where the web map says that the rows are.
    init(_ geodatabase: Geodatabase, inPlaceOf service: URL) {
        self.geodatabase = geodatabase
        root = ServiceGeodatabase.serviceRoot(of: service)
    }

    /// The table of a layer's address; nil for what the geodatabase does not hold.
    func table(_ url: URL) -> ArcGISFeatureTable? {
        guard ServiceGeodatabase.serviceRoot(of: url) == root, let id = Int(url.lastPathComponent),
            let table = geodatabase.featureTable(withServiceLayerID: id)
        else { return nil }
        // Related tables are found by the first.
        return shown.insert(id).inserted ? table : GeodatabaseFeatureTable(copying: table)
    }
}
