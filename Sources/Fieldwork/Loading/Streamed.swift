import Foundation
import Synchronization

/// A property that can be watched: `for await value in object.$property` gives the present value and every later one.
@propertyWrapper
public struct Streamed<Value: Sendable>: Sendable {
    private final class Storage: Sendable {
        struct State {
            var value: Value
            var watchers: [UUID: AsyncStream<Value>.Continuation] = [:]
        }

        let state: Mutex<State>

        init(_ value: Value) { state = Mutex(State(value: value)) }

        deinit {
            for watcher in state.withLock({ $0.watchers.values }) { watcher.finish() }
        }
    }

    private let storage: Storage

    /// A property with its first value.
    public init(wrappedValue: Value) { storage = Storage(wrappedValue) }

    /// The present value.
    public var wrappedValue: Value {
        get { storage.state.withLock { $0.value } }
        nonmutating set {
            storage.state.withLock { state in
                state.value = newValue
                for watcher in state.watchers.values { watcher.yield(newValue) }
            }
        }
    }

    /// The present value and every later one.
    public var projectedValue: AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
        let id = UUID()
        storage.state.withLock { state in
            state.watchers[id] = continuation
            continuation.yield(state.value)
        }
        continuation.onTermination = { [weak storage] _ in
            _ = storage?.state.withLock { $0.watchers.removeValue(forKey: id) }
        }
        return stream
    }
}
