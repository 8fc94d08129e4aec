import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import FieldworkServer

/// Clients that send slowly or open too many connections.
@Suite("Connections", .fewAtATime)
struct ConnectionTests {
    private static let half = Array("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n".utf8)

    private static func serve(
        _ rules: ConnectionRules = ConnectionRules(), maximum: Int = Limits.connections,
        access: AccessRules = AccessRules(), store: any FeatureStore = ScriptedStore(),
        _ test: (TestServer) async throws -> Void
    ) async throws {
        let configuration = ServerConfiguration(
            port: 0, maximumConnections: maximum, access: access, connectionRules: rules)
        try await TestServer.with(store: store, configuration: configuration, test)
    }

    /// A request on a connection of its own: not one that the client has kept.
    private static func health(_ server: TestServer) async throws -> String {
        try await RawSocket.exchange(["GET /health HTTP/1.1", "Host: 127.0.0.1"], to: server.running.port)
    }

    /// A connection on which a request was answered, and that is idle since.
    private static func idle(_ server: TestServer) async throws -> RawSocket {
        let socket = try await RawSocket.open(server.running.port)
        try await socket.send(half + Array("\r\n".utf8))
        while !socket.text.contains("\"status\""), !socket.isClosed { try await Task.sleep(for: .milliseconds(10)) }
        // The server notes it a moment after the client has the answer.
        try await Task.sleep(for: .milliseconds(50))
        return socket
    }

