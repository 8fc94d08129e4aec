import AsyncHTTPClient
import FieldworkREST
import FieldworkStore
import Foundation
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Streamed answers", .fewAtATime)
struct StreamingTests {
    private struct Trouble: Error {}

    /// Bytes without a pattern: what compresses to nothing would fill no socket.
    private static let piece: [UInt8] = {
        var state: UInt64 = 1
        return (0..<200_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }()

    @Test("An answer in many pieces arrives whole")
    func manyPieces() async throws {
        let store = ScriptedStore { $0 < 50 ? Self.piece : nil }
        try await TestServer.with(store: store) { server in
            let answer = try await server.client.get("Trees/FeatureServer/0/query", ["f": "json"])
            #expect(answer.body.count == 50 * Self.piece.count)
            #expect(answer.header("Content-Length") == nil)
        }
    }

    @Test("A short answer has its length")
    func onePiece() async throws {
        let store = ScriptedStore { $0 == 0 ? Self.piece : nil }
        try await TestServer.with(store: store) { server in
            let answer = try await server.client.get("Trees/FeatureServer/0/query", ["f": "json"])
            #expect(answer.header("Content-Length") == "\(Self.piece.count)")
        }
    }

    @Test("What fails before the first byte is told as the protocol's error", arguments: [0, 1])
    func failsEarly(index: Int) async throws {
        let store = ScriptedStore { if $0 == index { throw Trouble() } else { Self.piece } }
        try await TestServer.with(store: store) { server in
            let answer = try await server.client.get("Trees/FeatureServer/0/query", ["f": "json"])
            #expect(answer.status == 200)
            #expect(answer.errorCode == 500)
            #expect(!answer.text.contains("Trouble"))
        }
    }

    @Test("An answer that can't be finished is not passed off as whole", arguments: ["identity", "gzip"])
    func failsLate(encoding: String) async throws {
        let store = ScriptedStore { if $0 == 10 { throw Trouble() } else { Self.piece } }
        try await TestServer.with(store: store) { server in
            await #expect(throws: (any Error).self) {
                _ = try await server.client.get(
                    "Trees/FeatureServer/0/query", ["f": "json"], headers: [("Accept-Encoding", encoding)])
            }
            // The server goes on.
            let health = try await server.client.get("/health")
            #expect(health.status == 200)
            let metrics = try await server.client.get("/metrics")
            #expect(metrics.text.contains("fieldwork_answers_broken_off_total 1\n"))
        }
    }

    @Test("A reader that takes nothing makes the server hold a few pieces, not the answer")
    func backPressure() async throws {
        let made = Mutex(0)
        let store = ScriptedStore { index in
            made.withLock { $0 = max($0, index + 1) }
            return index < 2_000 ? Self.piece : nil
        }
        let configuration = ServerConfiguration(port: 0, stalledWriteTime: .milliseconds(300))
        try await TestServer.with(store: store, configuration: configuration) { server in
            let request = HTTPClientRequest(url: "\(server.running.servicesAddress)/Trees/FeatureServer/0/query?f=json")
            let response = try await TestClient.http.execute(request, timeout: .seconds(60))
            // Only the head is read. The server gives up on the connection when its patience ends: until then it has
            // made no more than the sockets' buffers take.
            var isBrokenOff = false
            while !isBrokenOff {
                let metrics = try await server.client.get("/metrics")
                isBrokenOff = metrics.text.contains("fieldwork_answers_broken_off_total 1\n")
            }
            #expect(made.withLock { $0 } < 500)
            await #expect(throws: (any Error).self) { for try await _ in response.body {} }
        }
    }

    @Test("Stopping lets the answer that is being sent finish, then closes the store")
    func gracefulStop() async throws {
        let (reached, reach) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let store = ScriptedStore { index in
            if index == 2 {
                reach.finish()
                for await _ in released {}
            }
            return index < 4 ? Self.piece : nil
        }
        let running = try await RunningFeatureServer.start(store: store)
        let client = TestClient(base: running.servicesAddress)
        async let answer = client.get("Trees/FeatureServer/0/query", ["f": "json"])
        for await _ in reached {}
        async let stopped: Void = running.stop()
        #expect(store.closeCount == 0)
        release.finish()
        let whole = try await answer
        #expect(whole.body.count == 4 * Self.piece.count)
        try await stopped
        #expect(store.closeCount == 1)
    }

    @Test("As many ids as the limit says fit into protocol buffers, and not one more", arguments: [0, 1])
    func identifiersInProtocolBuffers(more: Int) async throws {
        let store = ScriptedStore(idCount: FieldworkServer.Limits.idsInProtocolBuffer + more)
        try await TestServer.with(store: store) { server in
            let answer = try await server.client.get(
                "Trees/FeatureServer/0/query", ["returnIdsOnly": "true", "f": "pbf"])
            if more == 0 {
                #expect(answer.body.count > FieldworkServer.Limits.idsInProtocolBuffer)
            } else {
                #expect(answer.errorCode == 400 && answer.text.contains("f=json"))
            }
        }
    }
}
