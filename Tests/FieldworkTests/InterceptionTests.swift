import FieldworkREST
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Requests on their way", .fewAtATime)
struct InterceptionTests {
    private final class Witness: RequestInterceptor {
        private let state = Mutex<[RequestRecord]>([])
        let headers: [(name: String, value: String)]
        let token: String?

        init(headers: [(name: String, value: String)] = [], token: String? = nil) {
            self.headers = headers
            self.token = token
        }

        var records: [RequestRecord] { state.withLock { $0 } }

        func willSend(_ request: inout OutgoingRequest) async throws {
            request.headers += headers
            if let token { request.parameters.append(("token", token)) }
        }

        func didFinish(_ record: RequestRecord) async { state.withLock { $0.append(record) } }
    }

    private struct Refusal: Error {}

    private final class Gatekeeper: RequestInterceptor {
        func willSend(_ request: inout OutgoingRequest) async throws { throw Refusal() }
    }

    private static func client(
        _ settings: NetworkSettings = NetworkSettings(), _ interceptors: [any RequestInterceptor] = []
    ) -> HTTPServiceClient {
        HTTPServiceClient(
            pause: { _ in }, ownSession: ArcGISURLSession(settings: settings, interceptors: interceptors))
    }

    // MARK: Interceptors

    @Test("An interceptor changes what is sent and sees what came of it, without its secrets")
    func interception() async throws {
        try await LoopbackServer.with({ _ in .json(#"{"name":"here"}"#) }) { server in
            let witness = Witness(headers: [("Authorization", "Bearer s3cret")], token: "t0ken")
            let client = Self.client(NetworkSettings(), [witness])
            let answer = try await client.answer(to: ServiceRequest(server.url("/rest"), [("f", "json")]))
            let request = try #require(server.requests.first)
            #expect(request.headers["authorization"] == "Bearer s3cret")
            #expect(request.parameters == ["f": "json", "token": "t0ken"])
            let record = try #require(witness.records.first)
            #expect(record.status == 200 && record.attempt == 1 && record.failure == nil)
            #expect(record.bytes == answer.bytes.count)
            #expect(record.address.hasSuffix("/rest?f=json&token=***"))
            // What a request writes is not told at all.
            let write = ServiceRequest(try server.url("/rest/addFeatures"), [("features", "[]")], isRead: false)
            _ = try await client.answer(to: write)
            #expect(server.requests.last?.parameters["features"] == "[]")
            #expect(witness.records.last?.address.hasSuffix("/rest/addFeatures") == true)
        }
    }

    @Test("What an interceptor throws is thrown, and nothing is sent")
    func refusal() async throws {
        try await LoopbackServer.with({ _ in .json("{}") }) { server in
            let witness = Witness()
            let client = Self.client(NetworkSettings(), [Gatekeeper(), witness])
            await #expect(throws: Refusal.self) {
                try await client.answer(to: ServiceRequest(server.url("/rest")))
            }
            #expect(server.requests.isEmpty && witness.records.isEmpty)
        }
    }

    @Test("Downloads go past the interceptors as well, and go on where they broke")
    func download() async throws {
        let whole = Data("0123456789".utf8)
        let action: @Sendable (LoopbackServer.Request) -> LoopbackServer.Action = { request in
            guard request.headers["authorization"] == "Bearer s3cret" else { return .json("{}", status: 403) }
            guard let range = request.headers["range"] else { return .answer(status: 200, headers: [], body: whole) }
            let start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
            return .answer(status: 206, headers: [], body: Data(whole[start...]))
        }
        try await LoopbackServer.with(action) { server in
            let witness = Witness(headers: [("Authorization", "Bearer s3cret")])
            let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data("0123".utf8).write(to: file)
            try await Self.client(NetworkSettings(), [witness])
                .download(server.url("/file"), to: file) { _, _ in }
            #expect(try Data(contentsOf: file) == whole)
            #expect(witness.records.filter { $0.failure == nil }.map(\.bytes) == [6])
        }
    }

    @Test("An error of the protocol that comes in place of a file is thrown with its code, and no file of it is left")
    func downloadOfAnError() async throws {
        let refusal = #"{"error":{"code":498,"message":"Invalid token.","details":[]}}"#
        try await LoopbackServer.with({ _ in .json(refusal) }) { server in
            let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            let error = await #expect(throws: Fieldwork.ServiceError.self) {
                try await Self.client(NetworkSettings(), []).download(server.url("/file"), to: file) { _, _ in }
            }
            #expect(error == .serverFailure(details: "Invalid token. (code 498)", code: 498))
            let left = try Data(contentsOf: file)
            #expect(left.isEmpty)
        }
    }

