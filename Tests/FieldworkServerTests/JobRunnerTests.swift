import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Jobs of replicas", .fewAtATime)
struct JobRunnerTests {
    private func parameters(_ fields: [(name: String, value: String)]) -> [(name: String, value: String)] {
        [("layers", "0"), ("syncModel", "perLayer"), ("replicaName", "r"), ("async", "true")] + fields
    }

    @Test("A job that a killed server left unfinished is done by the next one, and makes one replica")
    func restart() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-jobs-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await GeoPackageStore.open(at: folder)
        try await store.createService(SyncService.definition)
        // As a server leaves it that was killed in the middle: begun, its replica registered, without a result.
        let id = UUID()
        var job = ServiceJob(
            id: id, service: SyncService.name, operation: .createReplica, parameters: parameters([]),
            moment: TemporaryStore.moment)
        job.status = .inProgress
        try WorkFolder(url: store.workFolder).keep(job)
        let definition = ReplicaDefinition(
            id: id, name: "r", layers: [ReplicaLayer(layerID: 0)], created: TemporaryStore.moment)
        _ = try await store.registerReplica(definition, of: SyncService.name, generation: nil)
        try await TestServer.with(store: store) { server in
            let path = "Field/FeatureServer/jobs/\(id.uuidString)"
            var status = try await server.client.get(path, ["f": "json"]).json
            while status["status"] != "Completed" {
                #expect(status["status"] != "Failed")
                try await Task.sleep(for: .milliseconds(20))
                status = try await server.client.get(path, ["f": "json"]).json
            }
            #expect(status["replicaID"]?.stringValue == id.uuidString.lowercased())
            #expect(try await store.replicas(of: SyncService.name).count == 1)
        }
    }

    @Test("A job whose work fails says why")
    func failure() async throws {
        try await SyncService.serve { client, store in
            let folder = WorkFolder(url: store.workFolder)
            let runner = JobRunner(keeper: folder, logger: Logger(label: "test")) { _ in
                throw ServiceError.invalidParameter("no good")
            }
            let job = ServiceJob(
                id: UUID(), service: SyncService.name, operation: .createReplica, parameters: [], moment: Date())
            try await runner.submit(job)
            while try await runner.job(job.id)?.status.isFinal != true { try await Task.sleep(for: .milliseconds(10)) }
            await runner.stop()
            let status = try await client.get("jobs/\(job.id)", ["f": "json"]).json
            #expect(status["status"] == "Failed")
            #expect(status["error"]?["description"]?.stringValue?.contains("no good") == true)
        }
    }

    @Test("A job that waits holds nothing but its name, and is begun with the parameters that it was submitted with")
    func parameters() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "fieldwork-work-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let folder = WorkFolder(url: url)
        let begun = Mutex<[String]>([])
        let runner = JobRunner(keeper: folder, logger: Logger(label: "test")) { job in
            begun.withLock { $0 += job.parameters.map(\.value) }
            return (nil, JSONObject())
        }
        let edits = String(repeating: "x", count: 100_000)
        let job = ServiceJob(
            id: UUID(), service: SyncService.name, operation: .synchronizeReplica, parameters: [("edits", edits)],
            moment: Date())
        try await runner.submit(job)
        #expect(try JSONParser.parse(Data(contentsOf: url.appending(path: "jobs/\(job.id).json")))["parameters"] == [:])
        while try await runner.job(job.id)?.status.isFinal != true { try await Task.sleep(for: .milliseconds(10)) }
        await runner.stop()
        #expect(begun.withLock { $0 } == [edits])
        #expect(throws: StoreError.self) { try folder.parameters(of: job.id) }
    }

    @Test("A job that an older server left, with its parameters beside its state, goes on with them")
    func olderJob() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "fieldwork-work-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let folder = WorkFolder(url: url)
        try folder.prepare()
        let job = ServiceJob(
            id: UUID(), service: SyncService.name, operation: .synchronizeReplica, parameters: [("edits", "[]")],
            moment: TemporaryStore.moment)
        try Data(job.storageJSON.text.utf8).write(to: url.appending(path: "jobs/\(job.id).json"))
        var claimed = try #require(try folder.claim(1).first).job
        claimed.parameters = []
        claimed.status = .inProgress
        _ = try folder.change(claimed)
        #expect(try folder.parameters(of: job.id).map(\.value) == ["[]"])
        #expect(folder.job(job.id)?.status == .inProgress)
    }

    @Test("A job whose request is gone fails at the next start, and is not done without its edits")
    func requestGone() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "fieldwork-work-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let folder = WorkFolder(url: url)
        let job = ServiceJob(
            id: UUID(), service: SyncService.name, operation: .synchronizeReplica, parameters: [("edits", "[]")],
            moment: TemporaryStore.moment)
        try folder.keep(job)
        let request = url.appending(path: "jobs/\(job.id).request")
        try FileManager.default.removeItem(at: request)
        let begun = Mutex(0)
        let runner = JobRunner(
            keeper: folder, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { _ in
            begun.withLock { $0 += 1 }
            return (nil, JSONObject())
        }
        await runner.resume()
        while try await runner.job(job.id)?.status.isFinal != true { try await Task.sleep(for: .milliseconds(10)) }
        await runner.stop()
        #expect(try await runner.job(job.id)?.status == .failed)
        #expect(begun.withLock { $0 } == 0)
        #expect(!FileManager.default.fileExists(atPath: request.path), "none is made up in its place")
    }

    @Test("A client has a part of the places for jobs, and what all jobs hold on the disk has a limit")
    func load() {
        var load = JobLoad()
        func job(_ client: String, bytes: Int = 1) -> ServiceJob {
            var job = ServiceJob(
                id: UUID(), service: SyncService.name, operation: .extractChanges,
                parameters: [("a", String(repeating: "x", count: bytes - 1))], moment: Date())
            job.client = client
            return job
        }
        func begins(_ job: ServiceJob) -> Bool { load.begin(job) }
        let jobs = (0..<FieldworkServer.Limits.jobsPerClient).map { _ in job("a") }
        for job in jobs { #expect(begins(job)) }
        #expect(!begins(job("a")))
        #expect(begins(job("b")))
        load.end(jobs[0].id)
        #expect(begins(job("a")))
        let piece = 64 * 1_024 * 1_024
        let large = (0..<FieldworkServer.Limits.jobBytesAtOnce / piece).map { job("c\($0)", bytes: piece) }
        #expect(!large.allSatisfy(begins))
        for job in large { load.end(job.id) }
        #expect(begins(job("d", bytes: piece)))
    }

    @Test("What is too old goes, what is not finished stays")
    func sweep() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "fieldwork-work-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let folder = WorkFolder(url: url)
        let (name, _) = try await folder.makeResult(UUID()) { write in try write([0x7B, 0x7D]) }
        var done = ServiceJob(
            id: UUID(), service: SyncService.name, operation: .extractChanges, parameters: [],
            moment: TemporaryStore.moment)
        done.status = .completed
        try folder.keep(done)
        let waiting = ServiceJob(
            id: UUID(), service: SyncService.name, operation: .extractChanges, parameters: [("a", "b")],
            moment: TemporaryStore.moment)
        try folder.keep(waiting)
        #expect(folder.result(name) != nil)
        folder.sweep(before: Date.now.addingTimeInterval(60))
        #expect(folder.result(name) == nil)
        #expect(folder.job(done.id) == nil)
        #expect(try folder.parameters(of: waiting.id).map(\.value) == ["b"])
    }

    @Test("A result that can't be made leaves nothing")
    func brokenResult() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "fieldwork-work-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let folder = WorkFolder(url: url)
        await #expect(throws: StoreError.self) {
            _ = try await folder.makeResult(UUID()) { write in
                try write([1, 2, 3])
                throw StoreError(.full, "no space")
            }
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: url.appending(path: "results").path)
        #expect(left.isEmpty)
    }
}
