public import FieldworkGeometry
import Synchronization

/// Something that an app shows on a map beside the features: it has a place, attributes and a symbol, and no table.
public final class Graphic: GeoElement {
    private struct State: Sendable {
        var geometry: Geometry?
        var attributes: [String: any Sendable]
        var symbol: Symbol?
        var isSelected = false
        var isVisible = true
        var zIndex = 0
    }

    private let state: Mutex<State>

    /// - Parameter symbol: nil for that of the overlay's renderer.
    public init(geometry: Geometry? = nil, attributes: [String: any Sendable] = [:], symbol: Symbol? = nil) {
        state = Mutex(State(geometry: geometry, attributes: attributes, symbol: symbol))
    }

    /// All attributes that have a value.
    public var attributes: [String: any Sendable] { state.withLock { $0.attributes } }

    /// The place.
    public var geometry: Geometry? {
        get { state.withLock { $0.geometry } }
        set { state.withLock { $0.geometry = newValue } }
    }

    /// The value of an attribute; nil when it has none.
    public func attributeValue(forKey key: String) -> (any Sendable)? { state.withLock { $0.attributes[key] } }

    /// Sets an attribute; nil clears it.
    public func setAttributeValue(_ value: (any Sendable)?, forKey key: String) {
        state.withLock { $0.attributes[key] = value }
    }

    /// What the graphic is drawn with; nil for what the overlay's renderer says.
    public var symbol: Symbol? {
        get { state.withLock { $0.symbol } }
        set { state.withLock { $0.symbol = newValue } }
    }

    /// Whether the graphic is selected.
    public var isSelected: Bool {
        get { state.withLock { $0.isSelected } }
        set { state.withLock { $0.isSelected = newValue } }
    }

    /// Whether the graphic is shown.
    public var isVisible: Bool {
        get { state.withLock { $0.isVisible } }
        set { state.withLock { $0.isVisible = newValue } }
    }

    /// Graphics with a higher number are drawn over others of their overlay.
    public var zIndex: Int {
        get { state.withLock { $0.zIndex } }
        set { state.withLock { $0.zIndex = newValue } }
    }
}

/// Graphics that are shown together, over the layers of a map.
public final class GraphicsOverlay: Sendable {
    /// How often an overlay is drawn anew: a hint for who draws it.
    public enum RenderingMode: Sendable {
        /// When something changes; at rest.
        case dynamic, `static`
    }

    private struct State: Sendable {
        var id = ""
        var graphics: [Graphic]
        var renderer: Renderer?
    }

    /// How often the overlay is drawn anew.
    public let renderingMode: RenderingMode
    private let state: Mutex<State>

    /// Graphics, the lowest first.
    public init(graphics: [Graphic] = [], renderingMode: RenderingMode = .dynamic) {
        self.renderingMode = renderingMode
        state = Mutex(State(graphics: graphics))
    }

    /// What the app calls the overlay.
    public var id: String {
        get { state.withLock { $0.id } }
        set { state.withLock { $0.id = newValue } }
    }

    /// The graphics, the lowest first.
    public var graphics: [Graphic] { state.withLock { $0.graphics } }

    /// Puts a graphic on top.
    public func addGraphic(_ graphic: Graphic) { addGraphics([graphic]) }

    /// Puts graphics on top, the last the highest.
    public func addGraphics<S: Sequence>(_ graphics: S) where S.Element: Graphic {
        let added: [Graphic] = graphics.map { $0 }
        state.withLock { $0.graphics += added }
    }

    /// Takes a graphic away.
    public func removeGraphic(_ graphic: Graphic) { removeGraphics([graphic]) }

    /// Takes graphics away.
    public func removeGraphics<S: Sequence>(_ graphics: S) where S.Element: Graphic {
        let removed = Set(graphics.map { ObjectIdentifier($0) })
        state.withLock { $0.graphics.removeAll { removed.contains(ObjectIdentifier($0)) } }
    }

    /// Takes all graphics away.
    public func removeAllGraphics() { state.withLock { $0.graphics = [] } }

    /// How graphics without a symbol of their own are drawn.
    public var renderer: Renderer? {
        get { state.withLock { $0.renderer } }
        set { state.withLock { $0.renderer = newValue } }
    }

    /// What a graphic is drawn with: its own symbol, else the renderer's; nil for nothing. Not part of the vendor's API.
    public func symbol(for graphic: Graphic) -> Symbol? { graphic.symbol ?? renderer?.symbol(for: graphic) }
}