    @Test("A head that does not come to its end closes the connection, also when a byte comes now and then")
    func slowHead() async throws {
        try await Self.serve(ConnectionRules(headTime: .seconds(3))) { server in
            let silent = try await RawSocket.open(server.running.port)
            let slow = try await RawSocket.open(server.running.port)
            try await slow.send(Self.half)
            while !slow.isClosed {
                try? await slow.send(Array("X: y\r\n".utf8))
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(try await silent.rest().isEmpty)
            // A connection on which a request was answered may be idle; the next head has its time again.
            let kept = try await Self.idle(server)
            try await Task.sleep(for: .seconds(4))
            #expect(!kept.isClosed)
            try await kept.send(Self.half)
            #expect(try await kept.rest().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("A body that comes a byte now and then closes the connection, and changes nothing")
    func slowBody() async throws {
        let rules = ConnectionRules(bodyGrace: .milliseconds(500), bodyBytesPerSecond: 1_000)
        try await Self.serve(rules) { server in
            let socket = try await RawSocket.open(server.running.port)
            let head = [
                "POST /arcgis/rest/services/Trees/FeatureServer/0/applyEdits HTTP/1.1", "Host: 127.0.0.1",
                "Content-Type: application/x-www-form-urlencoded", "Content-Length: 100000", "", "f=json",
            ]
            try await socket.send(Array(head.joined(separator: "\r\n").utf8))
            while !socket.isClosed {
                try? await socket.send([0x61])
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(socket.text.isEmpty)
        }
    }

    @Test("A sender has as long as its bytes earn, and never more than the grace in advance")
    func credit() {
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        var credit = SendingCredit(grace: .seconds(60), bytesPerSecond: 512)
        #expect(credit.timeLeft(at: start + .hours(1)) == .seconds(60), "the server has not asked for bytes")
        credit.awaited(at: start)
        #expect(credit.timeLeft(at: start + .seconds(59)) == .seconds(1))
        #expect(credit.timeLeft(at: start + .seconds(61)) < .zero)
        // A byte every 20 seconds: each earns 2 ms.
        var now = start
        for _ in 0..<2 {
            now = now + .seconds(20)
            credit.received(1, at: now)
            credit.awaited(at: now)
        }
        #expect(credit.timeLeft(at: now) < .seconds(21))
        // A line that was gone comes back with much: it has earned the whole grace, and no more.
        credit.received(1_000_000_000, at: now)
        #expect(credit.timeLeft(at: now + .hours(1)) == .seconds(60))
        // At the lowest rate it goes on for ever.
        for _ in 0..<10_000 {
            credit.awaited(at: now)
            now = now + .seconds(1)
            credit.received(512, at: now)
        }
        #expect(credit.timeLeft(at: now) == .seconds(60))
    }

    @Test("When all connections are taken, the one that has been idle for the longest gives way")
    func idleGivesWay() async throws {
        try await Self.serve(maximum: 8) { server in
            var sockets: [RawSocket] = []
            for _ in 0..<8 { sockets.append(try await Self.idle(server)) }
            #expect(try await Self.health(server).hasPrefix("HTTP/1.1 200 "))
            // It closes; else the test would not end.
            _ = try await sockets[0].rest()
            #expect(sockets.dropFirst().allSatisfy { !$0.isClosed })
        }
    }

    @Test("However many half-open connections one address has, others are answered")
    func manyHalfOpen() async throws {
        try await Self.serve(maximum: 100) { server in
            var sockets: [RawSocket] = []
            for number in 0..<450 {
                let socket = try await RawSocket.open(server.running.port)
                try? await socket.send(Self.half)
                sockets.append(socket)
                if number.isMultiple(of: 50) {
                    #expect(try await Self.health(server).hasPrefix("HTTP/1.1 200 "))
                }
            }
            #expect(try await Self.health(server).hasPrefix("HTTP/1.1 200 "))
            // Those that gave way are closed a moment later.
            while sockets.count(where: { !$0.isClosed }) > 110 { try await Task.sleep(for: .milliseconds(20)) }
            for socket in sockets { try? await socket.close() }
        }
    }

    @Test("Of a client with too many connections the one that has been idle for the longest gives way")
    func perAddress() async throws {
        try await Self.serve(ConnectionRules(perAddress: 3)) { server in
            var sockets: [RawSocket] = []
            for _ in 0..<3 { sockets.append(try await Self.idle(server)) }
            #expect(try await Self.health(server).hasPrefix("HTTP/1.1 200 "))
            _ = try await sockets[0].rest()
            #expect(sockets.dropFirst().allSatisfy { !$0.isClosed })
        }
    }

    @Test("A client whose connections are all at work gets no further one, and loses none")
    func allAtWork() async throws {
        let gate = Gate()
        let store = ScriptedStore { index in
            await gate.wait()
            return index == 0 ? Array("{}".utf8) : nil
        }
        try await Self.serve(ConnectionRules(perAddress: 2), store: store) { server in
            let query = Array(
                "GET /arcgis/rest/services/Trees/FeatureServer/0/query?where=1%3D1&f=json HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
                    .utf8)
            let busy = [try await RawSocket.open(server.running.port), try await RawSocket.open(server.running.port)]
            for socket in busy { try await socket.send(query) }
            while await gate.waiting < 2 { try await Task.sleep(for: .milliseconds(20)) }
            let third = try await RawSocket.open(server.running.port)
            #expect(try await third.rest().isEmpty)
            await gate.open()
            for socket in busy { #expect(try await socket.rest().hasPrefix("HTTP/1.1 200 ")) }
            #expect(try await Self.health(server).hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("The connections of a trusted proxy are not counted as one client's")
    func proxy() async throws {
        let access = AccessRules(proxies: [try #require(NetworkRange("127.0.0.1"))])
        try await Self.serve(ConnectionRules(perAddress: 2), access: access) { server in
            var sockets: [RawSocket] = []
            for _ in 0..<6 {
                sockets.append(try await RawSocket.open(server.running.port))
                try await sockets[sockets.count - 1].send(Self.half)
            }
            #expect(try await Self.health(server).hasPrefix("HTTP/1.1 200 "))
            for socket in sockets {
                try await socket.send(Array("Connection: close\r\n\r\n".utf8))
                #expect(try await socket.rest().hasPrefix("HTTP/1.1 200 "))
            }
        }
    }

    @Test("Connections leave room for the files of the store")
    func openFiles() throws {
        let files = try #require(OpenFiles.raise())
        #expect(OpenFiles.connections(wanted: 1) == 1)
        #expect(OpenFiles.connections(wanted: .max) < files)
    }
}

/// Holds work up until it is opened.
private actor Gate {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    var waiting: Int { waiters.count }

    func wait() async {
        guard !isOpen else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}
