public import FieldworkGeometry
public import Foundation
import Synchronization

/// Fetches the features that a layer shows, in one of the ways that feature layers of older SDKs had: all at once, those of
/// the part that is looked at, or those that are selected. What was fetched is on this device and sees its edits. Not part
/// of the vendor's present API.
public final class FeatureFetcher: Sendable {
    /// When features are fetched.
    public enum Mode: Sendable {
        /// All of them, once.
        case snapshot
        /// Those of the part that is looked at, when that leaves the part that was fetched.
        case onDemand
        /// None but those that a selection asks for.
        case selection
    }

    private struct State: Sendable {
        var bufferFactor = 1.0
        var expirationInterval: TimeInterval?
        var refreshesOnExpiration = false
        /// What was fetched; nil for all.
        var area: Envelope?
        var moment: Date?
        var timer: Task<Void, Never>?
    }

    /// The layer.
    public let layer: FeatureLayer
    /// When features are fetched.
    public let mode: Mode
    private let table: ServiceFeatureTable
    private let state = Mutex(State())
    private let gate = SerialGate()
    private let now: @Sendable () -> Date
    private let pause: @Sendable (TimeInterval) async throws -> Void

    /// A way for a layer of a service to fetch. The table's request mode is set for it. Throws
    /// `GeodatabaseError.invalidArgument` for a layer of something else.
    public convenience init(layer: FeatureLayer, mode: Mode) throws {
        try self.init(
            layer: layer, mode: mode, now: { Date.now },
            pause: { try await Task.sleep(for: .seconds(min($0, Limits.longestRefreshSeconds))) })
    }

    init(
        layer: FeatureLayer, mode: Mode, now: @escaping @Sendable () -> Date,
        pause: @escaping @Sendable (TimeInterval) async throws -> Void
    ) throws {
        guard let table = layer.featureTable as? ServiceFeatureTable else {
            throw GeodatabaseError.invalidArgument(details: "Only layers of services fetch features.")
        }
        self.layer = layer
        self.mode = mode
        self.table = table
        self.now = now
        self.pause = pause
        table.featureRequestMode = mode == .selection ? .onInteractionNoCache : .manualCache
    }

    deinit { state.withLock { $0.timer }?.cancel() }

    // MARK: Settings

    /// How many times as wide and high as the part that is looked at the part is that is fetched; at least 1.
    public var bufferFactor: Double {
        get { state.withLock { $0.bufferFactor } }
        set { state.withLock { $0.bufferFactor = max(1, newValue.isFinite ? newValue : 1) } }
    }

    /// After how many seconds what was fetched is fetched again; nil for never.
    public var expirationInterval: TimeInterval? {
        get { state.withLock { $0.expirationInterval } }
        set {
            state.withLock { $0.expirationInterval = newValue.flatMap { $0 > 0 ? $0 : nil } }
            restartTimer()
        }
    }

    /// Whether it is fetched again at once then; else when features are asked for next.
    public var autoRefreshOnExpiration: Bool {
        get { state.withLock { $0.refreshesOnExpiration } }
        set {
            state.withLock { $0.refreshesOnExpiration = newValue }
            restartTimer()
        }
    }

    // MARK: Features

    /// The features of a part of the earth, fetched first when that is needed; local edits included, and the layer's
    /// condition kept.
    public func features(in extent: Envelope) async throws -> FeatureQueryResult {
        try await layer.load()
        if mode == .selection { return try await selected(in: extent) }
        try await gate.run { [self] in
            if needsFetch(extent) { try await fetch(mode == .snapshot ? nil : widened(extent)) }
        }
        let parameters = QueryParameters()
        parameters.geometry = extent
        return try await table.queryFeatures(using: try layer.narrowed(parameters))
    }

    /// Fetches again what was fetched before, whether it has expired or not.
    public func refresh() async throws {
        try await layer.load()
        try await gate.run { [self] in
            let (area, moment) = state.withLock { ($0.area, $0.moment) }
            if moment != nil, mode != .selection { try await fetch(area) }
        }
    }

    private func selected(in extent: Envelope) async throws -> FeatureQueryResult {
        let all = Array(try await layer.selectedFeatures.features())
        let inside = try all.filter { feature in
            guard let geometry = feature.geometry, let reference = geometry.spatialReference else { return false }
            return GeometryEngine.isGeometry(
                geometry, intersecting: try GeometryEngine.projected(extent, into: reference))
        }
        return layer.result(inside)
    }

    private func needsFetch(_ extent: Envelope) -> Bool {
        let (area, moment, interval) = state.withLock { ($0.area, $0.moment, $0.expirationInterval) }
        guard let moment else { return true }
        if let interval, now().timeIntervalSince(moment) >= interval { return true }
        guard let area else { return false }
        guard let reference = area.spatialReference,
            let asked = (try? GeometryEngine.projected(extent, into: reference))?.extent
        else { return true }
        return asked.xMin < area.xMin || asked.xMax > area.xMax || asked.yMin < area.yMin || asked.yMax > area.yMax
    }

    private func widened(_ extent: Envelope) -> Envelope {
        let factor = (bufferFactor - 1) / 2
        let (width, height) = ((extent.xMax - extent.xMin) * factor, (extent.yMax - extent.yMin) * factor)
        return Envelope(
            xMin: extent.xMin - width, yMin: extent.yMin - height, xMax: extent.xMax + width,
            yMax: extent.yMax + height, spatialReference: extent.spatialReference)
    }

    private func fetch(_ area: Envelope?) async throws {
        let parameters = QueryParameters()
        parameters.geometry = area
        _ = try await table.populateFromService(
            using: try layer.narrowed(parameters), clearCache: true, outFields: ["*"])
        let moment = now()
        state.withLock { state in
            state.area = area
            state.moment = moment
        }
    }

    // MARK: Expiration

    private func restartTimer() {
        let (old, interval) = state.withLock { state -> (Task<Void, Never>?, TimeInterval?) in
            defer { state.timer = nil }
            return (state.timer, state.refreshesOnExpiration ? state.expirationInterval : nil)
        }
        old?.cancel()
        guard let interval else { return }
        let timer = Task { [weak self, pause] in
            while !Task.isCancelled {
                do { try await pause(interval) } catch { return }
                // A service that can't be reached now is asked again after the next interval; what is here stays.
                guard let fetcher = self else { return }
                try? await fetcher.refresh()
            }
        }
        state.withLock { $0.timer = timer }
    }
}
