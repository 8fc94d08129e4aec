import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Logging
import TestSupport
import Testing

@testable import FieldworkServer

/// Replicas that are prepared for others to start from, over the protocol.
@Suite("Prepared replicas", .fewAtATime, .everyStore)
struct PreparedReplicaTests {
    private func create(
        _ client: TestClient, _ options: String, _ extra: KeyValuePairs<String, String> = [:]
    ) async throws -> TestClient.Answer {
        var form: [(String, String)] = [
            ("f", "json"), ("layers", "0,1"), ("dataFormat", "sqlite"), ("transportType", "esriTransportTypeUrl"),
            ("replicaOptions", options),
        ]
        form += extra.map { ($0.key, $0.value) }
        if !extra.contains(where: { $0.key == "syncModel" }) { form.append(("syncModel", "perReplica")) }
        let body = form.map { "\(TestClient.escape($0.0))=\(TestClient.escape($0.1))" }.joined(separator: "&")
        return try await client.send(
            "POST", "createReplica", headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(body.utf8))
    }

    private func prepare(_ client: TestClient) async throws -> String {
        let answer = try await create(client, #"{"prepared":true}"#).json
        return try #require(answer["replicaID"]?.stringValue, "\(answer.text)")
    }

    private func start(
        _ client: TestClient, from id: String, _ extra: KeyValuePairs<String, String> = [:]
    ) async throws -> JSONValue {
        try await create(client, #"{"refReplicaId":"\#(id)"}"#, extra).json
    }

    private func file(_ client: TestClient, _ answer: JSONValue) async throws -> TestClient.Answer {
        let address = try #require(answer["resultUrl"]?.stringValue.flatMap(URL.init(string:)), "\(answer.text)")
        return try await client.get("replicafiles/\(address.lastPathComponent)")
    }

    private func add(_ client: TestClient, _ replica: String, _ generation: Int64, _ name: String) async throws
        -> JSONValue
    {
        let id = GUID.normalForm(UUID())
        let edits =
            #"[{"id":0,"features":{"adds":[{"geometry":{"x":1,"y":1},"attributes":{"GlobalID":"\#(id)","Name":"\#(name)"}}]}}]"#
        return try await client.post(
            "synchronizeReplica",
            [
                "f": "json", "replicaID": replica, "replicaServerGen": "\(generation)",
                "syncDirection": "bidirectional", "edits": edits, "uploadId": UUID().uuidString,
                "transportType": "esriTransportTypeEmbedded",
            ]
        ).json
    }

    @Test("Many start from one file that was made once, each under an id of its own, and get what came after it")
    func many() async throws {
        try await SyncService.serve { client, store in
            let prepared = try await prepare(client)
            let made = try await client.post(
                "0/updateFeatures",
                ["f": "json", "features": #"[{"attributes":{"OBJECTID":1,"Name":"Later"}}]"#])
            #expect(try made.json["updateResults"]?.arrayValue?.first?["success"] == true)
            var crews: [(id: String, generation: Int64, bytes: [UInt8])] = []
            for _ in 0..<3 {
                let answer = try await start(client, from: prepared)
                let id = try #require(answer["replicaID"]?.stringValue, "\(answer.text)")
                let generation = try #require(answer["replicaServerGen"]?.integerValue)
                crews.append((id, generation, try await file(client, answer).body))
            }
            #expect(Set(crews.map(\.id) + [prepared]).count == 4 && Set(crews.map(\.generation)) == [1])
            // The bytes of the one file, from before the change.
            #expect(Set(crews.map(\.bytes)).count == 1 && crews[0].bytes.count > 10_000)
            for (index, crew) in crews.enumerated() {
                let answer = try await add(client, crew.id, crew.generation, "Crew \(index)")
                let changed = try #require(answer.element("edits", 0)?["features"])
                // What the service made of the own feature comes back as well.
                #expect(changed["updates"]?.names.filter { $0 != "Crew \(index)" } == ["Later"])
                #expect(changed["adds"]?.names == (0..<index).map { "Crew \($0)" })
            }
            #expect(try await store.count(FeatureQuery(), in: LayerAddress(service: SyncService.name, layerID: 0)) == 6)
        }
    }

    @Test("A request that is repeated starts one replica, and a client that never synchronises none")
    func repeated() async throws {
        try await SyncService.serve { client, store in
            let prepared = try await prepare(client)
            let request = UUID().uuidString
            let first = try await start(client, from: prepared, ["requestId": request])
            let second = try await start(client, from: prepared, ["requestId": request])
            #expect(first["replicaID"] == second["replicaID"] && first["replicaID"] != nil)
            #expect(try await store.replicas(of: SyncService.name).count == 2)
            let copy = try await start(client, from: prepared, ["syncModel": "none"])
            #expect(copy["replicaID"] == nil)
            #expect(try await file(client, copy).body.count > 10_000)
            #expect(try await store.replicas(of: SyncService.name).count == 2)
        }
    }

    @Test("A prepared replica is nobody's own: it is not synchronised, and only prepared ones can be started from")
    func refusals() async throws {
        try await SyncService.serve { client, _ in
            let prepared = try await prepare(client)
            let synchronized = try await add(client, prepared, 1, "Nobody's")
            #expect(synchronized["error"]?["code"]?.integerValue == 400)
            let own = try #require(try await create(client, "{}").json["replicaID"]?.stringValue)
            #expect(try await start(client, from: own)["error"]?["code"]?.integerValue == 404)
            #expect(
                try await start(client, from: UUID().uuidString)["error"]?["code"]?.integerValue == 404)
            for options in [
                #"{"refReplicaId":"x"}"#, #"{"prepared":true,"refReplicaId":"\#(prepared)"}"#,
                #"{"prepared":true,"registerExistingData":true}"#,
            ] {
                #expect(try await create(client, options).json["error"]?["code"]?.integerValue == 400, "\(options)")
            }
            let document = try await create(client, #"{"prepared":true}"#, ["dataFormat": "json"]).json
            #expect(document["error"]?["code"]?.integerValue == 400)
            let unkept = try await create(client, #"{"prepared":true}"#, ["syncModel": "none"]).json
            #expect(unkept["error"]?["code"]?.integerValue == 400)
        }
    }

    /// Asks for the changes that lead from a generation to what a prepared replica has.
    private func changes(
        _ client: TestClient, _ prepared: String, since: Int64, _ extra: KeyValuePairs<String, String> = [:]
    ) async throws -> JSONValue {
        var form: [String: String] = [
            "f": "json", "replicaID": prepared, "replicaServerGen": "\(since)", "syncDirection": "download",
            "transportType": "esriTransportTypeUrl",
        ]
        for (name, value) in extra { form[name] = value }
        let body = form.map { "\(TestClient.escape($0.key))=\(TestClient.escape($0.value))" }.joined(separator: "&")
        return try await client.send(
            "POST", "synchronizeReplica", headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(body.utf8)
        ).json
    }

    @Test("Changes up to a prepared replica are put together once for all who are equally far, and take no edits")
    func packages() async throws {
        try await SyncService.serve { client, store in
            _ = try await prepare(client)
            func rename(_ id: Int, _ name: String) async throws {
                let made = try await client.post(
                    "0/updateFeatures",
                    ["f": "json", "features": #"[{"attributes":{"OBJECTID":\#(id),"Name":"\#(name)"}}]"#])
                #expect(try made.json["updateResults"]?.arrayValue?.first?["success"] == true)
            }
            try await rename(1, "Newer")
            let prepared = try await prepare(client)
            let id = try #require(UUID(uuidString: prepared))
            let before = try await store.replica(id, of: SyncService.name)?.generations
            async let one = changes(client, prepared, since: 1)
            async let two = changes(client, prepared, since: 1)
            let (first, second) = try await (one, two)
            #expect(first["resultUrl"] == second["resultUrl"] && first["fileSize"] == second["fileSize"])
            let package = try await file(client, first)
            #expect(first["fileSize"]?.integerValue == Int64(package.body.count))
            let edits = try #require(try package.json.element("edits", 0)?["features"])
            #expect(edits["updates"]?.names == ["Newer"] && edits["adds"]?.names == [])
            let generation = try #require(try package.json["replicaServerGen"]?.integerValue)
            // It stays what it is; who has another generation gets another one.
            try await rename(2, "Later")
            let third = try await changes(client, prepared, since: 1)
            #expect(third["resultUrl"] == first["resultUrl"])
            #expect(try await file(client, third).body == package.body)
            let fourth = try await changes(client, prepared, since: generation)
            #expect(fourth["resultUrl"] != first["resultUrl"])
            let later = try await file(client, fourth).json
            #expect(later.element("edits", 0)?["features"]?["updates"]?.names == ["Later"])
            // As a job, too.
            let job = try await changes(client, prepared, since: 1, ["async": "true"])
            let address = try #require(job["statusUrl"]?.stringValue.flatMap(URL.init(string:)), "\(job.text)")
            var status = JSONValue.null
            for _ in 0..<500 {
                status = try await client.get("jobs/\(address.lastPathComponent)").json
                if status["status"]?.stringValue == "Completed" { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(status["resultUrl"] == first["resultUrl"], "\(status.text)")

            for (name, value) in [
                ("syncDirection", "bidirectional"), ("syncDirection", "upload"), ("closeReplica", "true"),
            ] {
                let refused = try await changes(client, prepared, since: 1, [name: value])
                #expect(refused["error"]?["code"]?.integerValue == 400, "\(name) \(refused.text)")
            }
            // Nobody's replica was made, none was acknowledged or ended.
            let replicas = try await store.replicas(of: SyncService.name)
            #expect(replicas.count == 2 && replicas.allSatisfy { $0.state == .live })
            // Others may lack what a device says that it has.
            let last = try #require(later["replicaServerGen"]?.integerValue)
            #expect(try await changes(client, prepared, since: last)["resultUrl"] != nil && last > generation)
            #expect(try await store.replica(id, of: SyncService.name)?.generations == before && before != nil)
            try await Self.sweepAll(store)
            #expect(try await file(client, first).errorCode == 404)
            let again = try await changes(client, prepared, since: 1)
            #expect(try await file(client, again).json.element("edits", 0)?["features"]?["updates"]?.names.count == 2)
        }
    }

    @Test("Of two servers of a database that make the same package at once, what the first has made stays")
    func twoServers() async throws {
        try await SyncService.serve { _, store in
            let (keeper, id) = (Self.keeper(of: store), UUID())
            for text in ["first", "second one"] { try await keeper.makeShared(id) { try $0(Array(text.utf8)) } }
            let size = try await keeper.kept(ResultKind.document.name(id))?.size
            // A folder is one server's alone, which makes a package once.
            #expect(size == (store is any WorkSharingStore ? 5 : 10))
        }
    }

    @Test("A prepared file outlives other results, and ages from the moment its replica has ended")
    func lifetime() async throws {
        try await SyncService.serve { client, store in
            let prepared = try await prepare(client)
            let answer = try await start(client, from: prepared)
            let ordinary = try await create(client, "{}").json
            let keeper: any WorkKeeper = Self.keeper(of: store)
            try await Self.sweepAll(store)
            #expect(try await file(client, ordinary).errorCode == 404)
            #expect(try await file(client, answer).body.count > 10_000)
            let care = ReplicaCare(
                store: store, policy: ReplicaPolicy(), logger: Logger(label: "test"), keeper: keeper)
            await care.round(Date.now)
            #expect(try await keeper.prepared().count == 1)

            let ended = try await client.post("unRegisterReplica", ["f": "json", "replicaID": prepared]).json
            #expect(ended["success"] == true)
            #expect(try await keeper.prepared().isEmpty)
            // Who is downloading it comes to the end; nobody begins.
            #expect(try await file(client, answer).body.count > 10_000)
            #expect(try await start(client, from: prepared)["error"]?["code"]?.integerValue == 404)
            try await Self.sweepAll(store)
            #expect(try await file(client, answer).errorCode == 404)
            // The crew that has started goes on.
            let crew = try #require(answer["replicaID"]?.stringValue)
            #expect(try await add(client, crew, 1, "Crew").element("edits", 0) != nil)
        }
    }

    @Test("The file of a replica that was ended elsewhere is let go by the care of replicas")
    func care() async throws {
        try await SyncService.serve { client, store in
            let prepared = try #require(UUID(uuidString: try await prepare(client)))
            let keeper = Self.keeper(of: store)
            #expect(try await store.retireReplica(prepared, of: SyncService.name))
            #expect(try await keeper.prepared() == [prepared])
            await ReplicaCare(store: store, policy: ReplicaPolicy(), logger: Logger(label: "test"), keeper: keeper)
                .round(Date.now)
            #expect(try await keeper.prepared().isEmpty)
        }
    }

    @Test("A file is not for who would see the layers otherwise than when it was made")
    func changedService() async throws {
        try await SyncService.serve { client, store in
            let prepared = try await prepare(client)
            var service = try await store.service(SyncService.name)
            let former = service
            service.layers[0].fields.append(FieldDefinition(name: "Extra", type: .string))
            try await store.updateService(service, allowing: .addsFields, replacing: former)
            let answer = try await start(client, from: prepared)
            #expect(answer["error"]?["code"]?.integerValue == 409, "\(answer.text)")
            let again = try await prepare(client)
            #expect(try await start(client, from: again)["replicaID"] != nil)
            #expect(try await changes(client, prepared, since: 1)["error"]?["code"]?.integerValue == 409)
            #expect(try await changes(client, again, since: 1)["resultUrl"] != nil)
        }
    }

    @Test("A layer of which each sees only the own features can't be prepared")
    func ownFeatures() async throws {
        try await SyncService.serve { client, store in
            var service = try await store.service(SyncService.name)
            let former = service
            service.layers[0].editFields = EditFieldsDefinition(
                creationDateField: nil, creatorField: "Name", editDateField: nil, editorField: nil)
            service.layers[0].ownershipAccess = OwnershipAccess(
                allowsOthersToQuery: false, allowsAnonymousToQuery: false)
            try await store.updateService(service, allowing: [], replacing: former)
            let answer = try await create(client, #"{"prepared":true}"#).json
            #expect(answer["error"]?["code"]?.integerValue == 400, "\(answer.text)")
            #expect(answer["error"]?.text.contains("only the own features") == true)
        }
    }

    // MARK: Support

    private static func keeper(of store: WholeStore) -> any WorkKeeper {
        let folder = WorkFolder(url: store.workFolder)
        guard let shared = store as? any WorkSharingStore else { return folder }
        return DatabaseWork(work: shared.sharedWork, local: folder, lease: .seconds(60))
    }

    /// Sweeps as if all results were too old.
    private static func sweepAll(_ store: WholeStore) async throws {
        guard let shared = store as? any WorkSharingStore else {
            return WorkFolder(url: store.workFolder).sweep(before: Date.now.addingTimeInterval(1))
        }
        try await shared.sharedWork.sweepResults(olderThan: 0)
    }
}
