import FieldworkGeometry
import FieldworkREST
import Synchronization

/// How a layer's features are drawn: a hint for who draws them.
public enum FeatureRenderingMode: Sendable {
    /// As who draws finds best.
    case automatic
    /// At rest: drawn anew when the map has come to stand.
    case `static`
    /// Drawn anew while the map moves.
    case dynamic
}

extension FeatureLayer {
    /// How features are drawn. Web maps do not say it.
    public var renderingMode: FeatureRenderingMode {
        get { content.withLock { $0.renderingMode } }
        set { content.withLock { $0.renderingMode = newValue } }
    }

    /// Whether symbols grow and shrink with the map, and have their size at its reference scale: as set, or as the web map
    /// says, else as the service does.
    public var scalesSymbols: Bool {
        get {
            content.withLock { $0.scalesSymbols } ?? table.definition?.drawingInfo?["scaleSymbols"]?.boolValue ?? false
        }
        set { content.withLock { $0.scalesSymbols = newValue } }
    }
}

extension Map {
    /// How many times their size a layer's symbols have at a scale: 1 where the layer does not scale them, and without a
    /// reference scale. Not part of the vendor's API.
    /// - Parameter scale: the denominator of the scale that is looked at.
    public func symbolFactor(of layer: FeatureLayer, atScale scale: Double) -> Double {
        layer.scalesSymbols && referenceScale > 0 && scale > 0 ? referenceScale / scale : 1
    }
}

extension FeatureLayer {
    /// By how much later features are shown than they were there; nil for not at all. It moves the time of identify and of
    /// selections; queries of the table go by the features' own time.
    public var timeOffset: TimeValue? {
        get { content.withLock { $0.timeOffset } }
        set { content.withLock { $0.timeOffset = newValue } }
    }

    /// Whether the time that is looked at decides which features are shown.
    public var isTimeFilteringEnabled: Bool {
        get { content.withLock { $0.isTimeFilteringEnabled } }
        set { content.withLock { $0.isTimeFilteringEnabled = newValue } }
    }

    /// Whether the features say when they were there.
    public var supportsTimeFiltering: Bool { table.definition?.timeInfo != nil }

    /// The time of the features that are shown at a time that is looked at; nil for all.
    func ownTime(at extent: TimeExtent) -> TimeExtent? {
        let (offset, isFiltered) = content.withLock { ($0.timeOffset, $0.isTimeFilteringEnabled) }
        guard isFiltered else { return nil }
        return offset.map { extent.moved(back: $0) } ?? extent
    }
}
