import FieldworkREST
import FieldworkStore
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Limits of a request", .everyStore, .fewAtATime)
struct RequestLimitTests {
    private static let query = "Trees/FeatureServer/0/query"
    /// What has not happened by then does not happen.
    private static let patience = Duration.seconds(300)

    /// Clients that ask for endless queries: two beside the other tests, fourteen with `make attack`.
    private static let clients = ProcessInfo.processInfo.environment["FIELDWORK_ATTACK"] == "full" ? 14 : 2

    private static func configuration(
        time: Duration = .seconds(600), memory: Int = FieldworkServer.Limits.requestMemoryBytes
    ) -> ServerConfiguration {
        ServerConfiguration(port: 0, definitionLifetime: .zero, requestTime: time, requestMemory: memory)
    }

    /// A request of HTTP for a slow query.
    private static func slowRequest(_ parameters: String = "returnCountOnly=true") -> [UInt8] {
        request(query, "f=json&\(parameters)&\(SlowQueries.endless)")
    }

    /// The same for a replica of what a slow query finds.
    private static func slowReplica() -> [UInt8] {
        request("Trees/FeatureServer/createReplica", SlowQueries.endlessReplica)
    }

    private static func request(_ path: String, _ body: String) -> [UInt8] {
        Array(
            """
            POST /arcgis/rest/services/\(path) HTTP/1.1\r
            Host: 127.0.0.1\r
            Content-Type: application/x-www-form-urlencoded\r
            Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """.utf8)
    }

    /// One of the server's counts; 0 when it has counted nothing of that kind.
    private static func metric(_ name: String, _ server: TestServer) async throws -> Int {
        let text = try await server.client.get("/metrics").text
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
    }

