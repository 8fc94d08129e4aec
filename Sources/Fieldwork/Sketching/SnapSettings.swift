import Synchronization

/// What a pointer is caught by while it edits. Nothing here has a pointer: the settings are kept for whoever draws, and what is
/// edited in code is never moved to something near.
public final class SnapSettings: Sendable {
    private struct Values: Sendable {
        var isEnabled = false
        var snapsToFeatures = true
        var snapsToGeometryGuides = false
        var tolerance = 10.0
    }

    private let values = Mutex(Values())

    init() {}

    /// Whether anything catches; no at first.
    public var isEnabled: Bool {
        get { values.withLock { $0.isEnabled } }
        set { values.withLock { $0.isEnabled = newValue } }
    }

    /// Whether features of the sources do.
    public var snapsToFeatures: Bool {
        get { values.withLock { $0.snapsToFeatures } }
        set { values.withLock { $0.snapsToFeatures = newValue } }
    }

    /// Whether lines that continue what is drawn do.
    public var snapsToGeometryGuides: Bool {
        get { values.withLock { $0.snapsToGeometryGuides } }
        set { values.withLock { $0.snapsToGeometryGuides = newValue } }
    }

    /// How near is near, in points of the screen.
    public var tolerance: Double {
        get { values.withLock { $0.tolerance } }
        set { values.withLock { $0.tolerance = newValue } }
    }
}
