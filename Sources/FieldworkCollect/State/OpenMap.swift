import Fieldwork
import Foundation
import Synchronization

/// A feature service that is open as a map: its tables, how they are drawn, its edits on their way to the server.
final class OpenMap: Sendable {
    let address: MapAddress
    let title: String
    let geodatabase: ServiceGeodatabase
    /// Bottom to top, as they are drawn.
    let layers: [MapLayer]
    let tables: [MapLayer]
    let journal: EditJournal
    let outbox: Outbox
    let tiles: TileMaker
    /// The whole extent in degrees: west, south, east, north.
    let whole: [Double]?
    private let remembered = Mutex(RememberedFeatures())

    private init(
        address: MapAddress, title: String, geodatabase: ServiceGeodatabase, layers: [MapLayer], tables: [MapLayer],
        journal: EditJournal, outbox: Outbox, whole: [Double]?
    ) {
        self.address = address
        self.title = title
        self.geodatabase = geodatabase
        self.layers = layers
        self.tables = tables
        self.journal = journal
        self.outbox = outbox
        self.whole = whole
        tiles = TileMaker(layers: layers)
    }

    var url: URL { address.url }
    /// Under this name the device keeps what belongs to the map.
    var key: String { address.key }

    static func open(_ address: MapAddress, dataDirectory: URL) async throws -> OpenMap {
        let url = address.url
        let geodatabase = ServiceGeodatabase(
            url: url, keptAt: dataDirectory.appending(path: "services").appending(path: address.folderName))
        try await geodatabase.load()
        guard let info = geodatabase.serviceInfo else {
            throw CollectError(.notAFeatureService, "\(url.absoluteString) tells nothing about its layers.")
        }
        var layers: [MapLayer] = []
        for layerInfo in info.layerInfos {
            if let layer = try await MapLayer.load(layerInfo.id, from: geodatabase) { layers.append(layer) }
        }
        var tables: [MapLayer] = []
        for tableInfo in info.tableInfos {
            if let table = try await MapLayer.load(tableInfo.id, from: geodatabase) { tables.append(table) }
        }
        guard !layers.isEmpty || !tables.isEmpty else {
            throw CollectError(.notAFeatureService, "\(url.absoluteString) has no layers.")
        }
        let name = ServiceDirectory.name(of: url)
        let folder = dataDirectory.appendingPathComponent("maps/\(address.folderName)", isDirectory: true)
        let journal = try EditJournal(file: folder.appendingPathComponent("edits.jsonl"))
        let outbox = Outbox(geodatabase: geodatabase, journal: journal)
        return OpenMap(
            address: address, title: title(of: name), geodatabase: geodatabase,
            layers: layers.reversed(), tables: tables, journal: journal, outbox: outbox, whole: extent(of: layers))
    }

    func layer(_ id: Int) -> MapLayer? { layers.first { $0.id == id } ?? tables.first { $0.id == id } }

    /// Topmost first, then tables: as lists show them.
    var listed: [MapLayer] { layers.reversed() + tables }

    func remember(_ feature: Feature, as reference: FeatureReference) {
        remembered.withLock { $0.put(feature, for: reference) }
    }

    func rememberedFeature(_ reference: FeatureReference) -> Feature? {
        remembered.withLock { $0.feature(reference) }
    }

    func forget(_ reference: FeatureReference) {
        remembered.withLock { $0.remove(reference) }
    }

    private static let smallWords: Set<String> = ["of", "the", "and", "in", "on", "at", "by", "for", "to"]

    /// "TreesOfPortland" reads "Trees of Portland"; names with spaces stay as they are.
    static func title(of name: String) -> String {
        guard !name.contains(" ") else { return name }
        var words: [String] = []
        for character in name {
            if character == "_" {
                words.append("")
            } else if character.isUppercase, words.last?.last?.isLowercase ?? true {
                words.append(String(character))
            } else {
                words.isEmpty ? words.append(String(character)) : words[words.count - 1].append(character)
            }
        }
        return words.filter { !$0.isEmpty }.enumerated().map { index, word in
            index > 0 && smallWords.contains(word.lowercased()) ? word.lowercased() : word
        }.joined(separator: " ")
    }

    private static func extent(of layers: [MapLayer]) -> [Double]? {
        var whole: (xMin: Double, yMin: Double, xMax: Double, yMax: Double)?
        for layer in layers {
            guard let extent = layer.table.extent, !extent.isEmpty,
                let projected = GeometryEngine.project(extent, into: .webMercator)
            else { continue }
            let box = (projected.xMin, projected.yMin, projected.xMax, projected.yMax)
            whole =
                whole.map {
                    (min($0.xMin, box.0), min($0.yMin, box.1), max($0.xMax, box.2), max($0.yMax, box.3))
                } ?? box
        }
        guard let whole else { return nil }
        let corners = [
            WebMercator.longitude(x: whole.xMin), WebMercator.latitude(y: whole.yMin),
            WebMercator.longitude(x: whole.xMax), WebMercator.latitude(y: whole.yMax),
        ]
        return corners.allSatisfy(\.isFinite) ? corners : nil
    }
}

/// The features shown lately, by their address: the object that the SDK handed out is the one that is edited.
private struct RememberedFeatures {
    private var features: [FeatureReference: Feature] = [:]
    private var order: [FeatureReference] = []

    mutating func put(_ feature: Feature, for reference: FeatureReference) {
        if features.updateValue(feature, forKey: reference) == nil {
            order.append(reference)
            if order.count > Limits.rememberedFeatures { features[order.removeFirst()] = nil }
        }
    }

    func feature(_ reference: FeatureReference) -> Feature? { features[reference] }

    mutating func remove(_ reference: FeatureReference) {
        guard features.removeValue(forKey: reference) != nil else { return }
        order.removeAll { $0 == reference }
    }
}
