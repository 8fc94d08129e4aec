import Dispatch
import Synchronization

/// Gives memory back to the system after requests that took much of it, now and then: the C library keeps what was freed.
final class MemoryCare: Sendable {
    private let release: (@Sendable () -> Void)?
    private let isPlanned = Mutex(false)

    /// - Parameter release: gives back what is free; nil where nothing has to be done.
    init(_ release: (@Sendable () -> Void)?) { self.release = release }

    /// - Parameter bytes: the most that a request held at a time.
    func requestEnded(holding bytes: Int) {
        guard let release, bytes >= Limits.muchMemoryBytes else { return }
        let isFirst = isPlanned.withLock { planned in
            defer { planned = true }
            return !planned
        }
        guard isFirst else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(Limits.memoryReleaseSeconds)) {
            self.isPlanned.withLock { $0 = false }
            release()
        }
    }
}
