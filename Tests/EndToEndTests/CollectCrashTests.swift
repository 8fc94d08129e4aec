import Foundation
import Testing

/// Kills the app in the middle of the work in an offline area, and looks whether everything is there, once.
@Suite("Collect crash", .serialized)
struct CollectCrashTests {
    private static let area = "2b0c3a1e-8f57-4c11-9a52-7d1c5e0f6a90"

    private static func add(_ number: Int, _ app: CollectVisitor) async throws {
        try await app.post(
            "/add/0", ["lon": "-94.8\(number)", "lat": "29.5", "template": "t1", "session": "crash-\(number)"])
    }

    private static func count(_ service: String) async throws -> Int {
        let form = [("f", "json"), ("where", "1=1"), ("returnCountOnly", "true")]
        return try #require(try await PlainRequest.post("\(service)/0/query", form)["count"] as? Int)
    }

    @Test("A transaction that SIGKILL broke off is there again; kept and synced its edits are on the server once")
    func transaction() async throws {
        let folder = try TemporaryFolder()
        let demo = try FieldworkProcess.start([
            "demo", "--data", folder.url.appending(path: "demo").path, "--port", "0",
        ])
        _ = try await demo.readyLine()
        let service = "\(demo.services)/SaveTheBaySync/FeatureServer"
        let before = try await Self.count(service)
        let data = folder.url.appending(path: "crew")

        var app = try await CollectVisitor.start(map: service, data: data)
        try await app.post(
            "/offline/new",
            [
                "west": "-95.1", "south": "29.3", "east": "-94.6", "north": "29.7", "name": "The bay",
                "session": Self.area,
            ])
        try await app.wait("/jobs/\(Self.area)", for: "is on this device")
        try await app.post("/offline/mode", ["area": Self.area])
        try await app.post("/transaction/start")
        for number in 1...3 { try await Self.add(number, app) }
        #expect(try await app.page("/map").contains("Transaction: 3 edits not kept yet"))
        await app.process.kill()

        app = try await CollectVisitor.start(map: service, data: data)
        #expect(try await app.page("/map").contains("A transaction with 3 edits was not finished."))
        #expect(try await Self.count(service) == before)
        #expect(try await app.post("/transaction/keep").contains("3 edits kept."))
        await app.process.kill()

        app = try await CollectVisitor.start(map: service, data: data)
        #expect(try await app.page("/map").contains("3 not sent"))
        try await app.post("/sync")
        try await app.wait("/changes", for: "Everything is sent")
        #expect(try await Self.count(service) == before + 3)
        // The form that was answered before the crash, posted again by a browser that kept it.
        try await Self.add(2, app)
        try await app.post("/sync")
        try await app.wait("/changes", for: "Everything is sent")
        #expect(try await Self.count(service) == before + 3)
        await app.process.kill()
        #expect(await demo.interrupt() == 0)
    }
}
