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
        /// In the layer's reference; nil where no feature has a geometry, and for a layer with too few features to be thinned.
        var extent: Envelope?
    }

    /// A layer with the condition that limits what a person may read of it.
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

        /// - Parameter begin: starts the measuring where nobody does it already.
        mutating func answer(_ subject: Subject, _ begin: () -> Task<Measure, any Error>) -> Answer {
            if let entry = entries[subject], entry.end > .now { return .known(entry.measure) }
            if let task = running[subject] { return .running(task) }
            let task = begin()
            running[subject] = task
            return .begun(task)
        }
    }

    private enum Answer {
        case known(Measure)
        case running(Task<Measure, any Error>)
        case begun(Task<Measure, any Error>)
    }

    private let state = Mutex(State())
    private let store: any FeatureStore

    init(store: any FeatureStore) { self.store = store }

    /// Tiles that ask at the same time wait for one measuring.
    func measure(_ layer: LayerDefinition, of service: ServiceName) async throws -> Measure {
        let subject = Subject(
            layer: LayerAddress(service: service, layerID: layer.id), restriction: layer.restriction)
        while true {
            let answer = state.withLock { state in
                state.answer(subject) { Task<Measure, any Error> { try await self.read(subject) } }
            }
            switch answer {
            case .known(let measure): return measure
            case .begun(let task):
                return try await withTaskCancellationHandler {
                    try await task.value
                } onCancel: {
                    task.cancel()
                }
            case .running(let task):
                // One that was broken off with its client is begun again.
                if case .success(let measure) = await task.result { return measure }
            }
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
