import Foundation
import Testing

/// What the page of changes says while the line to the service stands still, and how a sync is stopped there.
@Suite("Collect sending", .serialized, .timeLimit(.minutes(2)))
struct CollectSendingTests {
    private static let area = "5d1f0f8e-64c3-4f0a-8a1e-0b7f4e2d9c36"

    @Test("A sync that stands still says what it sends; stopped and begun again it sends that once")
    func stops() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        try await CrewService.publish("5,5,here,1\n", in: data)
        let server = try await FieldworkProcess.serve(data: data)
        let line = try await Line.open(to: try #require(URL(string: server.services)?.port))
        let service = "http://127.0.0.1:\(line.port)/arcgis/rest/services/Crews/FeatureServer"
        let app = try await CollectVisitor.start(map: service, data: folder.url.appending(path: "crew"))
        try await app.post(
            "/offline/new",
            ["west": "0", "south": "0", "east": "10", "north": "10", "name": "Five", "session": Self.area])
        try await app.wait("/jobs/\(Self.area)", for: "is on this device")
        try await app.post("/offline/mode", ["area": Self.area])
        let list = try await app.page("/list/0?scope=all")
        let form = try #require(list.firstMatch(of: /href="(\/f\/0\/[^"]+\/edit)"/)).1
        try await app.post(String(form), ["session": "s1", "field.name": "there", "field.counter": "2"])

        line.hold(.request("/synchronizeReplica"))
        try await app.post("/sync")
        try await line.holding()
        let held = try await app.page("/changes")
        #expect(held.contains("Sending edit 1 of 1"))
        #expect(held.contains("<progress") && held.contains("action=\"/sync/stop\""))
        try await app.post("/sync/stop")
        try await app.wait("/changes", for: "<div id=\"sending\" hidden>")
        #expect(try await app.page("/changes").contains("1 edit<"))

        try await app.post("/sync")
        try await app.wait("/changes", for: "Everything is sent")
        #expect(try await CrewService.served(server.services) == ["there": [2]])
        await app.process.kill()
        await line.close()
        _ = await server.interrupt()
    }
}
