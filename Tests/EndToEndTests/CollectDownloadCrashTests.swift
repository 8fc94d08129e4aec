import Foundation
import Testing

/// Kills the app in the middle of the download of an area: the next start goes on with it, unasked.
@Suite("Collect crash in a download", .serialized, .timeLimit(.minutes(3)))
struct CollectDownloadCrashTests {
    private static let area = "5d1f0f8e-64c3-4f0a-8a1e-0b7f4e2d9c35"
    private static let rows = 2_000
    /// How much of the download goes before the process is killed, with the head of the answer.
    private static let before = 200_000

    /// Waits until the process has on its disk what the line gave.
    private static func arrived(_ folder: URL) async throws {
        while true {
            let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
            let part = names.first { $0.hasSuffix("area.gpkg.download") }
            let size = try part.map { name in
                try FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)[.size] as? Int ?? 0
            }
            if size ?? 0 >= before - 1_000 { return }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test("The download goes on after SIGKILL, and the area appears once and whole")
    func goesOn() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        try await CrewService.publish((0..<Self.rows).map { "5,5,place \($0),\($0)\n" }.joined(), in: data)
        let server = try await FieldworkProcess.serve(data: data)
        let line = try await Line.open(to: try #require(URL(string: server.services)?.port))
        let service = "http://127.0.0.1:\(line.port)/arcgis/rest/services/Crews/FeatureServer"
        let crew = folder.url.appending(path: "crew")

        var app = try await CollectVisitor.start(map: service, data: crew)
        line.hold(.answer("/replicafiles/", after: Self.before))
        let form = ["west": "0", "south": "0", "east": "10", "north": "10", "name": "Five", "session": Self.area]
        try await app.post("/offline/new", form)
        try await line.holding()
        try await Self.arrived(crew)
        #expect(!(try await app.page("/offline").contains("In use")))
        await app.process.kill()
        let carried = line.carried.down

        app = try await CollectVisitor.start(map: service, data: crew)
        try await app.wait("/jobs/\(Self.area)", for: "is on this device")
        // The same form once more takes no second area.
        try await app.post("/offline/new", form)
        let offline = try await app.page("/offline")
        #expect(offline.components(separatedBy: "Delete Five").count == 2)
        #expect(line.requests.count { $0.contains("/createReplica") } == 1)
        let files = line.requests.count { $0.contains("/replicafiles/") }
        #expect(files == 2, "the file was asked for \(files) times")
        #expect(carried >= Self.before)

        try await app.post("/offline/mode", ["area": Self.area])
        #expect(try await app.page("/list/0?scope=all&sort=name").contains("2,000"))
        await app.process.kill()
        await line.close()
        _ = await server.interrupt()
    }
}
