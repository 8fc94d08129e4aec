import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("HTTP", .fewAtATime)
struct HTTPBehaviourTests {
    @Test("OPTIONS of a program says what is allowed and has no body")
    func options() async throws {
        try await TestServer.with(store: ScriptedStore()) { server in
            let answer = try await server.client.send("OPTIONS", "Trees/FeatureServer/0")
            #expect(answer.status == 204)
            #expect(answer.body.isEmpty)
            #expect(answer.header("Allow") == "GET, HEAD, POST, OPTIONS")
            #expect(answer.header("Access-Control-Allow-Origin") == nil)
        }
    }

    @Test("HEAD answers as GET would, without the body")
    func head() async throws {
        try await TestServer.with(store: ScriptedStore()) { server in
            let full = try await server.client.get("/arcgis/rest/info")
            let head = try await server.client.send("HEAD", "/arcgis/rest/info")
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            #expect(head.header("Content-Length") == "\(full.body.count)")
            #expect(head.header("ETag") == full.header("ETag"))
        }
    }

    @Test("An answer that the client has is not sent again")
    func notModified() async throws {
        try await TestServer.with(store: ScriptedStore()) { server in
            let first = try await server.client.get("/arcgis/rest/info")
            let tag = try #require(first.header("ETag"))
            let second = try await server.client.get("/arcgis/rest/info", headers: [("If-None-Match", tag)])
            #expect(second.status == 304)
            #expect(second.body.isEmpty)
            let other = try await server.client.get("/arcgis/rest/info", headers: [("If-None-Match", "\"other\"")])
            #expect(other.status == 200)
        }
    }

    @Test("Caches ask before they use an answer; QGIS, which does not ask, keeps none")
    func cacheControl() async throws {
        try await TestServer.with(store: ScriptedStore()) { server in
            let plain = try await server.client.get("/arcgis/rest/info")
            #expect(plain.header("Cache-Control") == "private, no-cache")
            let qgis = try await server.client.get(
                "/arcgis/rest/info", headers: [("User-Agent", "Mozilla/5.0 QGIS/32216")])
            #expect(qgis.header("Cache-Control") == "no-store")
        }
    }

    @Test("Methods that the protocol does not have are refused", arguments: ["PUT", "DELETE", "PATCH"])
    func otherMethods(method: String) async throws {
        try await TestServer.with(store: ScriptedStore()) { server in
            let answer = try await server.client.send(method, "Trees/FeatureServer/0")
            #expect(answer.errorCode == 405 && answer.status == 405)
            #expect(answer.header("Allow") == "GET, HEAD, POST, OPTIONS")
        }
    }

    @Test("A body may be as long as the limit and no longer")
    func bodyLimit() async throws {
        let configuration = ServerConfiguration(port: 0, maximumBodyBytes: 100_000)
        try await TestServer.with(store: ScriptedStore(), configuration: configuration) { server in
            let form = ("Content-Type", "application/x-www-form-urlencoded")
            let fitting = Array("f=json&x=".utf8) + [UInt8](repeating: 0x61, count: 99_991)
            let taken = try await server.client.send("POST", "Trees/FeatureServer/0", headers: [form], body: fitting)
            #expect(taken.errorCode == nil)
            let refused = try await server.client.send(
                "POST", "Trees/FeatureServer/0", headers: [form], body: fitting + [0x61])
            #expect(refused.status == 200)
            #expect(refused.errorCode == 413)
        }
    }

    @Test("A body that does not announce its length is held to the same limit while it is read")
    func bodyWithoutLength() async throws {
        let configuration = ServerConfiguration(port: 0, maximumBodyBytes: 100_000)
        try await TestServer.with(store: ScriptedStore(), configuration: configuration) { server in
            let form = ("Content-Type", "application/x-www-form-urlencoded")
            let fitting = Array("f=json&x=".utf8) + [UInt8](repeating: 0x61, count: 99_991)
            for (body, code) in [(fitting, nil), (fitting + [0x61], 413), (fitting + fitting, 413)] {
                let answer = try await server.client.send(
                    "POST", "Trees/FeatureServer/0", headers: [form], body: body, announcesLength: false)
                #expect(answer.status == 200)
                #expect(answer.errorCode == code, "\(body.count) bytes")
            }
        }
    }

