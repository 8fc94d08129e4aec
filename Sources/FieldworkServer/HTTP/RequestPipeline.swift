import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore

/// The way of every request: read within its limits, answered, sent, counted. What goes wrong becomes the protocol's error.
struct RequestPipeline: Sendable {
    let access: AccessPolicy
    let router: RequestRouter
    let reader: RequestReader
    let writer: AnswerWriter
    let metrics: ServerMetrics
    let logger: Logger
    /// Takes each request that was answered; nil where nobody wants them.
    var accessLog: (@Sendable (AccessRecord) -> Void)?
    let care: MemoryCare
    let departures: Departures
    /// The memory that the work of all requests may hold.
    let memory: BodyBudget
    let requestTime: Duration
    let requestMemory: Int
    private let threads = LargeRequestThreads()

    init(
        access: AccessPolicy, router: RequestRouter, reader: RequestReader, writer: AnswerWriter,
        metrics: ServerMetrics, logger: Logger, accessLog: (@Sendable (AccessRecord) -> Void)? = nil,
        care: MemoryCare, departures: Departures, memory: BodyBudget, requestTime: Duration, requestMemory: Int
    ) {
        self.access = access
        self.router = router
        self.reader = reader
        self.writer = writer
        self.metrics = metrics
        self.logger = logger
        self.accessLog = accessLog
        self.care = care
        self.departures = departures
        self.memory = memory
        self.requestTime = requestTime
        self.requestMemory = requestMemory
    }

    func respond(_ request: Request, _ response: consuming ResponseWriter, _ channel: any Channel) async throws {
        let started = ContinuousClock.now
        metrics.began()
        var operation = ServerMetrics.Operation.other
        var sent: Int?
        var code = 200
        var trace = RequestTrace(client: channel.remoteAddress?.ipAddress ?? "local")
        defer {
            let duration = started.duration(to: .now)
            metrics.ended(
                operation, isError: code >= 400, isBrokenOff: sent == nil, bytesSent: sent ?? 0, duration: duration)
            accessLog?(
                AccessRecord(
                    request: trace.id, client: trace.client, person: trace.person, method: request.method.rawValue,
                    path: path(of: request), service: trace.service, operation: operation.rawValue, code: code,
                    bytes: sent, milliseconds: duration.inMilliseconds))
        }
        var visit: Visit
        do {
            visit = try access.admit(request.head, from: NetworkAddress(channel.remoteAddress))
        } catch {
            logger.notice(
                "A request was refused", metadata: ["reason": "\(error.reason)", "path": "\(path(of: request))"])
            code = error.answer.status.code
            sent = try await writer.send(
                error.answer, to: request.head, error.visit, by: response, channel: channel)
            // What follows on such a connection may belong to another request.
            if error.endsConnection { try? await channel.close(mode: .output) }
            return
        }
        visit.peer = visit.client ?? channel.remoteAddress?.ipAddress ?? "local"
        // Behind a proxy the client is another than who connects.
        if visit.peer != trace.client { trace = RequestTrace(client: visit.peer) }
        visit.requestID = trace.id
        if request.method == .options {
            try await response.writeResponse(
                HTTPResponse(status: .noContent, headerFields: CrossOrigin.preflight(visit)))
            sent = 0
            return
        }
        if request.head.field(.expect)?.lowercased() == "100-continue" {
            try await response.writeInformationalHead(HTTPResponse(status: .continue))
        }
        let allowance = WorkAllowance(
            time: requestTime, memory: requestMemory,
            client: visit.peer,
            account: memory)
        departures.begin(allowance, on: channel)
        defer { departures.end(allowance, on: channel) }
        var lease = BodyLease(budget: reader.budget)
        defer { care.requestEnded(holding: allowance.mostHeldBytes + lease.count) }
        let answer: Answer
        do {
            let read = try await allowance.waiting { try await readApart(request, visit, &lease) }
            trace.note(service: read.match?.values.service, person: read.principal.name ?? read.editor)
            (operation, answer) = await RequestTrace.$current.withValue(trace) {
                await WorkAllowance.$current.withValue(allowance) {
                    await answerApart(read, isLarge: Self.isLarge(read, lease.count + read.address.utf8.count))
                }
            }
        } catch let error as ServiceError {
            answer = .error(error)
        } catch let error as StoreError {
            // A file of the request found no room, or could not be kept.
            answer = .error(router.error(for: error, operation, at: path(of: request)))
        }
        code = answer.errorCode ?? answer.status.code
        do {
            sent = try await writer.send(
                answer, to: request.head, visit, by: response, channel: channel, allowance: allowance)
        } catch {
            RequestTrace.$current.withValue(trace) {
                logger.info("An answer was broken off", metadata: ["operation": "\(operation)", "error": "\(error)"])
            }
            throw error
        }
        logger.debug(
            "Answered",
            metadata: ["operation": "\(operation)", "code": "\(answer.errorCode ?? 200)", "bytes": "\(sent ?? 0)"])
    }

    /// What the log may say of an address: no parameters, which may hold a token.
    private func path(of request: Request) -> String {
        String((request.head.path ?? "").prefix { $0 != "?" }.prefix(Limits.loggedPathCharacters))
    }

    /// A line or an area that is widened may take seconds, and so may an image, however few bytes the request has.
    private static func isLarge(_ request: ServiceRequest, _ bytes: Int) -> Bool {
        bytes >= Limits.largeRequestBytes || request.match?.route.drawsImages == true
            || request.parameters["distance"].map { !["", "0"].contains($0) } ?? false
    }

    /// Whether a request has, or may turn out to have, a body whose reading is work: one that is compressed may be long.
    private static func hasLargeBody(_ request: Request) -> Bool {
        guard request.method == .post else { return false }
        guard request.head.field(.contentEncoding) == nil, let length = request.head.field(.contentLength) else {
            return true
        }
        return Int(length).map { $0 >= Limits.largeRequestBytes } ?? true
    }

    /// A large body is expanded and taken apart on threads of its own, like what it asks for.
    private func readApart(
        _ request: Request, _ visit: Visit, _ lease: inout BodyLease
    ) async throws -> ServiceRequest {
        guard Self.hasLargeBody(request) else { return try await reader.read(request, visit, lease: &lease) }
        let executor = threads.executor(forReadingFrom: visit.peer)
        defer { withExtendedLifetime(executor) {} }
        return try await withTaskExecutorPreference(executor) {
            try await reader.read(request, visit, lease: &lease)
        }
    }

    /// What a large request asks for is found out on threads of its own: the others are shared by all requests.
    private func answerApart(_ request: ServiceRequest, isLarge: Bool) async -> (ServerMetrics.Operation, Answer) {
        guard isLarge else { return await router.answer(request) }
        let executor = threads.executor(for: WorkAllowance.current)
        defer { withExtendedLifetime(executor) {} }
        return await withTaskExecutorPreference(executor) {
            await router.answer(request)
        }
    }
}

extension Duration {
    fileprivate var inMilliseconds: Double {
        Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15
    }
}
