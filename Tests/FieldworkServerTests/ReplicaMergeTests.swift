import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// What the store promises of merging, as a client of the plain protocol sees it.
@Suite("Merging over the protocol", .fewAtATime, .everyStore)
struct ReplicaMergeTests {
    /// A device with a replica of the trees. What it hands in is written as the protocol has it.
    private struct Device {
        let client: TestClient
        let replica: String
        var generation: Int64

        init(_ client: TestClient, area: String? = nil) async throws {
            self.client = client
            var form: [(String, String)] = [
                ("f", "json"), ("layers", "0"), ("syncModel", "perLayer"),
                ("transportType", "esriTransportTypeEmbedded"),
            ]
            if let area { form += [("geometry", area), ("geometryType", "esriGeometryEnvelope"), ("inSR", "102100")] }
            let body = form.map { "\(TestClient.escape($0.0))=\(TestClient.escape($0.1))" }.joined(separator: "&")
            let answer = try await client.send(
                "POST", "createReplica", headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array(body.utf8)
            ).json
            replica = try #require(answer["replicaID"]?.stringValue)
            generation = try #require(answer.generation())
        }

        /// Hands edits in; their base is what the device got last.
        /// - Parameter uploadID: nil for a client that knows only the plain protocol, for which no rule of the service counts.
        @discardableResult
        func send(_ features: String, uploadID: UUID? = UUID(), direction: String = "bidirectional") async throws
            -> JSONValue
        {
            try await client.post(
                "synchronizeReplica",
                [
                    "f": "json", "replicaID": replica,
                    "syncLayers": #"[{"id":0,"serverGen":\#(generation),"syncDirection":"\#(direction)"}]"#,
                    "edits": #"[{"id":0,"features":{\#(features)}}]"#,
                    "uploadId": uploadID?.uuidString ?? "", "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
        }

        /// The features that an answer brings, by what became of them.
        static func features(_ answer: JSONValue, _ kind: String) -> JSONValue? {
            answer.element("edits", 0)?["features"]?[kind]
        }
    }

    private static func update(_ index: Int, _ members: String) -> String {
        #""updates":[{"attributes":{"GlobalID":"\#(GUID.normalForm(SyncService.trees[index]))",\#(members)}}]"#
    }

    private static func delete(_ index: Int) -> String {
        #""deletes":["\#(GUID.normalForm(SyncService.trees[index]))"]"#
    }

    /// What somebody else does in the service itself.
    private static func others(_ client: TestClient, _ attributes: String, geometry: String? = nil) async throws {
        let feature = #"{"attributes":{\#(attributes)}\#(geometry.map { #","geometry":\#($0)"# } ?? "")}"#
        let answer = try await client.post("0/updateFeatures", ["f": "json", "features": "[\(feature)]"]).json
        #expect(answer["updateResults"]?.arrayValue?.first?["success"] == true)
    }

    private static func conflicts(_ client: TestClient, _ state: String? = nil) async throws -> [JSONValue] {
        let list = try await client.get("conflicts", state.map { ["f": "json", "state": $0] } ?? ["f": "json"]).json
        return try #require(list["conflicts"]?.arrayValue)
    }

    private static func tree(_ client: TestClient, _ objectID: Int = 1) async throws -> JSONValue? {
        try await client.get("0/\(objectID)", ["f": "json"]).json["feature"]
    }

    // MARK: Updates

    @Test("A device that sends the whole feature as it knew it undoes nothing that others changed or moved")
    func wholeFeature() async throws {
        try await SyncService.serve { client, _ in
            let device = try await Device(client)
            try await Self.others(client, #""OBJECTID":1,"Name":"Theirs""#, geometry: #"{"x":40,"y":0}"#)
            let known = #"{"GlobalID":"\#(GUID.normalForm(SyncService.trees[0]))","Name":"Tree 0","Height":7}"#
            let answer = try await device.send(
                #""updates":[{"attributes":\#(known),"geometry":{"x":0,"y":0,"spatialReference":{"wkid":102100}}}]"#)
            #expect(answer["conflicts"] == [])
            let tree = try await Self.tree(client)
            #expect(tree?["attributes"]?["Name"] == "Theirs")
            #expect(tree?["attributes"]?["Height"] == 7)
            #expect(tree?["geometry"]?["x"] == 40)
            #expect(try await Self.conflicts(client).isEmpty)
        }
    }

    @Test(
        "What another device changed is not the device's own: the same field is a conflict that waits, the newest first"
    )
    func otherDevices() async throws {
        try await SyncService.serve(rule: .holdForReview) { client, _ in
            let (ada, grace) = (try await Device(client), try await Device(client))
            for index in 0..<2 {
                try await ada.send(Self.update(index, #""Name":"Ada""#))
                let answer = try await grace.send(Self.update(index, #""Name":"Grace""#))
                #expect(answer["conflicts"] == [.integer(Int64(index + 1))])
            }
            #expect(try await Self.tree(client)?["attributes"]?["Name"] == "Ada")
            #expect(try await Self.conflicts(client, "open").map { $0["id"] } == [2, 1])
        }
    }

    @Test("Of several uploads of one device the last stands, and none is in conflict with another")
    func ownUploads() async throws {
        try await SyncService.serve(rule: .firstInWins) { client, _ in
            let device = try await Device(client)
            for name in ["First", "Second"] {
                try await device.send(Self.update(0, #""Name":"\#(name)""#), direction: "upload")
            }
            #expect(try await Self.tree(client)?["attributes"]?["Name"] == "Second")
            #expect(try await Self.conflicts(client).isEmpty)
        }
    }

    @Test("An upload of which an item was refused is done once, and what was refused is no conflict")
    func refusedItem() async throws {
        try await SyncService.serve { client, store in
            let device = try await Device(client)
            try await Self.others(client, #""OBJECTID":2,"Height":50"#)
            let ids = SyncService.trees.map { GUID.normalForm($0) }
            let edits = """
                "updates":[{"attributes":{"GlobalID":"\(ids[0])","Name":"Mine"}},
                {"attributes":{"GlobalID":"\(ids[1])","Height":999}}]
                """
            let name = UUID()
            let first = try await device.send(edits, uploadID: name)
            #expect(first.element("edits", 0)?["updateResults"]?.arrayValue?.map { $0["success"] } == [false])
            try await Self.others(client, #""OBJECTID":1,"Name":"Theirs""#)
            let before = try await store.generation(of: SyncService.name)
            // The answer was lost: the device sends the same upload again.
            let second = try await device.send(edits, uploadID: name)
            #expect(second.element("edits", 0)?["updateResults"] == first.element("edits", 0)?["updateResults"])
            #expect(try await Self.tree(client)?["attributes"]?["Name"] == "Theirs")
            #expect(try await store.generation(of: SyncService.name) == before)
            #expect(try await Self.conflicts(client).isEmpty)
        }
    }

    // MARK: Adds

    @Test(
        "An add that comes again changes nothing of what others made of it, and brings nothing back that they deleted")
    func repeatedAdd() async throws {
        try await SyncService.serve { client, store in
            let device = try await Device(client)
            let id = GUID.normalForm(UUID())
            let add = #""adds":[{"attributes":{"GlobalID":"\#(id)","Name":"New"},"geometry":{"x":5,"y":5}}]"#
            try await device.send(add, uploadID: nil)
            try await Self.others(client, #""OBJECTID":4,"Name":"Better""#)
            try await device.send(add, uploadID: nil)
            #expect(try await Self.tree(client, 4)?["attributes"]?["Name"] == "Better")
            _ = try await client.post("0/deleteFeatures", ["f": "json", "objectIds": "4"])
            try await device.send(add, uploadID: nil)
            let trees = LayerAddress(service: SyncService.name, layerID: 0)
            #expect(try await store.count(FeatureQuery(), in: trees) == 3)
            #expect(try await Self.conflicts(client).isEmpty)
        }
    }

    @Test("What a device adds outside its area is among the deletes of its answer")
    func addOutside() async throws {
        try await SyncService.serve { client, _ in
            let device = try await Device(client, area: "-10,-10,110,10")
            let id = GUID.normalForm(UUID())
            let answer = try await device.send(
                #""adds":[{"attributes":{"GlobalID":"\#(id)","Name":"Far"},"geometry":{"x":5000,"y":0}}]"#)
            #expect(Device.features(answer, "deleteIds") == [.string(id)])
        }
    }

    // MARK: Deletes

    @Test("A delete of what others moved is a conflict; what the service keeps comes back to the device as new")
    func deleteOfMoved() async throws {
        try await SyncService.serve(rule: .firstInWins) { client, store in
            let device = try await Device(client)
            try await Self.others(client, #""OBJECTID":1"#, geometry: #"{"x":40,"y":0}"#)
            let answer = try await device.send(Self.delete(0))
            #expect(Device.features(answer, "adds")?.names == ["Tree 0"])
            #expect(Device.features(answer, "updates") == [])
            #expect(try await Self.conflicts(client).count == 1)
            let trees = LayerAddress(service: SyncService.name, layerID: 0)
            #expect(try await store.count(FeatureQuery(), in: trees) == 3)
        }
    }

    @Test("An update that lost against a delete is kept, and brings the feature back when it is restored")
    func updateOfDeleted() async throws {
        try await SyncService.serve(rule: .firstInWins) { client, _ in
            let device = try await Device(client)
            _ = try await client.post("0/deleteFeatures", ["f": "json", "objectIds": "1"])
            try await device.send(Self.update(0, #""Name":"Mine""#))
            #expect(try await Self.tree(client) == nil)
            #expect(try await client.post("conflicts/1/restore", ["f": "json"]).json["success"] == true)
            #expect(try await Self.tree(client)?["attributes"]?["Name"] == "Mine")
        }
    }
}