    @Test("A JSON file that looks like an error is a file when the service sends it as one")
    func downloadOfAFileLikeAnError() async throws {
        let content = Data(#"{"error":{"code":498,"message":"An example."}}"#.utf8)
        let action: @Sendable (LoopbackServer.Request) -> LoopbackServer.Action = { _ in
            .answer(
                status: 200, headers: [("Content-Disposition", #"attachment; filename="a.json""#)], body: content)
        }
        try await LoopbackServer.with(action) { server in
            let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            try await Self.client(NetworkSettings(), []).download(server.url("/file"), to: file) { _, _ in }
            #expect(try Data(contentsOf: file) == content)
        }
    }

    @Test("A session gives the bytes of an address, over its own way")
    func sessionData() async throws {
        try await LoopbackServer.with({ _ in .json(#"{"a":1}"#) }) { server in
            let witness = Witness()
            let session = ArcGISURLSession(interceptors: [witness])
            let (data, response) = try await session.data(from: server.url("/any?x=1"))
            #expect(data == Data(#"{"a":1}"#.utf8))
            #expect(response.statusCode == 200 && response.mimeType == "application/json")
            #expect(server.requests.map(\.target) == ["/any?x=1"])
            // A machine that is too busy to connect in time connects again.
            #expect(witness.records.compactMap(\.status) == [200])
        }
    }

    // MARK: Proxies

    /// A proxy that wants a password or none, before a service that is on no other way.
    private static func withProxy(
        password: String?, _ test: (LoopbackServer, LoopbackServer) async throws -> Void
    ) async throws {
        try await LoopbackServer.with({ _ in .json(#"{"name":"behind"}"#) }) { service in
            let wanted = password.map { "Basic \(Data("crew:\($0)".utf8).base64EncodedString())" }
            let port = service.port
            let action: @Sendable (LoopbackServer.Request) -> LoopbackServer.Action = { request in
                guard request.method == "CONNECT" else { return .json("{}", status: 405) }
                guard request.headers["proxy-authorization"] == wanted else { return .json("{}", status: 407) }
                return .tunnel(port: port)
            }
            try await LoopbackServer.with(action) { proxy in try await test(proxy, service) }
        }
    }

    @Test("Requests go through the proxy, with its password where it wants one", arguments: [nil, "s3cret"])
    func proxy(_ password: String?) async throws {
        try await Self.withProxy(password: password) { proxy, service in
            var settings = NetworkSettings()
            settings.proxy = .init(
                host: "127.0.0.1", port: Int(proxy.port), username: password == nil ? nil : "crew", password: password)
            // The name leads nowhere: only the proxy knows the way.
            let url = try #require(URL(string: "http://nobody.invalid/rest"))
            let answer = try await Self.client(settings).answer(to: ServiceRequest(url, [("f", "json")]))
            #expect(String(decoding: answer.bytes, as: UTF8.self) == #"{"name":"behind"}"#)
            #expect(proxy.requests.map(\.target) == ["nobody.invalid:80"])
            #expect(service.requests.map(\.target) == ["/rest?f=json"])
            // The password is the proxy's alone.
            #expect(service.requests.first?.headers["proxy-authorization"] == nil)
        }
    }

    @Test("A proxy that refuses the password is no answer, and the error does not tell the password")
    func wrongPassword() async throws {
        try await Self.withProxy(password: "s3cret") { _, service in
            try await Self.withProxy(password: "other") { proxy, _ in
                var settings = NetworkSettings()
                settings.proxy = .init(host: "127.0.0.1", port: Int(proxy.port), username: "crew", password: "s3cret")
                let url = try #require(URL(string: "http://nobody.invalid/rest"))
                let error = await #expect(throws: Fieldwork.ServiceError.self) {
                    try await Self.client(settings).answer(to: ServiceRequest(url))
                }
                #expect(error?.details.contains("s3cret") == false && service.requests.isEmpty)
            }
        }
    }

    @Test("Hosts that are excepted are reached without the proxy")
    func proxyExceptions() async throws {
        try await Self.withProxy(password: nil) { proxy, service in
            var settings = NetworkSettings()
            settings.proxy = .init(host: "127.0.0.1", port: Int(proxy.port), exceptions: ["127.0.0.1"])
            _ = try await Self.client(settings).answer(to: ServiceRequest(service.url("/rest")))
            #expect(proxy.requests.isEmpty && service.requests.count == 1)
        }
        func serves(_ exceptions: String..., host: String) -> Bool {
            NetworkSettings.Proxy(host: "proxy", port: 1, exceptions: exceptions).serves(host)
        }
        #expect(!serves("Maps.Example.org", host: "maps.example.org"))
        #expect(serves("example.org", host: "maps.example.org"))
        #expect(!serves(".example.org", host: "maps.example.org"))
        #expect(!serves("*.example.org", host: "a.maps.example.org"))
        #expect(serves("*.example.org", host: "badexample.org"))
        #expect(!serves("*", host: "anything"))
        #expect(serves("a", "b", host: "c"))
    }
}
