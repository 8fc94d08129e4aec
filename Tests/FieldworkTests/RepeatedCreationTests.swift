import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// The request for a replica, when its answer does not arrive.
@Suite("A replica that is asked for again", .fewAtATime)
struct RepeatedCreationTests {
    private func job(_ service: TestService) async throws -> GenerateGeodatabaseJob {
        try await OfflineService.generateJob(
            service.rootURL, file: service.folder.appending(path: "one.gpkg"), environment: service.environment())
    }

    @Test("When the answer is lost, the job that goes on gets the replica that was made, and there is no second one")
    func lostAnswer() async throws {
        try await OfflineService.with { service in
            let first = try await job(service)
            service.interceptor.fail("createReplica", .losesAnswer)
            first.start()
            await #expect(throws: Fieldwork.ServiceError.self) { try await first.output }
            let state = try JSONParser.parse(first.toJSON())
            let second = try GenerateGeodatabaseJob(snapshot: state, environment: service.environment())
            second.start()
            let geodatabase = try await second.output
            try await geodatabase.load()
            let replicas = try await service.store.replicas(of: service.name)
            #expect(replicas.map(\.definition.id) == [geodatabase.syncID])
            #expect(service.interceptor.sent.count { $0 == "createReplica" } == 2)
            #expect(try await geodatabase.damages.queryFeatureCount(using: QueryParameters()) == 10)
        }
    }

    @Test("The name of a request stays on the disk while the service may have begun it, and goes when it was refused")
    func nameOnDisk() async throws {
        try await OfflineService.with { service in
            let note = service.folder.appending(path: "one.gpkg.job")
            for (failure, stays) in [(Interceptor.Fault.losesAnswer, true), (.unreachable, true), (.refused, false)] {
                let job = try await job(service)
                service.interceptor.fail("createReplica", failure)
                job.start()
                await #expect(throws: Fieldwork.ServiceError.self) { try await job.output }
                let kept = try? JSONParser.parse(Data(contentsOf: note))
                #expect((kept?["id"] != nil) == stays, "\(failure)")
                service.interceptor.mend()
            }
        }
    }

    @Test("Nobody gets another's replica, or another area, by its id")
    func otherRequest() async throws {
        try await OfflineService.with { service in
            let geodatabase = try await service.takeOffline("one")
            let id = try #require(geodatabase.syncID)
            let client = ReplicaClient(root: service.rootURL, client: service.interceptor)
            let task = GeodatabaseSyncTask(url: service.rootURL, environment: service.environment())
            let other = try await task.makeDefaultGenerateGeodatabaseParameters(extent: OfflineService.place(15))
            await #expect(throws: Fieldwork.ServiceError.self) {
                _ = try await client.create(other.values, name: "other", id: id)
            }
            #expect(try await service.store.replicas(of: service.name).count == 1)
        }
    }
}
