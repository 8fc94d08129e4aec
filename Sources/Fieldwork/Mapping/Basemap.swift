import FieldworkGeometry
public import Foundation
import Synchronization

/// What lies under the layers of a map.
public final class Basemap: Loadable, @unchecked Sendable {
    // What changes is behind a lock or in `Streamed`, which locks for itself.

    /// Looks that basemaps have names for. They need no network: the app that shows the map decides how it draws them.
    public enum Style: Sendable {
        /// The vendor's styles.
        case arcGISStreets, arcGISOceans, arcGISTopographic, arcGISImagery, arcGISImageryStandard, arcGISNavigation,
            arcGISLightGray, arcGISDarkGray, arcGISTerrain, arcGISNewspaper
        /// OpenStreetMap's own style.
        case osmStandard
    }

    private struct State {
        var name: String
        var baseLayers: [Layer]
        var referenceLayers: [Layer]
        /// Where the basemap is read from when it is loaded; nil for one that is there.
        var source: ContentSource?
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    private let loading: LoadOnce
    private let state: Mutex<State>
    /// The look; nil for a basemap of layers.
    public let style: Style?
    /// The item that the basemap comes from; nil for others.
    public let item: (any Item)?

    private init(style: Style?, baseLayers: [Layer], referenceLayers: [Layer], source: ContentSource? = nil) {
        self.style = style
        item = source?.keptItem
        state = Mutex(
            State(
                name: style.map { "\($0)" } ?? "", baseLayers: baseLayers, referenceLayers: referenceLayers,
                source: source))
        loading = LoadOnce(status: _loadStatus)
    }

    /// A basemap of a named look.
    public convenience init(style: Style) { self.init(style: style, baseLayers: [], referenceLayers: []) }

    /// A basemap of one layer.
    public convenience init(baseLayer: Layer) { self.init(style: nil, baseLayers: [baseLayer], referenceLayers: []) }

    /// A basemap of layers under and over those of the map.
    public convenience init(baseLayers: [Layer], referenceLayers: [Layer]) {
        self.init(style: nil, baseLayers: baseLayers, referenceLayers: referenceLayers)
    }

    /// The basemap of a web map's item, which is read when it is loaded. Loading throws `CommonError.invalidArgument` for an
    /// item of another kind, `ServiceError` when it can't be read.
    public convenience init(item: any Item) {
        self.init(style: nil, baseLayers: [], referenceLayers: [], source: .item(item))
    }

    /// The basemap of the web map behind an address, as `Map` reads them. Loading throws `CommonError.invalidJSON`,
    /// `CommonError.notFound`, `ServiceError`.
    public convenience init(url: URL) {
        self.init(
            style: nil, baseLayers: [], referenceLayers: [],
            source: ContentSource(webMapURL: url, environment: .standard))
    }

    /// A copy that is not loaded.
    public func clone() -> Basemap { copy(MapCopy()) }

    func copy(_ context: MapCopy) -> Basemap {
        let copy = Basemap(
            style: style, baseLayers: baseLayers.map(context.layer),
            referenceLayers: referenceLayers.map(context.layer),
            source: state.withLock { $0.source })
        copy.name = name
        return copy
    }

    /// The title.
    public var name: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    /// Layers under those of the map.
    public var baseLayers: [Layer] { state.withLock { $0.baseLayers } }
    /// Layers over those of the map.
    public var referenceLayers: [Layer] { state.withLock { $0.referenceLayers } }

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Loads the layers; a named look needs none.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            if let source = state.withLock({ $0.source }) { try await read(source) }
            await (baseLayers + referenceLayers).load()
        }
    }

    private func read(_ source: ContentSource) async throws {
        let environment = ServiceEnvironment.standard
        let document = try await source.webMap(environment: environment)
        var reader = try WebMapReader(document, environment: environment)
        guard let read = reader.basemap(document["baseMap"]) else {
            throw CommonError.invalidJSON(details: "The web map has no basemap.")
        }
        let (layers, references, title) = (read.baseLayers, read.referenceLayers, read.name)
        state.withLock { state in
            state.baseLayers = layers
            state.referenceLayers = references
            if state.name.isEmpty { state.name = title }
            state.source = nil
        }
    }
}
