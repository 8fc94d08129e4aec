import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Who may speak to the server: under which names, from pages of which sites.
@Suite("Access", .fewAtATime)
struct AccessTests {
    private static let page = "https://maps.example"
    private static let stranger = "https://evil.example"
    private static let add: KeyValuePairs = ["f": "json", "features": "[{\"attributes\":{\"Name\":\"Oak\"}}]"]
    private static let wholeLayer: KeyValuePairs = ["where": "1=1", "returnCountOnly": "true", "f": "json"]

    private static func configuration(_ access: AccessRules) -> ServerConfiguration {
        ServerConfiguration(port: 0, definitionLifetime: .zero, access: access)
    }

    private static func serve(
        _ access: AccessRules = AccessRules(), _ test: (TestServer) async throws -> Void
    ) async throws {
        try await TemporaryStore.serve(trees: 3, configuration: configuration(access)) { server, _ in
            try await test(server)
        }
    }

    private static func status(_ lines: [String], at server: TestServer) async throws -> String {
        let answer = try await RawSocket.exchange(lines, to: server.running.port)
        return String(answer.split(separator: " ").dropFirst().first ?? "")
    }

    private static func trees(_ server: TestServer) async throws -> Int64? {
        try await server.client.get("Trees/FeatureServer/0/query", wholeLayer).json["count"]?.integerValue
    }

    // MARK: Names

    @Test(
        "The server answers to the names of this machine",
        arguments: ["127.0.0.1", "127.0.0.1:1", "localhost", "LocalHost.", "[::1]:8080", "127.0.0.9"])
    func ownNames(host: String) async throws {
        try await Self.serve { server in
            let status = try await Self.status(
                ["GET /arcgis/rest/info?f=json HTTP/1.1", "Host: \(host)"], at: server)
            #expect(status == "200")
        }
    }

    @Test(
        "A foreign name that leads to this machine opens nothing",
        arguments: [
            "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "192.0.2.1",
        ])
    func foreignNames(host: String) async throws {
        try await Self.serve { server in
            for line in ["GET /arcgis/rest/info?f=json HTTP/1.1", "GET / HTTP/1.1", "GET /health HTTP/1.0"] {
                let status = try await Self.status([line, "Host: \(host)"], at: server)
                #expect(status == "403")
            }
        }
    }

