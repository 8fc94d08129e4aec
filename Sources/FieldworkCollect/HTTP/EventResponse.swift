import Hummingbird
import NIOCore

/// Writes events to one window as they come, with a comment now and then so that both sides notice when the other is gone.
enum EventResponse {
    static func make(_ events: AsyncStream<EventHub.Event>) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store"],
            body: .init { writer in
                try await writer.write(ByteBuffer(string: "retry: 1000\nevent: alive\ndata: {}\n\n"))
                for await line in lines(events) {
                    try await writer.write(ByteBuffer(string: line))
                }
                try await writer.finish(nil)
            })
    }

    private static func lines(_ events: AsyncStream<EventHub.Event>) -> AsyncStream<String> {
        AsyncStream { continuation in
            let task = Task {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for await event in events { continuation.yield(event.text) }
                    }
                    group.addTask {
                        while !Task.isCancelled {
                            try? await Task.sleep(for: .seconds(Limits.heartbeatSeconds))
                            continuation.yield("event: alive\ndata: {}\n\n")
                        }
                    }
                    // The hub closes its streams when the app stops; the signs of life must not keep this one open.
                    await group.next()
                    group.cancelAll()
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