    /// Waits until so many requests are being answered besides the one that asks.
    private static func waitForRequests(_ count: Int, on server: TestServer, within time: Duration) async throws -> Bool
    {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end {
            if try await metric("fieldwork_requests_in_flight", server) == count + 1 { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    @Test("A query that runs past its time is refused with the limit that it met, and its reader serves others")
    func time() async throws {
        try await SlowQueries.serve(configuration: Self.configuration(time: .milliseconds(900))) { server, _ in
            for kind in ["returnCountOnly", "returnGeometry", "returnExtentOnly", "returnIdsOnly"] {
                let answer = try await server.client.post(
                    Self.query, ["f": "json", kind: "true", "where": SlowQueries.condition(900)])
                #expect(answer.status == 200)
                #expect(answer.errorCode == 413, "\(kind): \(answer.text)")
                #expect(answer.text.contains("more than 900 milliseconds of work"))
                #expect(answer.text.contains("resultRecordCount"))
            }
            // On a busy machine even this may take longer than the limit, but not each time.
            var next = try await server.client.get(Self.query, ["f": "json", "objectIds": "1"])
            for _ in 0..<100 where next.errorCode == 413 {
                next = try await server.client.get(Self.query, ["f": "json", "objectIds": "1"])
            }
            #expect(next.errorCode == nil, "\(next.text)")
        }
    }

    @Test("The work of a client that leaves ends at once, whether it is under way or waits for its turn")
    func leaving() async throws { try await expectEnd(of: Self.slowRequest(), operation: "query") }

    @Test("So does a replica that is read for it, which is not kept")
    func leavingReplica() async throws { try await expectEnd(of: Self.slowReplica(), operation: "replicas") }

    private func expectEnd(of request: [UInt8], operation: String) async throws {
        try await SlowQueries.serve(configuration: Self.configuration()) { server, store in
            let sockets = try await (0..<Self.clients).asyncMap { _ in
                try await RawSocket.begin(request, to: server.running.port)
            }
            #expect(try await Self.waitForRequests(Self.clients, on: server, within: Self.patience))
            for socket in sockets { try await socket.close() }
            #expect(try await Self.waitForRequests(0, on: server, within: Self.patience))
            // Each was ended: one that is done whole is no error.
            let errors = try await Self.metric(#"fieldwork_errors_total{operation="\#(operation)"}"#, server)
            #expect(errors == Self.clients)
            #expect(try await store.replicas(of: TreesService.name).isEmpty)
        }
    }

    @Test("A replica that takes longer than a request may is refused, and the answer says that a job may take longer")
    func longReplica() async throws {
        try await SlowQueries.serve(configuration: Self.configuration(time: .milliseconds(900))) { server, _ in
            let answer = try await server.client.send(
                "POST", "Trees/FeatureServer/createReplica",
                headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array(SlowQueries.endlessReplica.utf8))
            #expect(answer.errorCode == 413, "\(answer.text.prefix(300))")
            #expect(answer.text.contains("async=true"))
        }
    }

    @Test("While clients ask endless queries, another's single features and edits do not wait for their end")
    func fairShare() async throws {
        try await SlowQueries.serve(configuration: Self.configuration()) { server, _ in
            let kinds =
                ["returnCountOnly=true", "returnGeometry=true", "returnIdsOnly=true", "returnExtentOnly=true"]
                .map(Self.slowRequest) + [Self.slowReplica()]
            var sockets: [RawSocket] = []
            var slowest = (read: Duration.zero, edit: Duration.zero)
            for number in 1...10 {
                // As many as ever: one may have ended on a busy machine.
                while try await Self.metric("fieldwork_requests_in_flight", server) < Self.clients + 1 {
                    let request = kinds[sockets.count % kinds.count]
                    sockets.append(try await RawSocket.begin(request, to: server.running.port))
                    try await Task.sleep(for: .milliseconds(300))
                }
                let began = ContinuousClock.now
                let read = try await server.client.get(
                    Self.query, ["f": "json", "objectIds": "\(number)", "outFields": "*"])
                #expect(read.text.contains("\"OBJECTID\":\(number),"), "\(read.text)")
                let middle = ContinuousClock.now
                let edit = try await server.client.post(
                    "Trees/FeatureServer/0/updateFeatures",
                    ["f": "json", "features": "[{\"attributes\":{\"OBJECTID\":\(number),\"Stems\":7}}]"])
                #expect(edit.text.contains("\"success\":true"))
                slowest.read = max(slowest.read, began.duration(to: middle))
                slowest.edit = max(slowest.edit, middle.duration(to: .now))
            }
            print(
                "Beside \(Self.clients) endless queries: a read took \(slowest.read) at most, an edit \(slowest.edit).")
            // If each read and each edit waited until an endless query ended, twenty would have ended.
            let ended = try await Self.metric(#"fieldwork_requests_total{operation="query"}"#, server) - 10
            #expect(ended < 10)
            for socket in sockets { try await socket.close() }
        }
    }

    @Test("Edits that take too long change nothing, and say so")
    func longEdit() async throws {
        try await SlowQueries.serve(configuration: Self.configuration(time: .milliseconds(200))) { server, store in
            let before = try await store.generation(of: TreesService.name)
            let answer = try await server.client.post(
                "Trees/FeatureServer/0/calculate",
                [
                    "f": "json", "where": "1=1",
                    "calcExpression": #"[{"field":"Stems","sqlExpression":"Stems + 1"}]"#,
                ])
            #expect(answer.errorCode == 413, "\(answer.text)")
            #expect(answer.text.contains("Nothing was changed"))
            let records = try await store.records(
                FeatureQuery(objectIDs: [1, 10_000, 20_000]), in: LayerAddress(service: TreesService.name, layerID: 0))
            #expect(records.map { $0.attributes["Stems"] } == [.integer(1), .integer(1), .integer(1)])
            #expect(try await store.generation(of: TreesService.name) == before)
        }
    }

    @Test("An edit whose client leaves is done whole, and the same again is recognised")
    func leavingEditor() async throws {
        let adds = (0..<2_000).map {
            "{\"attributes\":{\"GlobalID\":\"{\(UUID().uuidString)}\",\"Name\":\"Tree \($0)\"},\"geometry\":{\"x\":1,\"y\":2}}"
        }
        let edits = [("f", "json"), ("useGlobalIds", "true"), ("adds", "[\(adds.joined(separator: ","))]")]
        let body = edits.map { "\($0)=\(TestClient.escape($1))" }.joined(separator: "&")
        try await SlowQueries.serve(trees: 0, configuration: Self.configuration()) { server, _ in
            let head =
                "POST /arcgis/rest/services/Trees/FeatureServer/0/applyEdits HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            try await RawSocket.send(Array((head + body).utf8), to: server.running.port)
            let again = try await server.client.send(
                "POST", "Trees/FeatureServer/0/applyEdits",
                headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Array(body.utf8))
            #expect(again.status == 200)
            let count = try await server.client.get(
                Self.query, ["f": "json", "where": "1=1", "returnCountOnly": "true"])
            #expect(count.text == #"{"count":2000}"#)
        }
    }

    @Test("An answer that would take more memory than a request may have is refused with the limit")
    func memory() async throws {
        try await SlowQueries.serve(configuration: Self.configuration(memory: 1_048_576)) { server, _ in
            let large = try await server.client.get(Self.query, ["f": "pjson", "where": "1=1", "outFields": "*"])
            #expect(large.errorCode == 413, "\(large.text.prefix(200))")
            #expect(large.text.contains("more than 1 MB of memory"))
            let small = try await server.client.get(
                Self.query, ["f": "pjson", "where": "1=1", "resultRecordCount": "100"])
            #expect(small.errorCode == nil)
        }
    }

    @Test("What identify and find hold as a whole counts as the memory of their request")
    func results() async throws {
        try await SlowQueries.serve(trees: 2_000, configuration: Self.configuration(memory: 131_072)) { server, _ in
            for (text, isRefused) in [("Tree", true), ("Tree 1999", false)] {
                let found = try await server.client.get(
                    "Trees/MapServer/find", ["f": "json", "layers": "0", "searchText": text])
                #expect(found.errorCode == (isRefused ? 413 : nil), "\(found.text.prefix(200))")
                #expect(isRefused || found.text.contains("Tree 1999"))
            }
            for (tolerance, isRefused) in [("200", true), ("1", false)] {
                let found = try await server.client.get(
                    "Trees/MapServer/identify",
                    [
                        "f": "json", "layers": "all", "geometryType": "esriGeometryPoint", "mapExtent": "0,0,200,10",
                        "imageDisplay": "200,10,96", "geometry": "100,5", "tolerance": tolerance,
                    ])
                #expect(found.errorCode == (isRefused ? 413 : nil), "\(found.text.prefix(200))")
                #expect(isRefused || found.text.contains("Tree "))
            }
        }
    }
}

extension Range<Int> {
    fileprivate func asyncMap<Element>(_ body: (Int) async throws -> Element) async rethrows -> [Element] {
        var elements: [Element] = []
        for number in self { elements.append(try await body(number)) }
        return elements
    }
}
