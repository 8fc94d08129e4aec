import Foundation
import Testing

/// Jobs whose process was killed go on where they were, in another process. The line between client and service stops at
/// the moment that is meant, and counts what goes twice.
@Suite("A job whose process was killed", .serialized, .timeLimit(.minutes(3)))
final class KilledJobTests {
    private let folder: URL
    private let server: FieldworkProcess
    private let line: Line
    private var area: URL { folder.appending(path: "area.gpkg") }
    private var service: String { "http://127.0.0.1:\(line.port)/arcgis/rest/services/Crews/FeatureServer" }

    init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-killed-job-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let data = folder.appending(path: "data")
        try await CrewService.publish((0..<Self.rows).map { "5,5,place \($0),\($0)\n" }.joined(), in: data)
        server = try await FieldworkProcess.serve(data: data)
        line = try await Line.open(to: try #require(URL(string: server.services)?.port))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static let rows = 2_000
    /// How much of the download goes before its process is killed, with the head of the answer.
    private static let before = 200_000

    private func create() throws -> FieldworkProcess {
        try FieldworkProcess.start(["offline", "create", service, "--extent", "0,0,10,10", "--out", area.path])
    }

    private func left() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("area.gpkg.") }
    }

    /// Waits until the process has taken from the line what the line gave.
    private func arrived(bytes: Int) async throws {
        let part = "\(area.path).download"
        while true {
            let size = (try? FileManager.default.attributesOfItem(atPath: part))?[.size] as? Int ?? 0
            if size >= bytes { return }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func end() async {
        await line.close()
        _ = await server.interrupt()
    }

    enum Moment: String, CaseIterable, Sendable {
        /// The service works on it, and the job waits.
        case waiting
        /// Half of the file is there.
        case downloading
    }

    @Test("Taking offline goes on where it was: one replica, no byte twice", arguments: Moment.allCases)
    func generate(_ moment: Moment) async throws {
        line.hold(moment == .waiting ? .request("/jobs/") : .answer("/replicafiles/", after: Self.before))
        let first = try create()
        try await line.holding()
        if moment == .downloading { try await arrived(bytes: Self.before - 1_000) }
        await first.kill()
        #expect(!FileManager.default.fileExists(atPath: area.path))
        #expect(try !left().isEmpty)
        let before = line.carried.down
        let second = try create()
        let (status, errors) = (await second.status(), try second.errors())
        #expect(status == 0, "\(errors)")
        #expect(try second.text().contains("with \(Self.rows) features"))
        let size = try #require(try FileManager.default.attributesOfItem(atPath: area.path)[.size] as? Int)
        if moment == .downloading {
            #expect(before >= Self.before && size > 2 * Self.before)
            #expect(line.carried.down < size + 20_000, "\(line.carried.down) for a file of \(size) bytes")
        }
        #expect(line.requests.count { $0.contains("/createReplica") } == 1)
        #expect(try left().isEmpty)
        let replicas = try await FieldworkProcess.run(["replicas", service])
        #expect(replicas.text.split(separator: "\n").count == 1)
        await end()
    }

    @Test("An interrupted download says what is left, how to go on, and how to give it up")
    func interrupted() async throws {
        line.hold(.answer("/replicafiles/", after: Self.before))
        let first = try create()
        try await line.holding()
        try await arrived(bytes: Self.before - 1_000)
        let code = await first.interrupt()
        let words = try first.errors()
        #expect(code == 130 && words.contains("The same command again continues from here"), "\(words)")
        #expect(
            words.contains("area.gpkg.job remembers") && words.contains("--end") && !words.contains("Taken offline"))
        #expect(try left().contains("area.gpkg.job"))
        let second = try create()
        #expect(await second.status() == 0)
        #expect(line.requests.count { $0.contains("/createReplica") } == 1)
        #expect(try left().isEmpty)
        await end()
    }

    @Test("A sync goes on where it was, and its edits arrive once", arguments: [true, false])
    func sync(arrives: Bool) async throws {
        let made = try create()
        #expect(await made.status() == 0)
        var crew = Crew("area", in: folder)
        try await crew.change("place 1", 1_001)
        try await crew.add("new", 7)
        line.hold(
            arrives ? .answer("/synchronizeReplica", after: 0) : .request("/synchronizeReplica"))
        let killed = try FieldworkProcess.start(["sync", area.path])
        try await line.holding()
        await killed.kill()
        #expect(try await CrewService.served(server.services)["new"] == (arrives ? [7] : nil))
        // Another feature, and another value of the same one.
        try await crew.change("place 2", 1_002)
        try await crew.change("place 1", 1_003)
        for _ in 0..<2 { try await crew.sync() }
        let served = try await CrewService.served(server.services)
        #expect(served.count == Self.rows + 1)
        #expect(served["new"] == [7] && served["place 1"] == [1_003] && served["place 2"] == [1_002])
        #expect(try await crew.kept() == served)
        await end()
    }
}
