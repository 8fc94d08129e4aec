public import FieldworkGeometry
import Foundation
import Synchronization

/// Something that is listed as part of a map.
public protocol LayerContent: AnyObject, Sendable {
    /// The title.
    var name: String { get }
    /// Whether it is shown.
    var isVisible: Bool { get set }
    /// What it is made of.
    var subLayerContents: [any LayerContent] { get }
}

/// One layer of a map.
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public class Layer: Loadable, LayerContent, @unchecked Sendable {
    struct State: Sendable {
        var name: String?
        var isVisible = true
        var opacity = 1.0
        var minScale: Double?
        var maxScale: Double?
        var id = UUID().uuidString
        /// The layer's entry in the web map that it was read from.
        var entry: JSONObject?
        /// Whether the scale was set, and not taken from the service.
        var hasOwnMinScale = false
        var hasOwnMaxScale = false
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// Tells the layer from all others.
    public var id: String { shared.withLock { $0.id } }
    let loading: LoadOnce
    let shared = Mutex(State())

    init() { loading = LoadOnce(status: _loadStatus) }

    /// A layer that is not loaded, like another one.
    required init(copying original: Layer, _ context: MapCopy) {
        loading = LoadOnce(status: _loadStatus)
        var state = original.shared.withLock { $0 }
        // What came from the service comes from it again.
        if !state.hasOwnMinScale { state.minScale = nil }
        if !state.hasOwnMaxScale { state.maxScale = nil }
        let copied = state
        shared.withLock { $0 = copied }
    }

    /// A copy that is not loaded, with a table of its own. What is selected, hidden and loaded is not copied; edits belong to
    /// the service or the geodatabase, and are seen by both.
    public func clone() -> Self { Self(copying: self, MapCopy()) }

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Loads what the layer shows.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in try await loadContent(retries: retries) }
    }

    /// Loads what the layer shows; for subclasses.
    func loadContent(retries: Bool) async throws {}

    var defaultName: String { "" }

    /// The title.
    public var name: String {
        get { shared.withLock { $0.name } ?? defaultName }
        set { shared.withLock { $0.name = newValue } }
    }

    /// Whether the layer is shown.
    public var isVisible: Bool {
        get { shared.withLock { $0.isVisible } }
        set { shared.withLock { $0.isVisible = newValue } }
    }

    /// Whether the layer is shown at 1 : `scale`.
    public func isVisible(atScale scale: Double) -> Bool {
        isVisible && isInRange(atScale: scale)
    }

    /// Whether 1 : `scale` is between the scales at which the layer is shown.
    func isInRange(atScale scale: Double) -> Bool {
        minScale.map { $0 <= 0 || scale <= $0 } ?? true && maxScale.map { scale >= $0 } ?? true
    }

    /// From 0 (not seen) to 1.
    public var opacity: Double {
        get { shared.withLock { $0.opacity } }
        set { shared.withLock { $0.opacity = min(max(0, newValue), 1) } }
    }

    /// The smallest scale at which the layer is shown, as a denominator; nil for none.
    public var minScale: Double? {
        get { shared.withLock { $0.minScale } }
        set {
            shared.withLock { shared in
                shared.minScale = newValue
                shared.hasOwnMinScale = true
            }
        }
    }

    /// The largest scale at which the layer is shown, as a denominator; nil for none.
    public var maxScale: Double? {
        get { shared.withLock { $0.maxScale } }
        set {
            shared.withLock { shared in
                shared.maxScale = newValue
                shared.hasOwnMaxScale = true
            }
        }
    }

    /// What the layer covers; nil before it is loaded.
    public var fullExtent: Envelope? { nil }
    /// The reference of its data; nil before it is loaded.
    public var spatialReference: SpatialReference? { nil }
    /// What it is made of.
    public var subLayerContents: [any LayerContent] { [] }
    /// The item that the layer comes from; nil for others.
    public var item: (any Item)? { nil }
    /// Who is to be named for what the layer shows; empty for nobody, and before it is loaded.
    public var attribution: String { "" }
}
