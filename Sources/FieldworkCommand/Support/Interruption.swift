import Dispatch
import Foundation

/// Lets Ctrl-C and SIGTERM cancel a piece of work, so that it can tidy up after itself.
enum Interruption {
    static func cancelling<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws
        -> Result
    {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let work = Task {
            // Not before both signals are caught: their default action would end the program before it has tidied up.
            for await _ in started {}
            return try await body()
        }
        let sources = [SIGINT, SIGTERM].map { DispatchSource.makeSignalSource(signal: $0, queue: .global()) }
        // On Linux, Dispatch sets and takes back the actions of these signals itself. Whoever sets them too, or puts
        // back the default at the end, takes them away from the next who listens.
        #if canImport(Darwin)
            for signal in [SIGINT, SIGTERM] { Foundation.signal(signal, SIG_IGN) }
        #endif
        for source in sources { source.setEventHandler { work.cancel() } }
        await withCheckedContinuation { continuation in
            let registered = DispatchGroup()
            for source in sources {
                registered.enter()
                source.setRegistrationHandler { registered.leave() }
                source.resume()
            }
            registered.notify(queue: .global()) { continuation.resume() }
        }
        start.finish()
        defer { for source in sources { source.cancel() } }
        return try await work.value
    }
}
