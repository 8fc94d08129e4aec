public import FieldworkGeometry
public import Foundation
import Synchronization

/// A map: a basemap, layers over it, tables beside them.
///
/// What changes is behind locks.
public final class Map: GeoModel, @unchecked Sendable {
    private struct Limits: Sendable {
        var minScale: Double?
        var maxScale: Double?
        var referenceScale = 0.0
        var maxExtent: Envelope?
    }

    private let limits: Mutex<Limits>
    /// What the services of a map are reached with that is read when it is loaded; nil for the standard.
    private let environment: ServiceEnvironment?

    /// A map without anything on it.
    public convenience init() { self.init(State(), Limits()) }

    /// A map with a basemap.
    public convenience init(basemap: Basemap) { self.init(State(basemap: basemap), Limits()) }

    /// A map with a basemap of a named look.
    public convenience init(basemapStyle: Basemap.Style) { self.init(basemap: Basemap(style: basemapStyle)) }

    /// A map without anything on it, in a reference.
    public convenience init(spatialReference: SpatialReference) {
        self.init(State(spatialReference: spatialReference), Limits())
    }

    /// A copy that is not loaded, with layers and tables of its own. Tables of one service share it in the copy as well;
    /// edits belong to the services, and are seen by both.
    public func clone() -> Map {
        let context = MapCopy()
        var state = state.withLock { $0 }
        state.operationalLayers = state.operationalLayers.map(context.layer)
        state.tables = state.tables.map(context.table)
        let basemap = state.basemap?.copy(context)
        if state.readBasemap === state.basemap { state.readBasemap = basemap }
        state.basemap = basemap
        let copy = Map(state, limits.withLock { $0 }, environment: environment)
        copy.connectRules()
        return copy
    }

    private init(_ state: State, _ limits: Limits, environment: ServiceEnvironment? = nil) {
        self.limits = Mutex(limits)
        self.environment = environment
        super.init(state)
    }

    /// The web map of an item, which is read when the map is loaded. Loading throws `CommonError.invalidArgument` for an item
    /// of another kind, `ServiceError` when it can't be read. Layers that are added before lie over those of the web map.
    public convenience init(item: any Item) {
        self.init(
            State(source: .item(item), item: item), Limits(), environment: (item as? PortalItem)?.portal.ownEnvironment)
    }

    /// The web map behind an address, which is read when the map is loaded: the page of an item (`…/home/item.html?id=…`), a
    /// viewer that shows it (`…?webmap=…`), or the document itself, on a server or in a file. nil for an address of another
    /// kind. Loading throws `CommonError.invalidJSON`, `CommonError.notFound`, `ServiceError`.
    public convenience init?(url: URL) { self.init(url: url, environment: .standard) }

    convenience init?(url: URL, environment: ServiceEnvironment) {
        guard ["http", "https", "file"].contains(url.scheme?.lowercased() ?? "") else { return nil }
        let source = ContentSource(webMapURL: url, environment: environment)
        self.init(State(source: source, item: source.keptItem), Limits(), environment: environment)
    }

    override func readSource() async throws {
        guard let source = state.withLock({ $0.source }) else { return }
        let environment = self.environment ?? .standard
        try take(try await source.webMap(environment: environment), environment: environment)
        state.withLock { $0.source = nil }
    }

    /// The smallest scale to zoom out to, as a denominator; nil for none.
    public var minScale: Double? {
        get { limits.withLock { $0.minScale } }
        set { limits.withLock { $0.minScale = newValue } }
    }

    /// The largest scale to zoom in to, as a denominator; nil for none.
    public var maxScale: Double? {
        get { limits.withLock { $0.maxScale } }
        set { limits.withLock { $0.maxScale = newValue } }
    }

    /// The scale at which symbols have their size; 0 for none.
    public var referenceScale: Double {
        get { limits.withLock { $0.referenceScale } }
        set { limits.withLock { $0.referenceScale = newValue } }
    }

    /// What the map does not go beyond; nil for everywhere.
    public var maxExtent: Envelope? {
        get { limits.withLock { $0.maxExtent } }
        set { limits.withLock { $0.maxExtent = newValue } }
    }
}
