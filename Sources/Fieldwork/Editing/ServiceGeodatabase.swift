public import Foundation
import FieldworkREST
import Synchronization

/// A feature service and the tables of it that an app works with. Edits of all its tables are applied together.
///
/// Edits that were not applied are kept on this device: they are there again when the service is loaded next, also after
/// the app was killed.
///
/// ```swift
/// let geodatabase = ServiceGeodatabase(url: serviceURL)
/// try await geodatabase.load()
/// guard let reports = geodatabase.table(withLayerID: 0) else { return }
/// try await reports.add(reports.makeFeature(attributes: ["typdamage": "Minor"], geometry: place))
/// let results = try await geodatabase.applyEdits()
/// ```
///
/// <doc:EditingFeatures> tells the whole way. To work without a connection for long, take a ``Geodatabase`` with a
/// ``GeodatabaseSyncTask`` instead.
///
/// ## Topics
///
/// ### Tables
///
/// - ``table(withLayerID:)``
/// - ``connectedTables``
///
/// ### Edits
///
/// - ``hasLocalEdits``
/// - ``applyEdits()``
/// - ``undoLocalEdits()``
/// - ``localEdits()``
public final class ServiceGeodatabase: Loadable, @unchecked Sendable {
    // What changes is behind a lock or in `Streamed`, which locks for itself.
    private struct TableReference: Sendable {
        weak var table: ServiceFeatureTable?
    }

    private struct Place: Sendable {
        var url: URL?
        var root: URL
    }

    private struct State {
        var session: ServiceSession?
        var tables: [Int: TableReference] = [:]
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The address as it was given: of the service or of one of its layers.
    public var url: URL? { place.withLock { $0.url } }
    var root: URL { place.withLock { $0.root } }
    /// The item that the service is of; nil for one by its address.
    private let item: PortalItem?
    private let place: Mutex<Place>
    private let environment: ServiceEnvironment
    private let loading: LoadOnce
    private let state = Mutex(State())

    /// A service by the address of its root or of one of its layers.
    public convenience init(url: URL) { self.init(url: url, environment: .standard) }

    convenience init(url: URL, environment: ServiceEnvironment) {
        self.init(Place(url: url, root: Self.serviceRoot(of: url)), item: nil, environment: environment)
    }

    /// The service of a portal's item. `url` is nil until it is loaded, which throws `CommonError.invalidArgument` for an
    /// item of another kind.
    public convenience init(portalItem: PortalItem) {
        self.init(Place(root: portalItem.itemURL), item: portalItem, environment: portalItem.environment)
    }

    private init(_ place: Place, item: PortalItem?, environment: ServiceEnvironment) {
        self.place = Mutex(place)
        self.item = item
        self.environment = environment
        loading = LoadOnce(status: _loadStatus)
    }

    /// The same service, not loaded.
    func copy() -> ServiceGeodatabase {
        if let item { return ServiceGeodatabase(portalItem: item) }
        return ServiceGeodatabase(url: url ?? root, environment: environment)
    }

    /// `…/FeatureServer` of `…/FeatureServer/0`, without a query.
    static func serviceRoot(of url: URL) -> URL {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        components?.query = nil
        components?.fragment = nil
        var root = components?.url ?? url
        if Int(root.lastPathComponent) != nil { root.deleteLastPathComponent() }
        var text = root.absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        return URL(string: text) ?? root
    }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Reads what the service is, and opens the edits that are kept on this device. When the service can't be reached but
    /// was loaded here before, its description of then is used.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            if let item, url == nil {
                let address = try await ContentSource.service(of: item)
                place.withLock { $0 = Place(url: address, root: Self.serviceRoot(of: address)) }
            }
            let session = try await ServiceSession.load(root, environment: environment)
            state.withLock { $0.session = session }
        }
    }

    var session: ServiceSession? { state.withLock { $0.session } }

    private func loadedSession() async throws -> ServiceSession {
        try await load()
        guard let session else { throw MappingError.notLoaded(details: "The service is not loaded.") }
        return session
    }

    // MARK: Tables

    /// What the service says about itself; nil before it is loaded.
    public var serviceInfo: ArcGISFeatureServiceInfo? {
        session.map { ArcGISFeatureServiceInfo($0.service, url: root) }
    }

    /// The tables that were asked for and are in use.
    public var connectedTables: [ServiceFeatureTable] {
        state.withLock { state in state.tables.sorted { $0.key < $1.key }.compactMap(\.value.table) }
    }

    /// The table of a layer id: the same object each time. nil before the service is loaded, and for an unknown id.
    public func table(withLayerID layerID: Int) -> ServiceFeatureTable? {
        state.withLock { state in
            if let table = state.tables[layerID]?.table { return table }
            guard let session = state.session, let layer = session.service.layer(id: layerID) else { return nil }
            let table = ServiceFeatureTable(geodatabase: self, layer: layer, session: session)
            state.tables[layerID] = TableReference(table: table)
            return table
        }
    }

    /// Makes a table that was created on its own the table of its layer.
    func connect(_ table: ServiceFeatureTable, layerID: Int) {
        state.withLock { $0.tables[layerID] = TableReference(table: table) }
    }

    // MARK: Edits

    /// Whether there are edits that the service does not have.
    public var hasLocalEdits: Bool { session?.local.hasEdits ?? false }

    /// How many features have edits that the service does not have. Not part of the vendor's API.
    public var localEditsCount: Int { session?.local.edits().count ?? 0 }

    /// Sends the edits of all tables in one request.
    ///
    /// There are two levels of failure. The call throws when the request as a whole fails: all edits are still here, and sending
    /// them again does not make anything twice, though the first request may have arrived. A feature that the service refuses has
    /// its reason in its own result, and its edit stays on this device.
    /// - Returns: the results by table.
    /// - Throws: `ServiceError` when the service can't be reached or refuses the request.
    public func applyEdits() async throws -> [FeatureTableEditResult] { try await applyEdits(watch: nil) }

    /// `applyEdits`, and tells how far it has come. Not part of the vendor's API.
    package func applyEdits(watch: SendingWatch?) async throws -> [FeatureTableEditResult] {
        let session = try await loadedSession()
        return try await session.applyEdits(watch: watch).map { layerID, results in
            FeatureTableEditResult(editResults: results, featureTable: table(withLayerID: layerID))
        }
    }

    /// Drops the edits of all tables that were not applied. Feature objects in hand are stale afterwards.
    public func undoLocalEdits() async throws { try await loadedSession().undoLocalEdits() }

    /// Added and updated features of all tables.
    public func localEdits() async throws -> [Feature] {
        let session = try await loadedSession()
        return session.service.layers.flatMap { layer in
            table(withLayerID: layer.id)?.pendingFeatures(in: session) ?? []
        }
    }

    // MARK: Versions

    /// Whether the service has branch versions.
    public var supportsBranchVersioning: Bool { false }
    /// The version that is read and edited; empty where there are none.
    public var versionName: String { "" }
    /// The version that all others come from; empty where there are none.
    public var defaultVersionName: String { "" }

    /// Ends the work with the service. Edits stay on this device.
    public func close() async throws {
        loading.cancel()
    }
}
