public import FieldworkGeometry
import Synchronization

/// Layers that are listed and switched together.
///
/// What changes is behind locks.
public final class GroupLayer: Layer, @unchecked Sendable {
    /// How the visibility of the group and of its layers belong together.
    public enum VisibilityMode: Sendable {
        /// Each layer is switched on its own, and seen when the group is.
        case independent
        /// At most one layer is seen.
        case exclusive
        /// The layers are seen when the group is.
        case inherited
    }

    private struct Content: Sendable {
        var layers: [Layer] = []
        var mode = VisibilityMode.independent
    }

    private let content = Mutex(Content())

    /// A group of layers, the lowest first.
    public init(childLayers: [Layer] = []) {
        super.init()
        content.withLock { $0.layers = childLayers }
    }

    required init(copying original: Layer, _ context: MapCopy) {
        super.init(copying: original, context)
        guard let group = original as? GroupLayer else { return }
        let copied = Content(layers: group.layers.map(context.layer), mode: group.visibilityMode)
        content.withLock { $0 = copied }
    }

    /// The layers, the lowest first.
    public var layers: [Layer] { content.withLock { $0.layers } }

    /// Puts a layer on top.
    public func addLayer(_ layer: Layer) { content.withLock { $0.layers.append(layer) } }

    /// Takes a layer away.
    public func removeLayer(_ layer: Layer) { content.withLock { $0.layers.removeAll { $0 === layer } } }

    /// How the visibility of the group and of its layers belong together. With several visible layers, `exclusive` keeps
    /// the first.
    public var visibilityMode: VisibilityMode {
        get { content.withLock { $0.mode } }
        set { content.withLock { $0.mode = newValue } }
    }

    /// Whether a layer of the group is seen when the group is.
    func shows(_ layer: Layer) -> Bool {
        switch visibilityMode {
        case .independent: layer.isVisible
        case .exclusive: layers.first { $0.isVisible } === layer
        case .inherited: true
        }
    }

    override func loadContent(retries: Bool) async throws { await layers.load() }

    /// What the layers cover together.
    public override var fullExtent: Envelope? { GeometryEngine.combineExtents(of: layers.compactMap(\.fullExtent)) }
    /// The reference of the first layer that has one.
    public override var spatialReference: SpatialReference? { layers.lazy.compactMap(\.spatialReference).first }
    /// The layers.
    public override var subLayerContents: [any LayerContent] { layers }
}

/// A layer of a web map whose kind the SDK does not know: it is listed and kept, and not drawn.
public final class UnknownLayer: Layer, @unchecked Sendable {
    /// The kind as the web map calls it; empty when it does not say.
    public var layerType: String { shared.withLock { $0.entry?["layerType"]?.stringValue } ?? "" }
}
