package import Logging
import Synchronization

/// What the logs say of the request that is being answered: each line that is written meanwhile carries it.
package final class RequestTrace: Sendable {
    @TaskLocal static var current: RequestTrace?

    private struct Known {
        var service: String?
        var person: String?
    }

    /// Tells requests apart, also those of several runs and processes; the client gets it as `X-Request-ID`.
    let id: String
    /// The address of the client.
    let client: String
    private let known = Mutex(Known())

    private static let run = String(UInt32.random(in: 0...UInt32.max), radix: 16)
    private static let count = Atomic(0)

    init(client: String) {
        self.client = client
        id = "\(Self.run)-\(Self.count.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    /// Notes what only the request itself tells.
    func note(service: String?, person: String?) {
        known.withLock { $0 = Known(service: service, person: person) }
    }

    var service: String? { known.withLock(\.service) }
    var person: String? { known.withLock(\.person) }

    /// For a logger, so that its lines name the request.
    package static let metadata = Logger.MetadataProvider {
        guard let trace = current else { return [:] }
        var metadata: Logger.Metadata = ["request": "\(trace.id)", "client": "\(trace.client)"]
        if let service = trace.service { metadata["service"] = "\(service)" }
        if let person = trace.person { metadata["person"] = "\(person)" }
        return metadata
    }
}

/// A request that was answered, for the access log.
package struct AccessRecord: Sendable {
    package var request: String
    package var client: String
    package var person: String?
    package var method: String
    /// Without parameters, which may hold a token.
    package var path: String
    package var service: String?
    package var operation: String
    /// The protocol's error, or the status.
    package var code: Int
    /// nil for an answer that was not sent to its end.
    package var bytes: Int?
    package var milliseconds: Double
}
