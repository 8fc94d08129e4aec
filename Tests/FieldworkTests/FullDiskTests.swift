import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import Fieldwork

/// A device without room: files of this process may not grow beyond a limit, as on a full disk.
@Suite("A full disk")
struct FullDiskTests {
    @Test("Taking offline fails with its reason, leaves no file, and goes on when there is room")
    func download() async throws {
        try await OfflineService.with { service in
            let (folder, address) = (service.folder.path, service.rootURL.absoluteString)
            await #expect(processExitsWith: .success) { [folder = folder as String, address = address as String] in
                let url = try #require(URL(string: address))
                let target = URL(filePath: folder).appending(path: "area.gpkg")
                let environment = ServiceEnvironment(
                    directory: URL(filePath: folder).appending(path: "full"), client: HTTPServiceClient())
                let job = try await OfflineService.generateJob(url, file: target, environment: environment)
                FileRoom.limit(to: 20_000)
                job.start()
                await #expect(throws: CommonError.self) { _ = try await job.output }
                #expect(job.status == .failed)
                #expect(!FileManager.default.fileExists(atPath: target.path))
                FileRoom.limit(to: nil)
                job.start()
                let geodatabase = try await job.output
                try await geodatabase.load()
                #expect(try await geodatabase.damages.queryFeatureCount(using: QueryParameters()) == 10)
                geodatabase.close()
            }
            let replicas = try await service.store.replicas(of: service.name)
            #expect(replicas.count == 1)
            #expect(!service.interceptor.sent.contains("unRegisterReplica"))
        }
    }

    @Test("An edit that finds no room is refused whole, and a sync that finds none is completed later")
    func editAndSync() async throws {
        try await OfflineService.with { service in
            let first = try await service.takeOffline("area")
            first.close()
            let folder = service.folder.path
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                let geodatabase = Geodatabase(fileURL: URL(filePath: folder).appending(path: "area.gpkg"))
                try await geodatabase.load()
                try await geodatabase.addDamage("Kept")
                FileRoom.limit(to: 4_096)
                await #expect(throws: CommonError.self) { try await geodatabase.addDamage("No room") }
                #expect(try await geodatabase.damage("Kept") != nil)
                #expect(try await geodatabase.damage("No room") == nil)
                let environment = ServiceEnvironment(
                    directory: URL(filePath: folder).appending(path: "full"), client: HTTPServiceClient())
                let job = try await OfflineService.syncJob(geodatabase, environment: environment)
                job.start()
                await #expect(throws: CommonError.self) { _ = try await job.output }
                #expect(geodatabase.hasLocalEdits)
                FileRoom.limit(to: nil)
                try await geodatabase.addDamage("Room again")
                geodatabase.close()
            }
            #expect(try await service.rows().count == 20)
            let geodatabase = Geodatabase(fileURL: first.fileURL)
            for _ in 0..<2 { #expect(try await service.sync(geodatabase).isEmpty) }
            let causes = try await service.served("typdamage").keys
            #expect(causes.contains("Kept") && causes.contains("Room again") && !causes.contains("No room"))
            #expect(try await service.rows().count == 22)
        }
    }
}

/// How large the files of this process may become.
private enum FileRoom {
    /// - Parameter bytes: nil for as large as the machine allows.
    static func limit(to bytes: UInt64?) {
        // Without this, a write beyond the limit would end the process instead of failing.
        signal(SIGXFSZ, SIG_IGN)
        var limits = rlimit()
        getrlimit(CInt(RLIMIT_FSIZE.rawValue), &limits)
        limits.rlim_cur = bytes.map { rlim_t($0) } ?? limits.rlim_max
        setrlimit(CInt(RLIMIT_FSIZE.rawValue), &limits)
    }
}
