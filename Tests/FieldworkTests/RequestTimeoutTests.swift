import FieldworkREST
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Waiting for answers", .fewAtATime)
struct RequestTimeoutTests {
    /// The pauses that were made, without making them.
    private final class Pauses: Sendable {
        private let state = Mutex<[Duration]>([])
        var all: [Duration] { state.withLock { $0 } }
        func note(_ duration: Duration) { state.withLock { $0.append(duration) } }
    }

    private static func client(
        _ settings: NetworkSettings = NetworkSettings(), _ pauses: Pauses = Pauses()
    ) -> HTTPServiceClient {
        HTTPServiceClient(pause: { pauses.note($0) }, ownSession: ArcGISURLSession(settings: settings))
    }

    private static func seconds(idle: Double = 60, whole: Double = 600, attempts: Int = 1) -> NetworkSettings {
        var settings = NetworkSettings()
        settings.idleTimeout = .seconds(idle)
        settings.requestTimeout = .seconds(whole)
        settings.readAttempts = attempts
        return settings
    }

    // MARK: Time-outs

    @Test("A server that says nothing is given up")
    func silence() async throws {
        try await LoopbackServer.with({ _ in .silence }) { server in
            let error = await #expect(throws: Fieldwork.ServiceError.self) {
                try await Self.client(Self.seconds(idle: 0.2)).answer(to: ServiceRequest(server.url("/rest")))
            }
            guard case .connectionFailed = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(server.requests.count == 1)
        }
    }

    /// A port where connections are neither taken nor refused: the queue of those that wait there is full.
    private final class FullPort: Sendable {
        let number: UInt16
        private let sockets: [Int32]

        init() throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            var waiting: [Int32] = []
            let isFull = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                    guard bind(listener, place, size) == 0, listen(listener, 0) == 0,
                        getsockname(listener, place, &size) == 0
                    else { return false }
                    for _ in 0..<8 {
                        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
                        waiting.append(client)
                        _ = connect(client, place, size)
                    }
                    return true
                }
            }
            sockets = waiting + [listener]
            number = UInt16(bigEndian: address.sin_port)
            guard isFull else { throw CocoaError(.fileNoSuchFile) }
        }

        deinit { for socket in sockets { close(socket) } }
    }

    @Test("A connection that is not taken is given up, long before an answer would be")
    func noConnection() async throws {
        let port = try FullPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/rest"))
        try await Self.expectNoConnection(url)
        withExtendedLifetime(port) {}
    }

    @Test("A handshake that nobody answers counts as connecting")
    func noHandshake() async throws {
        try await LoopbackServer.with({ _ in .silence }) { server in
            try await Self.expectNoConnection(try #require(URL(string: "https://127.0.0.1:\(server.port)/rest")))
        }
    }

    /// All other patience is longer, and ends with another error.
    private static func expectNoConnection(_ url: URL) async throws {
        var settings = seconds(idle: 300, whole: 300)
        settings.connectTimeout = .milliseconds(300)
        let error = await #expect(throws: Fieldwork.ServiceError.self) {
            try await client(settings).answer(to: ServiceRequest(url))
        }
        guard case .connectionFailed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("An answer that never ends is given up, and its exchange is ended")
    func endless() async throws {
        try await LoopbackServer.with({ _ in .trickle }) { server in
            let error = await #expect(throws: Fieldwork.ServiceError.self) {
                try await Self.client(Self.seconds(whole: 0.3)).answer(to: ServiceRequest(server.url("/rest")))
            }
            #expect(error?.details.contains("took longer") == true)
            // On a busy machine the request may be given up before it arrives.
            #expect(await Self.becomes { server.abandoned == server.requests.count })
        }
    }

    // MARK: Cancellation

    /// Whether something is so soon. A server learns later that its client has gone.
    private static func becomes(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<500 {
            if condition() { return true }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return condition()
    }

    @Test(
        "A query that is cancelled ends its exchange with the service, before the answer and within it",
        arguments: [LoopbackServer.Action.silence, .trickle])
    func cancelledQuery(_ action: LoopbackServer.Action) async throws {
        let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Action = { request in
            guard request.path.hasSuffix("query") else {
                return request.path.hasSuffix("/0")
                    ? .json(
                        #"{"id":0,"name":"T","type":"Table","fields":[{"name":"ID","type":"esriFieldTypeOID"}]}"#)
                    : .json(#"{"layers":[],"tables":[{"id":0,"name":"T"}]}"#)
            }
            return action
        }
        try await LoopbackServer.with(answer) { server in
            let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let geodatabase = ServiceGeodatabase(
                url: try server.url("/rest/services/T/FeatureServer"),
                environment: ServiceEnvironment(directory: folder, client: Self.client()))
            try await geodatabase.load()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let query = Task { _ = try await table.queryFeatures(using: QueryParameters()) }
            #expect(await Self.becomes { server.requests.contains { $0.path.hasSuffix("query") } })
            #expect(server.abandoned == 0)
            query.cancel()
            await #expect(throws: CancellationError.self) { try await query.value }
            #expect(await Self.becomes { server.abandoned == 1 })
        }
    }

    @Test("A wait for the next attempt ends with its task")
    func cancelledPause() async throws {
        try await LoopbackServer.with({ _ in .answer(status: 503, headers: [("Retry-After", "20")], body: Data()) }) {
            server in
            let url = try server.url("/rest")
            let query = Task { _ = try await HTTPServiceClient().answer(to: ServiceRequest(url)) }
            #expect(await Self.becomes { server.requests.count == 1 })
            query.cancel()
            await #expect(throws: CancellationError.self) { try await query.value }
            #expect(server.requests.count == 1)
        }
    }

    // MARK: Attempts

    @Test("A read is tried as often as the settings say, a write once", arguments: [true, false])
    func attempts(isRead: Bool) async throws {
        try await LoopbackServer.with({ _ in .breakOff }) { server in
            let pauses = Pauses()
            await #expect(throws: Fieldwork.ServiceError.self) {
                try await Self.client(Self.seconds(attempts: 4), pauses)
                    .answer(to: ServiceRequest(server.url("/rest"), isRead: isRead))
            }
            #expect(server.requests.count == (isRead ? 4 : 1))
            // Each wait is longer than the one before, whatever chance adds.
            #expect(pauses.all.count == (isRead ? 3 : 0))
            #expect(zip(pauses.all, pauses.all.dropFirst()).allSatisfy { $0 <= $1 })
        }
    }

    @Test("A service that is too busy is asked again when it says", arguments: [429, 502, 503, 504])
    func busy(_ status: Int) async throws {
        let asked = Mutex(0)
        let action: @Sendable (LoopbackServer.Request) -> LoopbackServer.Action = { _ in
            let isFirst = asked.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst { return .answer(status: status, headers: [("Retry-After", "7")], body: Data()) }
            return .json(#"{"name":"here"}"#)
        }
        try await LoopbackServer.with(action) { server in
            let pauses = Pauses()
            let answer = try await Self.client(Self.seconds(attempts: 2), pauses)
                .answer(to: ServiceRequest(server.url("/rest")))
            #expect(answer.status == 200)
            #expect(pauses.all == [.seconds(7)])
        }
    }

    @Test("A service that wants to be left alone for an hour is not waited for")
    func leftAlone() async throws {
        try await LoopbackServer.with({ _ in .answer(status: 503, headers: [("Retry-After", "3600")], body: Data()) }) {
            server in
            let pauses = Pauses()
            let error = await #expect(throws: Fieldwork.ServiceError.self) {
                try await Self.client(Self.seconds(attempts: 3), pauses).answer(to: ServiceRequest(server.url("/rest")))
            }
            #expect(error == .connectionFailed(details: "The service is not available (status 503)."))
            #expect(pauses.all.isEmpty && server.requests.count == 1)
        }
    }

    @Test("The error in the answer of a busy service is the one that is told")
    func busyWithMessage() async throws {
        let body = #"{"error":{"code":429,"message":"Too many requests of this user.","details":[]}}"#
        try await LoopbackServer.with({ _ in .json(body, status: 429) }) { server in
            let root = try server.url("/rest/services/T/FeatureServer")
            let service = FeatureServiceClient(root: root, client: Self.client(Self.seconds(attempts: 2)))
            let error = await #expect(throws: Fieldwork.ServiceError.self) { try await service.definition() }
            #expect(error == .serverFailure(details: "Too many requests of this user. (code 429)", code: 429))
            #expect(server.requests.count == 2)
        }
    }

    @Test(
        "A service that says in the protocol's way that it is busy is asked again for a read", arguments: [true, false])
    func busyInBody(isRead: Bool) async throws {
        let body = #"{"error":{"code":503,"message":"The service is busy.","details":[]}}"#
        let asked = Mutex(0)
        let action: @Sendable (LoopbackServer.Request) -> LoopbackServer.Action = { _ in
            let isFirst = asked.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { return .json(#"{"name":"here"}"#) }
            return .answer(
                status: 200, headers: [("Retry-After", "3"), ("Content-Type", "application/json")],
                body: Data(body.utf8))
        }
        try await LoopbackServer.with(action) { server in
            let pauses = Pauses()
            let answer = try await Self.client(Self.seconds(attempts: 2), pauses)
                .answer(to: ServiceRequest(server.url("/rest"), isRead: isRead))
            #expect(String(decoding: answer.bytes, as: UTF8.self).contains(isRead ? "here" : "busy"))
            #expect(pauses.all == (isRead ? [.seconds(3)] : []))
        }
    }

    @Test("What Retry-After says is seconds or a moment; anything else is nothing")
    func retryAfter() throws {
        let now = try Date("1994-11-06T08:49:30Z", strategy: .iso8601)
        #expect(RetryPolicy.retryAfter("12", now: now) == .seconds(12))
        #expect(RetryPolicy.retryAfter(" 0 ", now: now) == .zero)
        #expect(RetryPolicy.retryAfter("Sun, 06 Nov 1994 08:49:37 GMT", now: now) == .seconds(7))
        #expect(RetryPolicy.retryAfter("Sun, 06 Nov 1994 08:49:00 GMT", now: now) == .zero)
        for text in [nil, "", "soon", "-3", "1.5", "Sun, 06 Nov 1994", "Sun, 06 Foo 1994 08:49:37 GMT"] {
            #expect(RetryPolicy.retryAfter(text, now: now) == nil, "\(text ?? "nil")")
        }
        let endless = try #require(RetryPolicy.retryAfter("99999999999999999999999", now: now))
        #expect(RetryPolicy.pause(after: 1, retryAfter: endless) == nil)
        #expect(RetryPolicy.pause(after: 60, retryAfter: nil, spread: 1) == .seconds(30))
        #expect(RetryPolicy.pause(after: 1, retryAfter: nil, spread: 0.5) == .milliseconds(100))
    }

    // MARK: Compression

    /// `{"name":"packed","text":"tree tree … yew"}`, 246 bytes.
    private static let packed = """
        H4sIAAAAAAAC/6tWykvMTVWyUipITM5OTVHSUSpJrSgB8kuKUlMVhgGRn5itkFicoZCak6uQllmkUJlarlQLAHfbdBH2AAAA
        """

    private static func isPacked(_ request: LoopbackServer.Request) -> Bool {
        request.headers["accept-encoding"] == "gzip"
    }

    @Test("Answers come in gzip where the way is long, and from this machine as they are")
    func gzip() async throws {
        let body = try #require(Data(base64Encoded: Self.packed))
        let action: @Sendable (LoopbackServer.Request) -> LoopbackServer.Action = { request in
            Self.isPacked(request)
                ? .answer(status: 200, headers: [("Content-Encoding", "gzip")], body: body)
                : .json(#"{"name":"plain"}"#)
        }
        try await LoopbackServer.with(action) { server in
            var settings = NetworkSettings()
            for (compression, name) in [(NetworkSettings.Compression.always, "packed"), (.automatic, "plain")] {
                settings.compression = compression
                let answer = try await Self.client(settings).answer(to: ServiceRequest(server.url("/rest")))
                let json = try JSONParser.parse(answer.bytes)
                #expect(json["name"]?.stringValue == name)
            }
            #expect(server.requests.map(Self.isPacked) == [true, false])
        }
    }

    @Test("An answer that can't be unpacked is asked for as it is")
    func brokenGzip() async throws {
        let action: @Sendable (LoopbackServer.Request) -> LoopbackServer.Action = { request in
            Self.isPacked(request)
                ? .answer(status: 200, headers: [("Content-Encoding", "gzip")], body: Data("no gzip at all".utf8))
                : .json(#"{"name":"plain"}"#)
        }
        try await LoopbackServer.with(action) { server in
            var settings = NetworkSettings()
            settings.compression = .always
            let answer = try await Self.client(settings).answer(to: ServiceRequest(server.url("/rest")))
            let json = try JSONParser.parse(answer.bytes)
            #expect(json["name"]?.stringValue == "plain")
            #expect(server.requests.map(Self.isPacked) == [true, false])
        }
    }
}
