import Fieldwork
import Foundation
import Synchronization

/// A map that is open: its layers and tables, how they are drawn, its edits on their way to the servers.
final class OpenMap: Sendable {
    let address: MapAddress
    let title: String
    /// The services whose features the map shows.
    let geodatabases: [ServiceGeodatabase]
    /// Bottom to top, as they are drawn.
    let layers: [MapLayer]
    let tables: [MapLayer]
    /// The layers that the map's author switched off.
    let hiddenAtFirst: Set<Int>
    /// The layers that didn't load.
    let failures: [MapContent.Failure]
    /// What follows from an edit by the author's rules.
    let rules: MapRules
    let journal: EditJournal
    /// What was typed and not saved.
    let drafts: DraftStore
    let outbox: Outbox
    let tiles: TileMaker
    let nearby = NearbyKeeper()
    /// What can lie under the layers.
    let basemaps: BasemapShelf
    /// What the features of each layer covered when the map was opened, in the map's plane; not for a layer without any.
    let extents: [Int: Envelope]
    /// The whole extent in degrees: west, south, east, north.
    let whole: [Double]?
    /// Where the map's author wants it to be looked at first; nil where nobody says.
    let viewpoint: Viewpoint?
    /// Holds what this device keeps of the map.
    let folder: URL
    /// The files of the offline area that is worked in; nil for a map of a server.
    let offline: OfflineWork?
    /// Keeps the layers of a web map, which their tables don't.
    private let webMap: Map?
    let conflictSources: ConflictSources
    private let remembered = Mutex(RememberedFeatures())
    private let lastTap = Mutex<TapMemory?>(nil)

    private init(
        address: MapAddress, content: MapContent, extents: [Int: Envelope], journal: EditJournal, drafts: DraftStore,
        folder: URL, dataDirectory: URL, ownBasemap: @escaping @Sendable () -> AreaBasemap? = { nil }
    ) {
        self.extents = extents
        self.address = address
        self.journal = journal
        self.drafts = drafts
        self.folder = folder
        conflictSources = ConflictSources(folder: dataDirectory.appending(path: "conflicts"))
        title = content.title
        geodatabases = content.geodatabases
        layers = content.layers
        tables = content.tables
        hiddenAtFirst = content.hiddenAtFirst
        failures = content.failures
        rules = content.rules
        viewpoint = content.viewpoint
        webMap = content.webMap
        offline = content.offline
        whole = content.offline?.area.edges ?? MapExtent.degrees(Array(extents.values))
        outbox = Outbox(geodatabases: geodatabases, layers: layers + tables, journal: journal, offline: content.offline)
        tiles = TileMaker(layers: layers)
        basemaps = BasemapShelf(
            webMap: content.webMap?.basemap, root: content.geodatabases.first?.url.flatMap(ServiceDirectory.catalogue),
            folder: dataDirectory.appending(path: "basemaps", directoryHint: .isDirectory), ownBasemap: ownBasemap)
    }

    var url: URL { address.url }
    /// Whether it is a file of this device that belongs to no service: what is saved in it goes nowhere else.
    var isPlainFile: Bool { offline.map { !$0.area.isSynced } ?? false }
    /// The places that the map's author has named.
    var bookmarks: [Bookmark] { webMap?.bookmarks ?? [] }
    /// The areas that the map's author has prepared on its portal; none for a map that is on no portal, or whose portal does not answer.
    var preparedAreas: [PreplannedMapArea] {
        get async {
            guard offline == nil, webMap != nil, let item = PortalItem(url: url) else { return [] }
            return (try? await OfflineMapTask(portalItem: item).preplannedMapAreas) ?? []
        }
    }
    /// How the map is shown, to be taken along with an area of it; nil for a service.
    var webMapDocument: Data? { webMap?.toJSON() }
    /// Under this name the device keeps what belongs to the map.
    var key: String { address.key }

    /// Opens a service or a web map.
    /// - Parameter ownRoot: the services that were started with the app; nil for none.
    static func open(_ address: MapAddress, ownRoot: URL?, dataDirectory: URL) async throws -> OpenMap {
        let content =
            address.isService
            ? try await MapContent.service(address, dataDirectory: dataDirectory)
            : try await MapContent.webMap(address, ownRoot: ownRoot, dataDirectory: dataDirectory)
        let folder = dataDirectory.appendingPathComponent("maps/\(address.folderName)", isDirectory: true)
        let journal = try EditJournal(
            fileURL: folder.appendingPathComponent("edits.jsonl"), tables: content.numberedTables)
        let drafts = try DraftStore(folder: folder.appendingPathComponent("drafts", isDirectory: true))
        return OpenMap(
            address: address, content: content, extents: await MapExtent.extents(of: content.layers), journal: journal,
            drafts: drafts, folder: folder, dataDirectory: dataDirectory)
    }

    /// Opens an offline area, with the transaction that an earlier process didn't end.
    /// - Parameters:
    ///   - webMap: how it is shown; nil: by what its service says.
    ///   - basemap: what was taken along to lie under it; it may come later than the features.
    static func open(
        _ area: OfflineArea, files: [AreaFile], webMap: Data?,
        basemap: @escaping @Sendable () -> AreaBasemap? = { nil },
        dataDirectory: URL
    ) async throws -> OpenMap {
        let address = MapAddress(area)
        let folder = dataDirectory.appending(path: "maps/\(address.folderName)")
        let content = try await MapContent.area(area, files: files, webMap: webMap, folder: folder)
        let journal = try EditJournal(fileURL: folder.appending(path: "edits.jsonl"), tables: content.numberedTables)
        let drafts = try DraftStore(folder: folder.appending(path: "drafts", directoryHint: .isDirectory))
        let map = OpenMap(
            address: address, content: content, extents: await MapExtent.extents(of: content.layers), journal: journal,
            drafts: drafts, folder: folder, dataDirectory: dataDirectory, ownBasemap: basemap)
        try await journal.recoverTransaction(in: map.offline?.geodatabases ?? [])
        return map
    }

    /// The layers that aren't shown: as chosen on this device, else as the author left them.
    func hidden(in settings: DeviceSettings) -> Set<Int> { settings.hidden(of: key) ?? hiddenAtFirst }

    func layer(_ id: Int) -> MapLayer? { layers.first { $0.id == id } ?? tables.first { $0.id == id } }

    /// Topmost first, then tables: as lists show them.
    var listed: [MapLayer] { layers.reversed() + tables }

    func remember(_ tap: TapMemory) { lastTap.withLock { $0 = tap } }

    /// What the last tap found, where that was a moment ago. It is given once: after an edit the feature is asked for again.
    func takeTap() -> TapMemory? {
        let tap = lastTap.withLock { tap in
            defer { tap = nil }
            return tap
        }
        return tap.flatMap { $0.isFresh ? $0 : nil }
    }

    func remember(_ feature: Feature, as reference: FeatureReference) {
        remembered.withLock { $0.put(feature, for: reference) }
    }

    func rememberedFeature(_ reference: FeatureReference) -> Feature? {
        remembered.withLock { $0.feature(reference) }
    }

    func forget(_ reference: FeatureReference) {
        remembered.withLock { $0.remove(reference) }
    }

    /// Nothing that was shown holds any more.
    func forgetAll() { remembered.withLock { $0 = RememberedFeatures() } }

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