    @Test("The refusal of a name says how it can be allowed")
    func refusedName() async throws {
        try await Self.serve { server in
            let answer = try await server.client.get("/health", headers: [("Host", "gis.example")])
            #expect(answer.status == 403 && answer.errorCode == 403)
            #expect(answer.text.contains("--allow-host gis.example"))
        }
        try await Self.serve(AccessRules(hosts: [try #require(HostName("gis.example"))])) { server in
            let allowed = try await server.client.get("/health", headers: [("Host", "GIS.example:8080")])
            #expect(allowed.status == 200)
            let other = try await server.client.get("/health", headers: [("Host", "www.gis.example")])
            #expect(other.status == 403)
        }
    }

    @Test(
        "A request without a Host, with two, or with one that is no name is refused",
        arguments: [
            ["GET /health HTTP/1.1"], ["GET /health HTTP/1.0"], ["GET /health HTTP/1.1", "Host: "],
            ["GET /health HTTP/1.1", "Host: 127.0.0.1", "Host: 127.0.0.1"],
            ["GET /health HTTP/1.1", "Host: 127.0.0.1", "host: evil.example"],
            ["GET /health HTTP/1.1", "Host: evil.example/127.0.0.1"], ["GET /health HTTP/1.1", "Host: [::1"],
            ["GET /health HTTP/1.1", "Host: 127.0.0.1:99999"], ["GET /health HTTP/1.1", "Host: a@127.0.0.1"],
        ])
    func malformedHost(lines: [String]) async throws {
        try await Self.serve { server in
            let status = try await Self.status(lines, at: server)
            #expect(status == "400")
        }
    }

    @Test("What follows a request with two Hosts on its connection is not answered")
    func smuggled() async throws {
        try await Self.serve { server in
            let answer = try await RawSocket.exchange(
                [
                    "GET /health HTTP/1.1", "Host: 127.0.0.1", "Host: 127.0.0.2", "",
                    "GET /arcgis/rest/info?f=json HTTP/1.1", "Host: 127.0.0.1",
                ], to: server.running.port)
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            #expect(!answer.contains("currentVersion"))
        }
    }

    @Test(
        "TRACE, CONNECT and other methods of HTTP are not allowed",
        arguments: ["TRACE /health", "CONNECT 127.0.0.1:80", "PROPFIND /", "PUT /health"])
    func methods(line: String) async throws {
        try await Self.serve { server in
            let status = try await Self.status(["\(line) HTTP/1.1", "Host: 127.0.0.1"], at: server)
            #expect(status == "405")
            let read = try await Self.status(["GET /health HTTP/1.1", "Host: 127.0.0.1"], at: server)
            #expect(read == "200")
        }
    }

    // MARK: Pages of other sites

    /// How browsers say that a page of another site made them send a request: with their newer fields, or the origin alone.
    private static let strangers: [[(String, String)]] = [
        [("Origin", stranger)], [("Origin", "null")], [("Origin", stranger), ("Sec-Fetch-Site", "cross-site")],
        [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "script")],
        [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Dest", "image")],
        [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")],
        [("Origin", "http://127.0.0.1:1")],
    ]

    @Test("A page of another site can't read", arguments: strangers.indices)
    func strangersReadNothing(index: Int) async throws {
        try await Self.serve { server in
            for path in [
                "Trees/FeatureServer/0/query?where=1%3D1&f=json", "/health", "/metrics", "/arcgis/rest/info?f=json",
            ] {
                let answer = try await server.client.send("GET", path, headers: Self.strangers[index])
                #expect(answer.status == 403 && answer.errorCode == 403, "\(path)")
                #expect(answer.header("Access-Control-Allow-Origin") == nil)
                #expect(answer.header("Vary")?.contains("Origin") == true)
            }
        }
    }

    @Test("A page of another site can't edit, in any form", arguments: strangers.indices)
    func strangersEditNothing(index: Int) async throws {
        try await Self.serve { server in
            let headers = Self.strangers[index]
            let layer = "Trees/FeatureServer/0"
            let answers = [
                try await server.client.post("\(layer)/addFeatures", Self.add, headers: headers),
                try await server.client.post(
                    "\(layer)/deleteFeatures", ["f": "json", "where": "1=1"], headers: headers),
                try await server.client.send(
                    "POST", "\(layer)/applyEdits", headers: headers + [("Content-Type", "text/plain")],
                    body: Array("f=json&deletes=1".utf8)),
                try await server.client.post("Trees/FeatureServer/createReplica", ["f": "json"], headers: headers),
                try await server.client.send(
                    "OPTIONS", "\(layer)/applyEdits",
                    headers: headers + [("Access-Control-Request-Method", "POST")]),
            ]
            for answer in answers {
                #expect(answer.status == 403)
                #expect(answer.header("Access-Control-Allow-Origin") == nil)
            }
            #expect(try await Self.trees(server) == 3)
        }
    }

    @Test("Programs and the server's own pages go on as ever")
    func programs() async throws {
        try await Self.serve { server in
            let own = "http://127.0.0.1:\(server.running.port)"
            let callers: [[(String, String)]] = [
                [], [("User-Agent", "Mozilla/5.0 QGIS/32216")], [("Referer", "http")], [("Origin", own)],
                [("Origin", own), ("Sec-Fetch-Site", "same-origin")], [("Sec-Fetch-Site", "none")],
            ]
            for headers in callers {
                let read = try await server.client.get("Trees/FeatureServer/0/query", Self.wholeLayer, headers: headers)
                #expect(read.errorCode == nil && read.status == 200)
                #expect(read.header("Access-Control-Allow-Origin") == nil)
                let edit = try await server.client.post("Trees/FeatureServer/0/addFeatures", Self.add, headers: headers)
                #expect(try edit.json["addResults"]?.arrayValue?.first?["success"] == true)
            }
            #expect(try await Self.trees(server) == 3 + Int64(callers.count))
        }
    }

    @Test("A link on another site opens a page of the directory")
    func followedLink() async throws {
        try await Self.serve { server in
            let link = [
                ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"),
            ]
            #expect(try await server.client.get("Trees/FeatureServer", ["f": "html"], headers: link).status == 200)
            let sent = try await server.client.post("Trees/FeatureServer/0/addFeatures", Self.add, headers: link)
            #expect(sent.status == 403)
        }
    }

    @Test("A script of a browser that does not say which page asks is not answered")
    func silentScript() async throws {
        let browser = [("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Firefox/60.0")]
        let asked: KeyValuePairs = ["where": "1=1", "f": "json", "callback": "show"]
        try await Self.serve { server in
            let refused = try await server.client.get("Trees/FeatureServer/0/query", asked, headers: browser)
            #expect(refused.errorCode == 403)
            let own = try await server.client.get(
                "Trees/FeatureServer/0/query", asked, headers: browser + [("Sec-Fetch-Site", "same-origin")])
            #expect(own.text.hasPrefix("/**/show({"))
        }
        try await Self.serve(AccessRules(isReadByAll: true)) { server in
            let answer = try await server.client.get("Trees/FeatureServer/0/query", asked, headers: browser)
            #expect(answer.text.hasPrefix("/**/show({"))
        }
    }

    @Test("A site that may read may not edit")
    func reader() async throws {
        let rules = AccessRules(readers: [try #require(SiteOrigin(Self.page))])
        try await Self.serve(rules) { server in
            let layer = "Trees/FeatureServer/0"
            let origin = [("Origin", Self.page), ("Sec-Fetch-Site", "cross-site")]
            let reads = [
                try await server.client.get("\(layer)/query", Self.wholeLayer, headers: origin),
                try await server.client.post("\(layer)/query", Self.wholeLayer, headers: origin),
                try await server.client.get(
                    layer, ["f": "json"],
                    headers: [("Sec-Fetch-Site", "cross-site"), ("Referer", "\(Self.page)/map?x=1")]),
            ]
            for answer in reads { #expect(answer.status == 200 && answer.errorCode == nil) }
            #expect(reads[0].header("Access-Control-Allow-Origin") == Self.page)
            #expect(reads[0].header("Vary") == "Accept-Encoding, Origin")
            let edit = try await server.client.post("\(layer)/addFeatures", Self.add, headers: origin)
            #expect(edit.status == 403 && edit.text.contains("Nothing was changed"))
            #expect(edit.header("Access-Control-Allow-Origin") == Self.page, "the page can show why")
            let other = try await server.client.get(layer, ["f": "json"], headers: [("Origin", Self.stranger)])
            #expect(other.status == 403)
            let port = try await server.client.get(layer, ["f": "json"], headers: [("Origin", "\(Self.page):8443")])
            #expect(port.status == 403)
            #expect(try await Self.trees(server) == 3)
            #expect(try await Self.preflight("query", from: Self.page, server) == 204)
            #expect(try await Self.preflight("applyEdits", from: Self.page, server) == 403)
        }
    }

    private static func preflight(_ operation: String, from origin: String, _ server: TestServer) async throws -> Int {
        let answer = try await server.client.send(
            "OPTIONS", "Trees/FeatureServer/0/\(operation)",
            headers: [("Origin", origin), ("Access-Control-Request-Method", "POST")])
        guard answer.status == 204 else { return answer.status }
        #expect(answer.body.isEmpty)
        #expect(answer.header("Access-Control-Allow-Origin") == origin)
        #expect(answer.header("Vary") == "Origin")
        #expect(answer.header("Access-Control-Allow-Methods") == "GET, POST, OPTIONS, HEAD")
        for name in ["Content-Type", "X-Esri-Authorization", "Authorization", "If-None-Match"] {
            #expect(answer.header("Access-Control-Allow-Headers")?.contains(name) == true)
        }
        return answer.status
    }

    @Test("A site that may edit may read as well")
    func editor() async throws {
        let rules = AccessRules(editors: [try #require(SiteOrigin("https://MAPS.example:443"))])
        try await Self.serve(rules) { server in
            let origin = [("Origin", Self.page), ("Sec-Fetch-Site", "cross-site")]
            let edit = try await server.client.post("Trees/FeatureServer/0/addFeatures", Self.add, headers: origin)
            #expect(try edit.json["addResults"]?.arrayValue?.first?["success"] == true)
            #expect(edit.header("Access-Control-Allow-Origin") == Self.page)
            #expect(try await Self.trees(server) == 4)
            #expect(try await Self.preflight("applyEdits", from: Self.page, server) == 204)
        }
    }

    @Test("What all sites may read, they may still not edit")
    func readByAll() async throws {
        try await Self.serve(AccessRules(isReadByAll: true)) { server in
            for origin in [Self.stranger, "null"] {
                let headers = [("Origin", origin)]
                let read = try await server.client.get("Trees/FeatureServer/0/query", Self.wholeLayer, headers: headers)
                #expect(read.status == 200 && read.header("Access-Control-Allow-Origin") == origin)
                let edit = try await server.client.post("Trees/FeatureServer/0/addFeatures", Self.add, headers: headers)
                #expect(edit.status == 403)
                let metrics = try await server.client.get("/metrics", headers: headers)
                #expect(metrics.status == 403)
            }
            #expect(try await Self.trees(server) == 3)
        }
    }
}
