import FieldworkREST
import FieldworkStore
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore

/// The way of every request: read within its limits, answered, sent, counted. What goes wrong becomes the protocol's error.
struct RequestPipeline: Sendable {
    let router: RequestRouter
    let reader: RequestReader
    let writer: AnswerWriter
    let metrics: ServerMetrics
    let logger: Logger

    func respond(_ request: Request, _ response: consuming ResponseWriter, _ channel: any Channel) async throws {
        let started = ContinuousClock.now
        metrics.began()
        var operation = ServerMetrics.Operation.other
        var sent: Int?
        var isError = false
        defer {
            metrics.ended(
                operation, isError: isError, isBrokenOff: sent == nil, bytesSent: sent ?? 0,
                duration: started.duration(to: .now))
        }
        if request.method == .options {
            try await response.writeResponse(
                HTTPResponse(status: .noContent, headerFields: CrossOrigin.preflight(request.head)))
            sent = 0
            return
        }
        if request.headers[.expect]?.lowercased() == "100-continue" {
            try await response.writeInformationalHead(HTTPResponse(status: .continue))
        }
        var lease = BodyLease(budget: reader.budget)
        let answer: Answer
        do {
            let read = try await reader.read(request, lease: &lease)
            (operation, answer) = await router.answer(read)
        } catch let error as ServiceError {
            answer = .error(error)
        }
        isError = answer.errorCode != nil
        do {
            sent = try await writer.send(answer, to: request.head, by: response, channel: channel)
        } catch {
            logger.info("An answer was broken off", metadata: ["operation": "\(operation)", "error": "\(error)"])
            throw error
        }
        logger.debug(
            "Answered",
            metadata: ["operation": "\(operation)", "code": "\(answer.errorCode ?? 200)", "bytes": "\(sent ?? 0)"])
    }
}
