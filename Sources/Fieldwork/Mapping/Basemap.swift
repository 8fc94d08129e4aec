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
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    private let loading: LoadOnce
    private let state: Mutex<State>
    /// The look; nil for a basemap of layers.
    public let style: Style?

    private init(style: Style?, baseLayers: [Layer], referenceLayers: [Layer]) {
        self.style = style
        state = Mutex(
            State(name: style.map { "\($0)" } ?? "", baseLayers: baseLayers, referenceLayers: referenceLayers))
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
        try await loading.load(retries: retries) { [self] in await (baseLayers + referenceLayers).load() }
    }
}
