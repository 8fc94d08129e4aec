public import Foundation
import Synchronization

/// What a layer's automatic refresh needs.
struct LayerRefresh: Sendable {
    /// In seconds; nil for never.
    var interval: TimeInterval?
    var timer: Task<Void, Never>?
    /// Waits; tests have their own clock.
    var pause: @Sendable (TimeInterval) async throws -> Void = { try await Task.sleep(for: .seconds($0)) }
}

extension FeatureLayer {
    /// After how many seconds the layer is brought up to date by itself, again and again as long as somebody holds it; nil
    /// or 0 for never, and never more often than once a second. A refresh that fails leaves everything as it is and is tried
    /// again after the next interval. `$refreshDate` tells of each that worked.
    public var refreshInterval: TimeInterval? {
        get { content.withLock { $0.refresh.interval } }
        set {
            content.withLock { content in
                content.refresh.timer?.cancel()
                content.refresh.timer = nil
                content.refresh.interval = newValue.flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
            }
            startRefreshing()
        }
    }

    private func startRefreshing() {
        content.withLock { content in
            guard let interval = content.refresh.interval else { return }
            let pause = content.refresh.pause
            let seconds = min(max(interval, Limits.refreshSeconds), Limits.longestRefreshSeconds)
            content.refresh.timer = Task { [weak self] in
                while !Task.isCancelled {
                    do { try await pause(seconds) } catch { return }
                    guard let layer = self, !Task.isCancelled else { return }
                    if layer.loadStatus == .loaded { try? await layer.refresh() }
                }
            }
        }
    }

    /// Brings the layer up to date: a service's features that `populateFromService` brought are brought again as far as they
    /// were asked for, and the selected features take what the service has now; those that it no longer has leave the
    /// selection. Values that were changed here stay. Queries that the service answers are up to date by themselves. Not
    /// part of the vendor's API.
    ///
    /// Throws `ServiceError` when the service can't be asked; then everything is as it was.
    public func refresh() async throws {
        try await load()
        if let table = table as? ServiceFeatureTable {
            try await table.populateAgain()
            try await refreshSelection(in: table)
        }
        refreshDate = Date.now
    }

    private func refreshSelection(in table: ServiceFeatureTable) async throws {
        let selected = content.withLock { $0.selection }
        let present = Set(try await table.completeAll(selected).map(ObjectIdentifier.init))
        let gone = selected.filter { !present.contains(ObjectIdentifier($0)) }
        unselectFeatures(gone)
    }
}
