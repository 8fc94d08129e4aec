import Dispatch
import Foundation

/// Lets Ctrl-C and SIGTERM cancel a piece of work, so that it can tidy up after itself.
enum Interruption {
    static func cancelling<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws
        -> Result
    {
        let work = Task { try await body() }
        let sources = [SIGINT, SIGTERM].map { signal in
            // The default action would end the program before the work has tidied up.
            Foundation.signal(signal, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: signal, queue: .global())
            source.setEventHandler { work.cancel() }
            source.resume()
            return source
        }
        defer {
            for source in sources { source.cancel() }
            for signal in [SIGINT, SIGTERM] { Foundation.signal(signal, SIG_DFL) }
        }
        return try await work.value
    }
}
