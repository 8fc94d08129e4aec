import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("What an operator sees", .fewAtATime)
struct OperatorTests {
    @Test("Health says that the store answers")
    func healthy() async throws {
        try await TestServer.with(store: ScriptedStore()) { server in
            let answer = try await server.client.get("/health")
            #expect(answer.status == 200)
            let json = try answer.json
            #expect(json["status"] == "ok")
        }
    }

    @Test("Health says that the store does not answer, without telling strangers why")
    func failing() async throws {
        try await TestServer.with(store: ScriptedStore(failure: StoreError(.corrupt, "/secret/path is malformed"))) {
            server in
            let answer = try await server.client.get("/health")
            #expect(answer.status == 503)
            #expect(!answer.text.contains("secret"))
        }
    }

    @Test(
        "What the store refuses becomes the protocol's error",
        arguments: [
            (StoreError.Code.busy, 503), (.closed, 503), (.corrupt, 500), (.failure, 500), (.full, 507),
            (.invalidQuery, 400),
        ])
    func translation(code: StoreError.Code, expected: Int) async throws {
        try await TestServer.with(store: ScriptedStore(failure: StoreError(code, "x"))) { server in
            let answer = try await server.client.get("Trees/FeatureServer", ["f": "json"])
            #expect(answer.status == 200)
            #expect(answer.errorCode == expected)
        }
    }

    @Test("Who is told that the service is busy learns when to come again")
    func busy() async throws {
        try await TestServer.with(store: ScriptedStore(failure: StoreError(.busy, "x"))) { server in
            let answer = try await server.client.get("Trees/FeatureServer", ["f": "json"])
            #expect(answer.header("Retry-After") == "1")
        }
    }

    @Test(
        "What may have been done or not looks like no answer to every client, also to one that only looks at the status"
    )
    func inDoubt() async throws {
        try await TestServer.with(store: ScriptedStore(failure: StoreError(.inDoubt, "x"))) { server in
            let answer = try await server.client.get("Trees/FeatureServer", ["f": "json"])
            #expect(answer.status == 504 && answer.errorCode == 504)
            #expect(answer.header("Retry-After") == nil)
        }
    }

    @Test("Requests, errors, bytes and durations are counted by operation")
    func metrics() async throws {
        try await TestServer.with(store: ScriptedStore()) { server in
            let info = try await server.client.get("/arcgis/rest/info")
            _ = try await server.client.get("Trees/FeatureServer/99", ["f": "json"])
            let text = try await server.client.get("/metrics").text
            #expect(text.contains("fieldwork_requests_total{operation=\"info\"} 1\n"))
            #expect(text.contains("fieldwork_sent_bytes_total{operation=\"info\"} \(info.body.count)\n"))
            #expect(text.contains("fieldwork_errors_total{operation=\"layer\"} 1\n"))
            #expect(text.contains("fieldwork_request_duration_seconds_bucket{operation=\"info\",le=\"+Inf\"} 1\n"))
            #expect(text.contains("fieldwork_requests_in_flight 1\n"))
        }
    }
}
