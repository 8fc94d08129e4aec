/// Whether something of a map can come along.
public final class OfflineCapability: Sendable {
    /// Why it can't; nil where it can.
    public let error: (any Error)?
    /// Whether it can.
    public var supportsOffline: Bool { error == nil }

    init(_ error: (any Error)?) { self.error = error }
}

/// What of a map can come along, and why the rest can't.
public final class OfflineMapCapabilities: Sendable {
    /// Of the layers, with those of groups and of the basemap.
    public let layerCapabilities: [Layer: OfflineCapability]
    /// Of the tables.
    public let tableCapabilities: [FeatureTable: OfflineCapability]
    /// Whether something can't come along.
    public var hasErrors: Bool {
        layerCapabilities.values.contains { !$0.supportsOffline }
            || tableCapabilities.values.contains { !$0.supportsOffline }
    }

    init(layers: [Layer: OfflineCapability], tables: [FeatureTable: OfflineCapability]) {
        layerCapabilities = layers
        tableCapabilities = tables
    }
}

/// Layers are the same when they are one object.
extension Layer: Hashable {
    /// Whether both are one object.
    public static func == (one: Layer, other: Layer) -> Bool { one === other }

    /// Tells one object from others.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Tables are the same when they are one object.
extension FeatureTable: Hashable {
    /// Whether both are one object.
    public static func == (one: FeatureTable, other: FeatureTable) -> Bool { one === other }

    /// Tells one object from others.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
