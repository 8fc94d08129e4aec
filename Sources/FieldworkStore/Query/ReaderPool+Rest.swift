import Dispatch
import Synchronization

/// Readers that nobody needs for a while keep no memory.
extension ReaderPool {
    /// - Returns: the uses until now, when a look at whether there was another is to be planned.
    func planRest(_ state: inout State) -> Int? {
        guard !state.isRestPlanned, !state.isClosed, state.idle.count == state.made.count else { return nil }
        state.isRestPlanned = true
        return state.uses
    }

    /// What is not read for a while keeps no pages in memory: others may need it.
    func lookForRest(after uses: Int) {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + rest.dispatched) { [weak self] in
            guard let self else { return }
            let (resting, plan) = state.withLock { state -> ([Reader], Int?) in
                state.isRestPlanned = false
                guard state.uses == uses else { return ([], planRest(&state)) }
                return (state.isClosed ? [] : state.made, nil)
            }
            if let plan { lookForRest(after: plan) }
            guard !resting.isEmpty else { return }
            Task { for reader in resting { await reader.releaseMemory() } }
        }
    }
}
