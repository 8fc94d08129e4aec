import Foundation
import Logging

/// Takes the time of one attempt and tells of it, to the log and to the interceptors.
struct RequestWatch: Sendable {
    private let address: String
    private let attempt: Int
    private let session: ArcGISURLSession
    private let logger: Logger
    private let start = ContinuousClock.now

    init(_ request: OutgoingRequest, attempt: Int, session: ArcGISURLSession, logger: Logger) {
        self.attempt = attempt
        self.session = session
        self.logger = logger
        // Nobody looks: nothing to prepare.
        let isSeen = !session.interceptors.isEmpty || logger.logLevel <= .debug
        address = isSeen ? Redaction.address(request.url, request.isRead ? request.parameters : []) : ""
    }

    func finish(status: Int? = nil, bytes: Int = 0, failure: String? = nil) async {
        let record = RequestRecord(
            address: address, attempt: attempt, status: status, bytes: bytes, duration: start.duration(to: .now),
            failure: failure)
        logger.debug(
            "\(record.failure.map { "no answer: \($0)" } ?? "answer")",
            metadata: [
                "address": "\(record.address)", "attempt": "\(record.attempt)",
                "status": "\(record.status.map(String.init) ?? "none")", "bytes": "\(record.bytes)",
                "milliseconds": "\(record.duration / .milliseconds(1))",
            ])
        for interceptor in session.interceptors { await interceptor.didFinish(record) }
    }
}
