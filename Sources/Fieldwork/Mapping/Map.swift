public import FieldworkGeometry
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

    private let limits = Mutex(Limits())

    /// A map without anything on it.
    public init() { super.init(State()) }

    /// A map with a basemap.
    public init(basemap: Basemap) { super.init(State(basemap: basemap)) }

    /// A map with a basemap of a named look.
    public init(basemapStyle: Basemap.Style) { super.init(State(basemap: Basemap(style: basemapStyle))) }

    /// A map without anything on it, in a reference.
    public init(spatialReference: SpatialReference) { super.init(State(spatialReference: spatialReference)) }

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
