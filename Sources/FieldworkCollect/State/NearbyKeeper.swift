import Foundation

/// What is in view, looked for once: a page that can't wait goes without it, and the next request for the same view gets what
/// was found meanwhile.
actor NearbyKeeper {
    /// What was looked for: the same again is the same answer.
    struct Key: Sendable, Hashable {
        let layer: Int
        /// Of the layer's features as they were shown last; another one after edits.
        let generation: Int
        let unsent: Int
        /// nil for all of the layer.
        let view: DeviceSettings.View?
    }

    private struct Search {
        let key: Key
        let task: Task<FoundFeatures, any Error>
        var finished: ContinuousClock.Instant?
        /// A page went without it: only then is what was found kept for the next one.
        var isMissed = false
    }

    private var search: Search?

    /// What `find` finds; nil when that takes longer than the patience. Throws what it throws.
    func found(
        _ key: Key, patience: Duration?, find: @escaping @Sendable () async throws -> FoundFeatures
    ) async throws -> FoundFeatures? {
        let task = task(key, find)
        do {
            return try await answer(of: task, key, patience)
        } catch {
            // The next request looks anew, however soon it comes.
            if search?.task == task { search = nil }
            throw error
        }
    }

    private func answer(
        of task: Task<FoundFeatures, any Error>, _ key: Key, _ patience: Duration?
    ) async throws -> FoundFeatures? {
        guard let patience else { return try await task.value }
        let (answers, end) = AsyncThrowingStream.makeStream(of: FoundFeatures?.self)
        let wait = Task {
            do {
                end.yield(try await task.value)
            } catch {
                end.finish(throwing: error)
            }
        }
        let timer = Task {
            try? await Task.sleep(for: patience)
            end.yield(nil)
        }
        defer {
            wait.cancel()
            timer.cancel()
        }
        for try await answer in answers {
            if answer == nil, search?.key == key { search?.isMissed = true }
            return answer
        }
        return nil
    }

    private func task(
        _ key: Key, _ find: @escaping @Sendable () async throws -> FoundFeatures
    ) -> Task<FoundFeatures, any Error> {
        if let search, search.key == key, isFresh(search) {
            if search.finished != nil { self.search = nil }
            return search.task
        }
        let task = Task { try await find() }
        search = Search(key: key, task: task)
        Task {
            let isFound = (try? await task.value) != nil
            finish(key, isFound: isFound)
        }
        return task
    }

    private func isFresh(_ search: Search) -> Bool {
        guard let finished = search.finished else { return true }
        return search.isMissed && finished.duration(to: .now) < .seconds(Limits.nearbySeconds)
    }

    /// A failure isn't kept: the next request tries again.
    private func finish(_ key: Key, isFound: Bool) {
        guard search?.key == key else { return }
        if isFound { search?.finished = .now } else { search = nil }
    }
}