    @Test("An upload that does not announce its length is held to the limit of a body, whatever it says it is")
    func uploadWithoutLength() async throws {
        let configuration = ServerConfiguration(port: 0, maximumBodyBytes: 100_000)
        try await TestServer.with(store: ScriptedStore(), configuration: configuration) { server in
            let body = Array(#"{"x":""#.utf8) + [UInt8](repeating: 0x61, count: 200_000) + Array(#""}"#.utf8)
            for type in ["application/json", "text/plain", "application/x-www-form-urlencoded; charset=utf-8"] {
                let answer = try await server.client.send(
                    "POST", "Trees/FeatureServer/0/query?f=json", headers: [("Content-Type", type)], body: body,
                    announcesLength: false)
                #expect(answer.errorCode == 413, "\(type)")
            }
            // The server goes on.
            #expect(try await server.client.get("Trees/FeatureServer/0?f=json").errorCode == nil)
        }
    }

    @Test("A body of 100 MB is refused without being kept")
    func hugeBody() async throws {
        try await TestServer.with(store: ScriptedStore()) { server in
            let body = Array("f=json&adds=[".utf8) + [UInt8](repeating: 0x20, count: 100_000_000)
            let answer = try await server.client.send(
                "POST", "Trees/FeatureServer/0/applyEdits",
                headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: body)
            #expect(answer.errorCode == 413)
        }
    }

    @Test(
        "The client that waits to be told gets the word to go on",
        .enabled(if: Tool.isInstalled("curl"), "curl is not installed"))
    func expectContinue() async throws {
        try await TestServer.with(store: ScriptedStore()) { server in
            let output = try await Tool.run(
                "curl",
                [
                    "-s", "-v", "-H", "Expect: 100-continue", "--expect100-timeout", "60", "--data", "f=json",
                    "http://127.0.0.1:\(server.running.port)/arcgis/rest/services/Trees/FeatureServer/0",
                ])
            #expect(output.status == 0)
            #expect(output.standardError.contains("100 Continue"))
            #expect(output.text.contains("\"Trees\""))
        }
    }

    @Test(
        "Long answers are compressed for whoever accepts it",
        .enabled(if: Tool.isInstalled("curl"), "curl is not installed"))
    func compression() async throws {
        try await TestServer.with(store: ScriptedStore()) { server in
            let address = "\(server.running.servicesAddress)/Trees/FeatureServer/0?f=json"
            let plain = try await server.client.get("Trees/FeatureServer/0", ["f": "json"])
            #expect(plain.header("Content-Encoding") == nil)
            #expect(plain.body.count > Limits.compressionThreshold)
            let packed = try await server.client.get(
                "Trees/FeatureServer/0", ["f": "json"], headers: [("Accept-Encoding", "gzip")])
            #expect(packed.header("Content-Encoding") == "gzip")
            #expect(packed.body.count < plain.body.count / 2)
            #expect(packed.header("ETag") != plain.header("ETag"))
            let unpacked = try await Tool.run("curl", ["-s", "--compressed", address])
            #expect(unpacked.text == plain.text)
            let short = try await server.client.get("/arcgis/rest/info", headers: [("Accept-Encoding", "gzip")])
            #expect(short.header("Content-Encoding") == nil)
        }
    }

    @Test("A callback wraps the answer, also an error")
    func callback() async throws {
        try await TestServer.with(store: ScriptedStore()) { server in
            let answer = try await server.client.get("/arcgis/rest/info", ["f": "json", "callback": "show"])
            #expect(answer.header("Content-Type")?.hasPrefix("application/javascript") == true)
            #expect(answer.text.hasPrefix("/**/show({"))
            #expect(answer.text.hasSuffix("});"))
            let evil = try await server.client.get("/arcgis/rest/info", ["f": "json", "callback": "alert(1)//"])
            #expect(evil.errorCode == 400)
        }
    }
}
