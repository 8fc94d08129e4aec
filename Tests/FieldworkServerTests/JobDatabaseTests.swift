import FieldworkGeometry
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import Foundation
import Logging
import Synchronization
import TemporaryPostgres
import TestSupport
import Testing

@testable import FieldworkServer

/// Each store stands for a process of its own: they share nothing but the database.
@Suite(
    "Jobs of several servers of one database", .fewAtATime,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct JobDatabaseTests {
    private static let parameters: [(name: String, value: String)] = [
        ("layers", "0"), ("syncModel", "perLayer"), ("replicaName", "r"), ("async", "true"),
    ]

    /// Two processes of a database with one service.
    private func stores() async throws -> (PostgresStore, PostgresStore, address: String) {
        let address = try await TemporaryPostgres.shared.value.storeAddress()
        let stores = (try await PostgresStore.open(address), try await PostgresStore.open(address))
        try await stores.0.createService(SyncService.definition)
        return (stores.0, stores.1, address)
    }

    private func keeper(_ store: PostgresStore, lease: Duration = .seconds(60)) -> DatabaseWork {
        DatabaseWork(work: store.sharedWork, local: WorkFolder(url: store.workFolder), lease: lease)
    }

    private func job(_ operation: ServiceJob.Operation = .createReplica, id: UUID = UUID()) -> ServiceJob {
        ServiceJob(
            id: id, service: SyncService.name, operation: operation, parameters: Self.parameters,
            moment: TemporaryStore.moment)
    }

    private func finished(_ id: UUID, _ client: TestClient) async throws -> JSONValue {
        while true {
            let status = try await client.get("Field/FeatureServer/jobs/\(id.uuidString)", ["f": "json"]).json
            if status["status"] == "Completed" || status["status"] == "Failed" { return status }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private let quick = ServerConfiguration(port: 0, definitionLifetime: .zero, jobLease: .milliseconds(200))

    @Test("A job whose process is gone is done by another, makes one replica, and any gives its status and its file")
    func takeOver() async throws {
        let (one, other, _) = try await stores()
        let id = UUID()
        // As a process leaves it that was killed in the middle: begun, its replica registered, without a result.
        #expect(try await keeper(one, lease: .milliseconds(1)).submit(job(id: id)))
        let definition = ReplicaDefinition(
            id: id, name: "r", layers: [ReplicaLayer(layerID: 0)], created: TemporaryStore.moment)
        _ = try await one.registerReplica(definition, of: SyncService.name, generation: nil)
        try await TestServer.with(store: one, configuration: quick) { first in
            try await TestServer.with(store: other, configuration: quick) { second in
                let status = try await finished(id, first.client)
                let same = try await finished(id, second.client)
                #expect(same["replicaID"] == status["replicaID"] && same["status"] == "Completed")
                #expect(status["status"] == "Completed" && status["error"] == nil, "\(status.text)")
                #expect(status["replicaID"]?.stringValue == id.uuidString.lowercased())
                #expect(try await other.replicas(of: SyncService.name).count == 1)
                let url = try #require(status["resultUrl"]?.stringValue?.split(separator: "/").last)
                let path = "Field/FeatureServer/replicafiles/\(url)"
                let whole = try await first.client.get(path)
                #expect(try JSONParser.parse(whole.body)["replicaID"]?.stringValue == id.uuidString.lowercased())
                let part = try await second.client.send("GET", path, headers: [("Range", "bytes=10-29")])
                #expect(part.status == 206 && part.body == Array(whole.body[10..<30]))
            }
        }
    }

    @Test("A synchronisation that was done and whose process is gone before it said so takes nothing in twice")
    func repeatedSynchronization() async throws {
        let (one, other, address) = try await stores()
        let replica = ReplicaDefinition(
            id: UUID(), name: "r", layers: [ReplicaLayer(layerID: 0)], created: TemporaryStore.moment)
        _ = try await one.registerReplica(replica, of: SyncService.name, generation: nil)
        let tree = GUID.normalForm(UUID())
        let edits = """
            [{"id":0,"features":{"adds":[{"attributes":{"GlobalID":"\(tree)","Name":"New"},"geometry":{"x":5,"y":5}}],\
            "updates":[],"deleteIds":[]}}]
            """
        var sync = job(.synchronizeReplica)
        sync.parameters = [
            ("replicaID", replica.id.uuidString), ("syncLayers", #"[{"id":0,"serverGen":0,"syncDirection":"upload"}]"#),
            ("edits", edits), ("transportType", "esriTransportTypeUrl"), ("async", "true"),
        ]
        let replicas = ReplicaService(
            store: one, instance: "arcgis", uploads: nil, logger: Logger(label: "test"), jobLease: .milliseconds(1))
        try await replicas.jobs.submit(sync)
        while try await replicas.jobs.job(sync.id)?.status.isFinal != true {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await replicas.jobs.job(sync.id)?.status == .completed)
        // As if the end had never been written down.
        var settings = try PostgresSettings(address)
        settings.searchPath = ["fieldwork"]
        try PostgresConnection(settings).execute("UPDATE jobs SET is_final = 0, state = NULL")
        try await TestServer.with(store: other, configuration: quick) { server in
            let status = try await finished(sync.id, server.client)
            #expect(status["status"] == "Completed", "\(status.text)")
        }
        #expect(try await one.count(FeatureQuery(), in: AttachmentServer.trees) == 1)
        #expect(try await one.generation(of: SyncService.name) == 1)
        try await one.close()
    }

    @Test("Of processes that ask at a time each takes over other jobs, and every job is somebody's")
    func claims() async throws {
        let (one, other, _) = try await stores()
        let dead = keeper(one, lease: .milliseconds(1))
        let ids = (0..<20).map { _ in UUID() }
        for id in ids { #expect(try await dead.submit(job(id: id))) }
        #expect(try await dead.submit(job(id: ids[0])) == false)
        try await Task.sleep(for: .milliseconds(5))
        let keepers = [keeper(one), keeper(other), keeper(one), keeper(other)]
        let claimed = try await withThrowingTaskGroup(of: [UUID].self) { group in
            for keeper in keepers { group.addTask { try await keeper.claim(5).map(\.job.id) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        // Who finds rows locked goes on to others, of which there may be none left in this moment.
        #expect(Set(claimed).count == claimed.count)
        let rest = try await keepers[0].claim(20).map(\.job.id)
        #expect(Set(claimed + rest) == Set(ids) && claimed.count + rest.count == ids.count)
        #expect(try await keepers[1].claim(20).isEmpty)
        for store in [one, other] { try await store.close() }
    }

    @Test("A process that was taken for dead writes nothing down any more, and one that stops leaves its jobs at once")
    func ownership() async throws {
        let (one, other, _) = try await stores()
        let (slow, next, last) = (keeper(one, lease: .milliseconds(1)), keeper(other), keeper(one))
        var job = job()
        #expect(try await slow.submit(job))
        try await Task.sleep(for: .milliseconds(5))
        #expect(try await next.claim(1).map(\.attempts) == [2])
        job.status = .failed
        #expect(try await slow.change(job) == false)
        try await slow.renew([job.id])
        #expect(try await next.job(job.id)?.status == .pending)
        #expect(try await last.claim(1).isEmpty)
        try await next.release()
        let left = try await last.claim(1)
        #expect(left.map(\.attempts) == [2])
        #expect(left.first?.job.parameters.map(\.value) == Self.parameters.map(\.value))
        job.status = .completed
        #expect(try await last.change(job))
        #expect(try await last.change(job) == false)
        #expect(try await next.job(job.id)?.status == .completed)
        for store in [one, other] { try await store.close() }
    }

    @Test("A job that loses the database again and again is done at last; one that ends nobody knows how is given up")
    func interruptions() async throws {
        let (one, other, address) = try await stores()
        let begun = Mutex<[UUID: Int]>([:])
        let abandoned = Mutex<[UUID]>([])
        let runner = JobRunner(
            keeper: keeper(one, lease: .milliseconds(100)),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { job in
            abandoned.withLock { $0.append(job.id) }
        } work: { job in
            let count = begun.withLock { begun in
                begun[job.id, default: 0] += 1
                return begun[job.id, default: 0]
            }
            if job.operation == .createReplica { throw CancellationError() }
            if count <= Limits.jobAttempts + 2 { throw StoreError(.busy, "The connection broke.") }
            return (nil, JSONObject())
        }
        let watch = Task { await runner.watch() }
        func end(of id: UUID) async throws -> ServiceJob {
            while true {
                if let job = try await runner.job(id), job.status.isFinal { return job }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        let (unlucky, endless) = (job(.extractChanges), job())
        for job in [unlucky, endless] { try await runner.submit(job) }
        #expect(try await end(of: unlucky.id).status == .completed)
        #expect(begun.withLock { $0[unlucky.id] } == Limits.jobAttempts + 3)
        let ended = try await end(of: endless.id)
        #expect(ended.status == .failed && ended.error?.message.contains("never came to an end") == true)
        #expect(begun.withLock { $0[endless.id] ?? 0 } <= Limits.jobAttempts)

        // Trouble does not count for a day; what has it longer is to blame itself.
        let old = job(.extractChanges)
        try await runner.submit(old)
        var settings = try PostgresSettings(address)
        settings.searchPath = ["fieldwork"]
        try PostgresConnection(settings).execute("UPDATE jobs SET submitted = submitted - interval '25 hours'")
        #expect(try await end(of: old.id).status == .failed)
        watch.cancel()
        // What is given up is written down before it is undone.
        await watch.value
        await runner.stop()
        #expect(abandoned.withLock { $0 } == [endless.id, old.id])
        for store in [one, other] { try await store.close() }
    }

    @Test("What is too old goes, and with it the bytes that nothing names; what is not finished stays")
    func sweep() async throws {
        let (one, other, address) = try await stores()
        let work = keeper(one)
        let (name, _) = try await work.makeResult(UUID()) { write in try write([0x7B, 0x7D]) }
        let (kept, _) = try await work.makeResult(UUID()) { write in try write([0x7B, 0x7D]) }
        var (done, waiting) = (job(.extractChanges), job(.extractChanges))
        for job in [done, waiting] { #expect(try await work.submit(job)) }
        done.status = .completed
        #expect(try await work.change(done))
        var settings = try PostgresSettings(address)
        settings.searchPath = ["fieldwork"]
        let connection = try PostgresConnection(settings)
        try connection.run("UPDATE results SET made = made - interval '3 days' WHERE name = ?") { $0.bind(name, at: 1) }
        try connection.execute(
            """
            UPDATE jobs SET changed = changed - interval '3 days', submitted = submitted - interval '3 days';
            UPDATE work_files SET made = made - interval '3 days'
            """)
        try await work.sweep()
        #expect(try await work.kept(name)?.size == nil)
        #expect(try await keeper(other).kept(kept)?.size == 2)
        #expect(try await work.job(done.id) == nil)
        waiting = try #require(try await keeper(other).job(waiting.id))
        #expect(waiting.parameters.map(\.value) == Self.parameters.map(\.value))
        #expect(try connection.integer("SELECT count(*) FROM work_files") == 1)
        #expect(try connection.integer("SELECT count(*) FROM work_pieces") == 1)
        for store in [one, other] { try await store.close() }
    }
}
