import FieldworkREST
import FieldworkStore
import Synchronization

/// Tells how far a copy is, a bar a service and a line for what is done.
final class CopyReport: Sendable {
    private struct State: ~Copyable {
        var bar: ProgressBar?
        var rows = 0
    }

    private let state = Mutex(State())

    func tell(_ service: ServiceName, _ step: StoreCopier.Step) {
        state.withLock { state in
            switch step {
            case .comparing: Terminal.error("\(service.path) is there already; comparing")
            case .wasThere: Terminal.error("\(service.path) was copied before")
            case .copying(let part):
                if state.bar == nil {
                    state.bar = ProgressBar("Copying \(service.path)")
                    state.rows = 0
                }
                state.rows += part.rows
                state.bar?.advance(to: state.rows)
            case .copied(let checksums):
                let rows = checksums.values.reduce(0) { $0 + $1.rows }
                state.bar.take()?.finish("Copied \(service.path): \(checksums.count) tables, \(rows) rows, compared")
            }
        }
    }
}
