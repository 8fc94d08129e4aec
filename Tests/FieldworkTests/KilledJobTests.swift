import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization
import Testing

@testable import Fieldwork

/// Jobs whose process was killed go on where they were, in another process.
@Suite("A job whose process was killed")
struct KilledJobTests {
    enum Moment: String, CaseIterable, Sendable {
        case asked, downloading, downloaded
    }

    @Test("Taking offline goes on where it was: one replica, no byte twice", arguments: Moment.allCases)
    func generate(moment: Moment) async throws {
        try await OfflineService.with { service in
            let (folder, address) = (service.folder.path, service.rootURL.absoluteString)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [folder = folder as String, address = address as String, moment = moment.rawValue as String] in
                let url = try #require(URL(string: address))
                var environment = ServiceEnvironment(
                    directory: URL(filePath: folder).appending(path: "killed"), client: KillingClient(moment))
                environment.downloads = KillingDownload(moment: moment)
                let job = try await OfflineService.generateJob(
                    url, file: URL(filePath: folder).appending(path: "area.gpkg"), environment: environment)
                // As an app keeps it when it starts the job.
                try job.toJSON().write(to: URL(filePath: folder).appending(path: "job.json"))
                job.start()
                _ = try await job.output
            }
            let target = service.folder.appending(path: "area.gpkg")
            #expect(!FileManager.default.fileExists(atPath: target.path))
            let state = try JSONParser.parse(Data(contentsOf: service.folder.appending(path: "job.json")))
            var environment = service.environment()
            let download = WatchedDownload()
            environment.downloads = download
            let job = try GenerateGeodatabaseJob(snapshot: state, environment: environment)
            #expect(job.status == .paused)
            job.start()
            let geodatabase = try await job.output
            try await geodatabase.load()
            #expect(try await geodatabase.damages.queryFeatureCount(using: QueryParameters()) == 10)
            #expect(try await service.store.replicas(of: service.name).count == 1)
            #expect(!service.interceptor.sent.contains("createReplica"))
            #expect((download.thereAtStart > 0) == (moment != .asked))
            geodatabase.close()
            let left = try FileManager.default.contentsOfDirectory(atPath: service.folder.path)
            #expect(left.filter { $0.hasPrefix("area.gpkg.") }.isEmpty, "\(left)")
        }
    }

    @Test("A sync goes on where it was, and its edits arrive once", arguments: ["before", "after"])
    func sync(moment: String) async throws {
        try await OfflineService.with { service in
            let first = try await service.takeOffline("area")
            first.close()
            let folder = service.folder.path
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [folder = folder as String, moment = moment as String] in
                let geodatabase = Geodatabase(fileURL: URL(filePath: folder).appending(path: "area.gpkg"))
                try await geodatabase.load()
                try await geodatabase.addDamage("New")
                try await geodatabase.changeDamage("Cause 1", ["typdamage": "Destroyed"])
                let environment = ServiceEnvironment(
                    directory: URL(filePath: folder).appending(path: "killed"), client: KillingClient(moment))
                let job = try await OfflineService.syncJob(geodatabase, environment: environment)
                job.start()
                _ = try await job.output
            }
            #expect(try await service.rows().count == (moment == "before" ? 20 : 21))
            let geodatabase = Geodatabase(fileURL: first.fileURL)
            try await geodatabase.load()
            #expect(geodatabase.hasLocalEdits)
            // Another feature, and another field of the same one.
            try await geodatabase.changeDamage("Cause 2", ["typdamage": "Major"])
            try await geodatabase.changeDamage("Cause 1", ["numoccup": Int16(9)])
            for _ in 0..<2 { #expect(try await service.sync(geodatabase).isEmpty) }
            #expect(!geodatabase.hasLocalEdits)
            #expect(try await service.rows().count == 21)
            let damage = try await service.served("typdamage")
            #expect(damage["Cause 1"] == .text("Destroyed") && damage["Cause 2"] == .text("Major"))
            #expect(try await service.served("numoccup")["Cause 1"] == .integer(9))
            #expect(try await geodatabase.damages.queryFeatureCount(using: QueryParameters()) == 11)
        }
    }

    @Test("A paused job goes on, and a cancelled one leaves nothing behind")
    func pauseAndCancel() async throws {
        try await OfflineService.with { service in
            let target = service.folder.appending(path: "area.gpkg")
            let job = try await OfflineService.generateJob(
                service.rootURL, file: target, environment: service.environment())
            #expect(!job.pause())
            service.interceptor.fail("createReplica", .answersAfter { #expect(job.pause()) })
            job.start()
            while job.status != .paused { try await Task.sleep(for: .milliseconds(5)) }
            #expect(!FileManager.default.fileExists(atPath: target.path))
            let resumed = try #require(try Job.fromJSON(job.toJSON()) as? GenerateGeodatabaseJob)
            #expect(resumed.status == .paused && resumed.downloadFileURL == target)
            job.start()
            let geodatabase = try await job.output
            try await geodatabase.load()
            #expect(try await service.store.replicas(of: service.name).count == 1)
            geodatabase.close()

            let other = service.folder.appending(path: "other.gpkg")
            let cancelled = try await OfflineService.generateJob(
                service.rootURL, file: other, environment: service.environment())
            service.interceptor.fail("/jobs/", .answersAfter { await Self.cancelSoon(cancelled) })
            cancelled.start()
            await #expect(throws: CancellationError.self) { _ = try await cancelled.output }
            let left = try FileManager.default.contentsOfDirectory(atPath: service.folder.path)
            #expect(left.filter { $0.hasPrefix("other") }.isEmpty, "\(left)")
        }
    }

    /// Cancelling waits for the request that is under way: not from within it.
    private static func cancelSoon(_ job: GenerateGeodatabaseJob) async { Task { await job.cancel() } }
}

/// Sends what a job sends until its moment has come, and ends the process.
private struct KillingClient: ServiceClient {
    let moment: String
    private let client = HTTPServiceClient(pause: { _ in })

    init(_ moment: String) { self.moment = moment }

    func answer(to request: ServiceRequest) async throws -> ServiceAnswer {
        let address = request.url.absoluteString
        if moment == "asked", address.contains("/jobs/") { kill(getpid(), SIGKILL) }
        if moment == "before", address.contains("synchronizeReplica") { kill(getpid(), SIGKILL) }
        let answer = try await client.answer(to: request)
        if moment == "after", address.contains("synchronizeReplica") { kill(getpid(), SIGKILL) }
        return answer
    }
}

/// Ends the process with half of the file, or with all of it.
private struct KillingDownload: FileDownloading {
    let moment: String

    func download(
        _ url: URL, to file: URL, progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws {
        try await HTTPServiceClient().download(url, to: file, progress: progress)
        if moment == "downloading" {
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: handle.seekToEnd() / 2)
            try handle.close()
        }
        kill(getpid(), SIGKILL)
    }
}

/// Tells how much of a file was there when a download began.
private final class WatchedDownload: FileDownloading {
    private let start = Mutex<Int>(0)

    var thereAtStart: Int { start.withLock { $0 } }

    func download(
        _ url: URL, to file: URL, progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        start.withLock { $0 = attributes?[.size] as? Int ?? 0 }
        try await HTTPServiceClient().download(url, to: file, progress: progress)
    }
}
