public import FieldworkGeometry
import Synchronization

/// Layers and tables that are worked with together.
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public class GeoModel: Loadable, @unchecked Sendable {
    struct State: Sendable {
        var operationalLayers: [Layer] = []
        var tables: [FeatureTable] = []
        var basemap: Basemap?
        var bookmarks: [Bookmark] = []
        var initialViewpoint: Viewpoint?
        var spatialReference: SpatialReference?
        /// The web map that the model was read from, and what of it has no state of its own.
        var document: JSONObject?
        var readBasemap: Basemap?
        var readSpatialReference: SpatialReference?
        var readTables: [JSONObject] = []
        /// Where the model is read from when it is loaded; nil for one that is there.
        var source: ContentSource?
        /// The item that the model comes from.
        var item: (any Item)?
        /// The files of a model that was taken offline; nil for one of services.
        var offline: OfflineContent?
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    let loading: LoadOnce
    let state: Mutex<State>

    init(_ state: State) {
        self.state = Mutex(state)
        loading = LoadOnce(status: _loadStatus)
    }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Loads the model. Layers and tables that fail keep their own errors.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            try await readSource()
            try await basemap?.load()
            await operationalLayers.load()
            await tables.load()
            let reference = operationalLayers.compactMap(\.spatialReference).first
            state.withLock { state in
                state.spatialReference = state.spatialReference ?? reference ?? .webMercator
                // What follows from the layers is not the document's to say.
                if state.document != nil { state.readSpatialReference = state.spatialReference }
            }
        }
    }

    /// Reads what the model is from where it is kept; for subclasses.
    func readSource() async throws {}

    /// The item that the model comes from; nil for others.
    public var item: (any Item)? { state.withLock { $0.item } }

    /// The version of the web map that the model was read from; that of new documents for others.
    public var version: String {
        state.withLock { $0.document?["version"]?.stringValue } ?? WebMapWriter.version
    }

    /// The reference of the model: as given, else of the first layer.
    public var spatialReference: SpatialReference? { state.withLock { $0.spatialReference } }

    // MARK: Layers

    /// The layers, the lowest first.
    public var operationalLayers: [Layer] { state.withLock { $0.operationalLayers } }

    /// Puts a layer on top.
    public func addOperationalLayer(_ layer: Layer) { state.withLock { $0.operationalLayers.append(layer) } }

    /// Puts layers on top, the last the highest.
    public func addOperationalLayers<S: Sequence>(_ layers: S) where S.Element: Layer {
        let layers = Array(layers)
        state.withLock { $0.operationalLayers += layers }
    }

    /// Puts a layer between the others.
    public func insertOperationalLayer(_ layer: Layer, at index: Int) {
        state.withLock { $0.operationalLayers.insert(layer, at: min(max(0, index), $0.operationalLayers.count)) }
    }

    /// Takes a layer away.
    public func removeOperationalLayer(_ layer: Layer) {
        state.withLock { $0.operationalLayers.removeAll { $0 === layer } }
    }

    /// Moves a layer to another place among the others.
    public func moveOperationalLayer(from: Int, to: Int) {
        state.withLock { state in
            guard state.operationalLayers.indices.contains(from) else { return }
            let layer = state.operationalLayers.remove(at: from)
            state.operationalLayers.insert(layer, at: min(max(0, to), state.operationalLayers.count))
        }
    }

    /// Takes all layers away.
    public func removeAllOperationalLayers() { state.withLock { $0.operationalLayers = [] } }

    // MARK: Tables

    /// The tables without geometries.
    public var tables: [FeatureTable] { state.withLock { $0.tables } }

    /// Adds a table.
    public func addTable(_ table: FeatureTable) { state.withLock { $0.tables.append(table) } }

    /// Adds tables.
    public func addTables<S: Sequence>(_ tables: S) where S.Element: FeatureTable {
        let tables = Array(tables)
        state.withLock { $0.tables += tables }
    }

    /// Takes a table away.
    public func removeTable(_ table: FeatureTable) { state.withLock { $0.tables.removeAll { $0 === table } } }

    /// Takes all tables away.
    public func removeAllTables() { state.withLock { $0.tables = [] } }

    // MARK: Basemap, viewpoint, bookmarks

    /// What lies under the layers.
    public var basemap: Basemap? {
        get { state.withLock { $0.basemap } }
        set { state.withLock { $0.basemap = newValue } }
    }

    /// What is shown first.
    public var initialViewpoint: Viewpoint? {
        get { state.withLock { $0.initialViewpoint } }
        set { state.withLock { $0.initialViewpoint = newValue } }
    }

    /// Places to come back to.
    public var bookmarks: [Bookmark] { state.withLock { $0.bookmarks } }

    /// Adds a bookmark.
    public func addBookmark(_ bookmark: Bookmark) { addBookmarks([bookmark]) }

    /// Adds bookmarks.
    public func addBookmarks(_ bookmarks: [Bookmark]) { state.withLock { $0.bookmarks += bookmarks } }

    /// Takes away the bookmarks of a name.
    public func removeBookmark(_ bookmark: Bookmark) { removeBookmarks([bookmark]) }

    /// Takes away the bookmarks of some names.
    public func removeBookmarks(_ bookmarks: [Bookmark]) {
        let names = Set(bookmarks.map(\.name))
        state.withLock { $0.bookmarks.removeAll { names.contains($0.name) } }
    }

    /// Takes all bookmarks away.
    public func removeAllBookmarks() { state.withLock { $0.bookmarks = [] } }
}
