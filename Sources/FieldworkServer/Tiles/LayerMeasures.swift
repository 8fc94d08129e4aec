import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Synchronization

/// How many features layers have and where they lie, as far as tiles ask for it to thin crowded layers.
///
/// A file knows both at once; a database reads all rows for them, which must not happen for each tile. What was measured is taken again
/// for as long as a hundred times the measuring took: at most a hundredth of the time goes into it, and where it is quick the answer is
/// nearly always new.
final class LayerMeasures: Sendable {
    struct Measure: Sendable, Hashable {
        var total: Int
        /// In the layer's reference; nil where no feature has a place, and where nobody asks since there are few.
        var extent: Envelope?
    }

    /// A layer, as far as somebody may read it.
    private struct Subject: Hashable {
        let layer: LayerAddress
        let restriction: SQLExpression?
    }

    private struct Entry {
        var measure: Measure
        var end: ContinuousClock.Instant
    }

    private struct State {
        var entries: [Subject: Entry] = [:]
        var running: [Subject: Task<Measure, any Error>] = [:]
    }

    private let state = Mutex(State())
    private let store: any FeatureStore

    init(store: any FeatureStore) { self.store = store }

    /// Tiles that ask at the same time wait for one measuring.
    func measure(_ layer: LayerDefinition, of service: ServiceName) async throws -> Measure {
        let subject = Subject(
            layer: LayerAddress(service: service, layerID: layer.id), restriction: layer.restriction)
        let known = state.withLock { state -> (Measure?, Task<Measure, any Error>?) in
            if let entry = state.entries[subject], entry.end > .now { return (entry.measure, nil) }
            return (nil, state.running[subject])
        }
        if let measure = known.0 { return measure }
        // One that was broken off with its client is measured again.
        if let running = known.1, case .success(let measure) = await running.result { return measure }
        let task = Task { [self] in try await read(subject) }
        state.withLock { $0.running[subject] = task }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func read(_ subject: Subject) async throws -> Measure {
        defer { state.withLock { $0.running[subject] = nil } }
        let began = ContinuousClock.now
        let all = FeatureQuery(condition: subject.restriction)
        var measure = Measure(total: try await store.count(all, in: subject.layer))
        if measure.total > FieldworkTiles.Limits.tileFeatures {
            measure.extent = try await store.extent(all, in: subject.layer).extent
        }
        let now = ContinuousClock.now
        let end = now + min(began.duration(to: now) * 100, .seconds(Limits.layerMeasureSeconds))
        state.withLock { state in
            if state.entries.count >= Limits.layerMeasures { state.entries = [:] }
            state.entries[subject] = Entry(measure: measure, end: end)
        }
        return measure
    }
}
