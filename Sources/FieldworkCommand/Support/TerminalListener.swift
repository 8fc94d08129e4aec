import FieldworkPublishing
import Synchronization

extension PublishingListener {
    /// Shows a publication on the terminal: a bar for each step, and a line for what is worth saying.
    static var terminal: PublishingListener {
        let shown = ShownStep()
        return PublishingListener(
            note: { Terminal.error($0) }, advance: { shown.advance($0, $1) },
            finish: { _, words in shown.finish(words) })
    }
}

/// The bar of the step that is being done.
private final class ShownStep: Sendable {
    private struct State: ~Copyable {
        var bar: ProgressBar?
        var isShown = false
    }

    private let state = Mutex(State())

    func advance(_ step: PublishingListener.Step, _ count: Int) {
        state.withLock { state in
            if !state.isShown { state.bar = Self.bar(step) }
            state.isShown = true
            state.bar?.advance(to: count)
        }
    }

    func finish(_ words: String) {
        state.withLock { state in
            state.isShown = false
            if let bar = state.bar.take() { bar.finish(words) } else { ProgressBar("").finish(words) }
        }
    }

    private static func bar(_ step: PublishingListener.Step) -> ProgressBar {
        switch step {
        case .reading: ProgressBar("Reading")
        case .writing(let total): ProgressBar("Publishing", total: total)
        }
    }
}
