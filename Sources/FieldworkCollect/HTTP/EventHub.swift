import Foundation
import Synchronization

/// Tells every open window what has changed. Each event has the next revision; a window that was away gets what it
/// missed, or is told to load everything again.
final class EventHub: Sendable {
    struct Event: Sendable {
        let revision: UInt64
        let name: String
        /// One line of JSON.
        let data: String

        var text: String { "id: \(revision)\nevent: \(name)\ndata: \(data)\n\n" }
    }

    private struct State {
        var revision: UInt64 = 1
        var kept: [Event] = []
        var windows: [UUID: AsyncStream<Event>.Continuation] = [:]
    }

    private let state = Mutex(State())

    var revision: UInt64 { state.withLock { $0.revision } }

    func send(_ name: String, _ body: some Encodable) {
        guard let bytes = try? Self.encoder.encode(body) else { return }
        let data = String(decoding: bytes, as: UTF8.self)
        let windows = state.withLock { state in
            state.revision += 1
            let event = Event(revision: state.revision, name: name, data: data)
            state.kept.append(event)
            if state.kept.count > Limits.keptEvents { state.kept.removeFirst() }
            return state.windows.values.map { ($0, event) }
        }
        for (window, event) in windows { window.yield(event) }
    }

    /// The events after `revision`, then those to come; nil when too many windows listen.
    func events(after revision: UInt64?) -> AsyncStream<Event>? {
        let id = UUID()
        let (stream, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(Limits.keptEvents))
        let missed: [Event]? = state.withLock { state in
            guard state.windows.count < Limits.windows else { return nil }
            state.windows[id] = continuation
            guard let revision, revision != state.revision else { return [] }
            let oldest = state.kept.first?.revision ?? state.revision + 1
            if revision < state.revision, revision + 1 >= oldest {
                return state.kept.filter { $0.revision > revision }
            }
            return [Event(revision: state.revision, name: "reset", data: "{}")]
        }
        guard let missed else { return nil }
        for event in missed { continuation.yield(event) }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.windows.removeValue(forKey: id) }
        }
        return stream
    }

    /// Ends every stream, so that the server can stop.
    func close() {
        let windows = state.withLock { state in
            let windows = Array(state.windows.values)
            state.windows = [:]
            return windows
        }
        for window in windows { window.finish() }
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
