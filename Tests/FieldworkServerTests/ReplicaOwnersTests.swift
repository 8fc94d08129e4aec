import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import FieldworkServer

/// What one user has in a service that takes replicas is not another's, neither in conflicts nor in jobs.
@Suite("Replicas of several users", .fewAtATime)
struct ReplicaOwnersTests {
    private static let name = ServiceName(name: "Reports")
    private static let report = UUID()

    /// Reports that only their author sees.
    private static var definition: ServiceDefinition {
        let layer = LayerDefinition(
            id: 0, name: "Reports",
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                FieldDefinition(name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false),
                FieldDefinition(name: "text", type: .string, length: 40),
                FieldDefinition(name: "who", type: .string, length: 40, isEditable: false),
            ],
            globalIDField: "GlobalID",
            editFields: EditFieldsDefinition(
                creationDateField: nil, creatorField: "who", editDateField: nil, editorField: nil),
            ownershipAccess: OwnershipAccess(allowsOthersToQuery: false, allowsOthersToUpdate: false))
        return ServiceDefinition(
            name: name, capabilities: [.query, .create, .update, .delete, .editing, .sync], layers: [layer])
    }

    private static func serve(_ test: (TestServer, GeoPackageStore) async throws -> Void) async throws {
        let user = HTTPField.Name("X-Test-User")
        let configuration = ServerConfiguration(
            port: 0, definitionLifetime: .zero, identify: { request in user.flatMap { request.headerFields[$0] } })
        try await TemporaryStore.serve(configuration: configuration) { server, store in
            try await store.createService(definition)
            try await store.createService(SyncService.definition)
            try await test(server, store)
        }
    }

    /// A report of one user with two different texts from two of her devices.
    private static func collide(_ store: GeoPackageStore) async throws {
        func text(_ text: String) -> FeatureEdit {
            FeatureEdit(globalID: report, attributes: [("text", .text(text))])
        }
        let add = LayerEdits(layerID: 0, adds: [text("first")])
        let added = try await store.apply(
            EditBatch(layers: [add], usesGlobalIDs: true, editor: "ada", moment: TemporaryStore.moment), to: name)
        #expect(!added.hasErrors)
        var upload = ReplicaLayerUpload(layerID: 0, baseGeneration: nil)
        upload.updates = [text("second")]
        let result = try await store.apply(
            ReplicaUpload(
                id: UUID(), replicaID: UUID(), layers: [upload], editor: "ada", moment: TemporaryStore.moment), to: name
        )
        #expect(result.conflicts == [1])
    }

    @Test("A conflict over a feature that only its author sees is not shown to others, and not settled by them")
    func conflicts() async throws {
        try await Self.serve { server, store in
            try await Self.collide(store)
            #expect(try await store.conflicts(in: [.decided], of: Self.name, limit: 10).count == 1)
            let path = "Reports/FeatureServer/conflicts"
            for headers in [[("X-Test-User", "bo")], []] {
                let listed = try await server.client.get(path, ["f": "json"], headers: headers)
                #expect(try listed.json["conflicts"] == [])
                #expect(try await server.client.get("\(path)/1", ["f": "json"], headers: headers).errorCode == 404)
                for action in ["restore", "close"] {
                    let answer = try await server.client.post("\(path)/1/\(action)", ["f": "json"], headers: headers)
                    #expect(answer.errorCode == 404)
                    #expect(!answer.text.contains("first"))
                }
            }
            #expect(try await store.conflict(1, of: Self.name)?.state == .decided)
            let record = try await store.records(
                FeatureQuery(), in: LayerAddress(service: Self.name, layerID: 0)
            ).first
            #expect(record?.attributes["text"] == .text("second"))
        }
    }

    @Test("The request id of another user's waiting job is refused, in a request that waits and in a job")
    func waitingJob() async throws {
        try await Self.serve { server, store in
            let parameters = [("layers", "0"), ("syncModel", "perLayer"), ("replicaName", "r"), ("async", "true")]
            func keep(_ operation: ServiceJob.Operation) throws -> UUID {
                var job = ServiceJob(
                    id: UUID(), service: SyncService.name, operation: operation,
                    parameters: parameters.map { (name: $0.0, value: $0.1) }, moment: TemporaryStore.moment)
                job.editor = "ada"
                try WorkFolder(url: store.workFolder).keep(job)
                return job.id
            }
            func ask(_ id: UUID, by user: String?, async: Bool) async throws -> TestClient.Answer {
                try await server.client.post(
                    "Field/FeatureServer/createReplica",
                    [
                        "f": "json", "layers": "0", "syncModel": "perLayer", "replicaName": "r",
                        "requestId": id.uuidString, "async": async ? "true" : "false",
                        "transportType": "esriTransportTypeUrl",
                    ], headers: user.map { [("X-Test-User", $0)] } ?? [])
            }
            let job = try keep(.createReplica)
            for user in ["bo", nil] {
                for async in [true, false] {
                    let answer = try await ask(job, by: user, async: async)
                    #expect(answer.errorCode == 400)
                    #expect(answer.text.contains("'requestId' names another request."))
                }
            }
            #expect(try await ask(try keep(.extractChanges), by: "ada", async: true).errorCode == 400)
            #expect(try await store.replicas(of: SyncService.name).isEmpty)
            let own = try await ask(job, by: "ada", async: true)
            #expect(try own.json["statusUrl"]?.stringValue?.contains(ReplicaID.text(job)) == true)
        }
    }
}
