import Foundation
import Testing

/// Kills the app while an area is extended: at the next start the larger area takes the smaller one's place, with its name and
/// what was saved in it, and nothing is sent twice.
@Suite("Collect crash in an extension", .serialized, .timeLimit(.minutes(3)))
struct CollectGrowthCrashTests {
    private static let area = "5d1f0f8e-64c3-4f0a-8a1e-0b7f4e2d9c37"
    private static let larger = "5d1f0f8e-64c3-4f0a-8a1e-0b7f4e2d9c38"
    private static let rows = 2_000

    enum Moment: String, CaseIterable {
        /// While the larger file arrives.
        case download
        /// It has arrived; what waits in the smaller one is on its way.
        case sending
        /// The service has what waited, and its answer is on the way back.
        case answer

        fileprivate var hold: Line.Hold {
            switch self {
            case .download: .answer("/replicafiles/", after: 200_000)
            case .sending: .request("/synchronizeReplica")
            case .answer: .answer("/synchronizeReplica", after: 10)
            }
        }
    }

    @Test("After SIGKILL the extension goes on, unasked", arguments: Moment.allCases)
    func goesOn(_ moment: Moment) async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        let rows = (0..<Self.rows).map { "\($0 == 0 ? 5 : 15),5,place \($0),\($0)\n" }.joined()
        try await CrewService.publish(rows, in: data)
        let server = try await FieldworkProcess.serve(data: data)
        let line = try await Line.open(to: try #require(URL(string: server.services)?.port))
        let service = "http://127.0.0.1:\(line.port)/arcgis/rest/services/Crews/FeatureServer"
        let crew = folder.url.appending(path: "crew")

        var app = try await CollectVisitor.start(map: service, data: crew)
        let edges = ["west": "0", "south": "0", "east": "10", "north": "10"]
        try await app.post("/offline/new", edges.merging(["name": "Five", "session": Self.area]) { $1 })
        try await app.wait("/jobs/\(Self.area)", for: "is on this device")
        try await app.post("/offline/\(Self.area)/name", ["name": "Five and more"])
        try await app.post("/offline/mode", ["area": Self.area])
        let form = try #require(
            try await app.page("/list/0?scope=all").firstMatch(of: /href="(\/f\/0\/[^"]+\/edit)"/)
        ).1
        try await app.post(String(form), ["session": "s1", "field.name": "place 0", "field.counter": "77"])
        try await app.post("/offline/mode", ["area": ""])

        line.hold(moment.hold)
        try await app.post(
            "/offline/\(Self.area)/extend", edges.merging(["east": "20", "session": Self.larger]) { $1 })
        try await line.holding()
        await app.process.kill()

        app = try await CollectVisitor.start(map: service, data: crew)
        try await app.wait("/jobs/\(Self.larger)", for: "Five and more is larger now.")
        let offline = try await app.page("/offline")
        #expect(offline.components(separatedBy: "Delete Five and more").count == 2)
        #expect(!offline.contains("not sent"))
        // Each replica was made once, however often it was asked for.
        #expect(line.requests.count { $0.contains("/createReplica") } == 2)

        try await app.post("/offline/mode", ["area": Self.area])
        #expect(try await app.page("/list/0?scope=all").contains("2,000"))
        let served = try await CrewService.served(server.services)
        #expect(served.count == Self.rows && served["place 0"] == [77])
        await app.process.kill()
        await line.close()
        _ = await server.interrupt()
    }
}
