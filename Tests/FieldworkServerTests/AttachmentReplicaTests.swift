import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Attachments of replicas", .fewAtATime, .everyStore)
struct AttachmentReplicaTests {
    private static let photo: [UInt8] = (0..<600_001).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 / 200) }

    // MARK: Helpers

    private func serve(
        rule: ConflictRule = .lastInWins, _ test: (TestClient, WholeStore) async throws -> Void
    ) async throws {
        var service = AttachmentServer.definition
        service.conflictRule = rule
        try await AttachmentServer.serve(service) { client, store, _ in try await test(client, store) }
    }

    private func create(_ client: TestClient, byURL: Bool = false) async throws -> JSONValue {
        try await client.post(
            "createReplica",
            [
                "f": "json", "layers": "0", "syncModel": "perLayer", "transportType": "esriTransportTypeEmbedded",
                "returnAttachments": "true", "returnAttachmentsDataByUrl": "\(byURL)",
            ]
        ).json
    }

    private func synchronize(
        _ client: TestClient, _ replica: String, from generation: Int64, attachments: String? = nil,
        uploadID: UUID? = nil, byURL: Bool = false, rollsBack: Bool = false
    ) async throws -> JSONValue {
        try await client.post(
            "synchronizeReplica",
            [
                "f": "json", "replicaID": replica, "transportType": "esriTransportTypeEmbedded",
                "syncLayers": "[{\"id\":0,\"serverGen\":\(generation),\"syncDirection\":\"bidirectional\"}]",
                "edits": attachments.map { "[{\"id\":0,\"attachments\":\($0)}]" } ?? "",
                "uploadId": uploadID?.uuidString ?? "", "returnAttachmentsDataByUrl": "\(byURL)",
                "returnIdsForAdds": "true", "rollbackOnFailure": "\(rollsBack)",
            ]
        ).json
    }

    private func id(_ replica: JSONValue) throws -> String { try #require(replica["replicaID"]?.stringValue) }

    private func bytes(_ attachment: JSONValue?) -> [UInt8]? {
        attachment?["data"]?.stringValue.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) }
    }

    private func guid(_ id: UUID) -> String { GUID.normalForm(id) }

    private func globalID(_ store: WholeStore, _ id: Int64) async throws -> String {
        let found = try await store.attachments(AttachmentQuery(ids: [id]), in: AttachmentServer.trees).attachments
        return guid(try #require(found.first?.globalID))
    }

    // MARK: Downwards

    @Test("A replica comes with the photos of its trees, as data or as addresses")
    func whole() async throws {
        try await serve { client, _ in
            let attachment = try await client.attach(FormFile(Self.photo), keywords: "bark")
            let embedded = try await create(client).element("layers", 0)?["attachments"]?[0]
            #expect(bytes(embedded) == Self.photo)
            #expect(embedded?["attachmentId"]?.integerValue == attachment)
            #expect(embedded?["parentGlobalId"]?.stringValue == guid(SyncService.trees[0]))
            #expect(embedded?["name"]?.stringValue == "bark.jpg" && embedded?["keywords"]?.stringValue == "bark")
            let replica = try await create(client, byURL: true)
            let info = try #require(replica.element("layers", 0)?["attachments"]?[0])
            let path = try #require(info["url"]?.stringValue.flatMap { URL(string: $0)?.path })
            #expect(info["data"] == nil)
            #expect(try await client.get(path).body == Self.photo)
            let resource = try await client.get("replicas/\(try id(replica))", ["f": "json"]).json
            #expect(resource["returnAttachments"]?.boolValue == true)
            #expect(resource["attachmentsSyncDirection"]?.stringValue == "bidirectional")
        }
    }

    @Test("What others added, changed and deleted since comes with the next synchronisation, once")
    func downwards() async throws {
        try await serve { client, store in
            let (changed, deleted) = (
                try await client.attach(FormFile([1])), try await client.attach(FormFile([2], name: "b.png"))
            )
            let deletedID = try await globalID(store, deleted)
            let replica = try await create(client)
            let start = try #require(replica.generation())
            let added = try await client.attach(FormFile(Self.photo, name: "new.jpg"), to: 2)
            let brief = try await client.attach(FormFile([9], name: "brief.jpg"), to: 2)
            _ = try await client.post("0/2/deleteAttachments", ["attachmentIds": "\(brief)", "f": "json"])
            _ = try await client.post("0/1/updateAttachment", ["attachmentId": "\(changed)"], file: FormFile([7, 7]))
            _ = try await client.post("0/1/deleteAttachments", ["attachmentIds": "\(deleted)", "f": "json"])
            let answer = try await synchronize(client, id(replica), from: start)
            let attachments = try #require(answer.element("edits", 0)?["attachments"])
            #expect(attachments["adds"]?.arrayValue?.count == 1 && bytes(attachments["adds"]?[0]) == Self.photo)
            #expect(attachments["adds"]?[0]?["attachmentId"]?.integerValue == added)
            #expect(attachments["updates"]?.arrayValue?.count == 1 && bytes(attachments["updates"]?[0]) == [7, 7])
            #expect(attachments["deleteIds"] == [.string(deletedID)])
            let next = try await synchronize(client, id(replica), from: try #require(answer.generation()))
            #expect(next["responseType"] == "esriReplicaResponseTypeNoEdits")
            let changes = try await client.post(
                "extractChanges",
                [
                    "layers": "0", "serverGens": "[\(start)]", "returnInserts": "true", "returnUpdates": "false",
                    "returnDeletes": "true", "returnAttachments": "true", "returnAttachmentsDataByUrl": "false",
                    "transportType": "esriTransportTypeEmbedded", "f": "json",
                ]
            ).json.element("edits", 0)?["attachments"]
            #expect(bytes(changes?["adds"]?[0]) == Self.photo && changes?["updates"] == [])
            #expect(changes?["deleteIds"] == [.string(deletedID)])
        }
    }

    // MARK: Upwards

    @Test("What a crew attached, changed and deleted offline arrives exactly once")
    func upwards() async throws {
        try await serve { client, store in
            let (changed, deleted) = (
                try await client.attach(FormFile([1])), try await client.attach(FormFile([2], name: "b.png"))
            )
            let replica = try await create(client)
            let new = guid(UUID())
            let edits = """
                {"adds":[{"globalId":"\(new)","parentGlobalId":"\(guid(SyncService.trees[1]))","name":"n.jpg",
                    "contentType":"image/jpeg","data":"\(Data(Self.photo).base64EncodedString())"}],
                 "updates":[{"globalId":"\(try await globalID(store, changed))","keywords":"leaf"}],
                 "deletes":["\(try await globalID(store, deleted))"]}
                """
            let start = try #require(replica.generation())
            for uploadID in [UUID(), nil] {
                for _ in 0..<2 {
                    let answer = try await synchronize(
                        client, id(replica), from: start, attachments: edits, uploadID: uploadID)
                    let element = try #require(answer.element("edits", 0))
                    let added = element["attachmentResults"]?["addResults"]?[0]
                    #expect(added?["success"]?.boolValue == true && added?["globalId"]?.stringValue == new)
                    #expect(
                        try await client.get("0/2/attachments/\(added?["objectId"]?.integerValue ?? 0)").body
                            == Self.photo)
                }
            }
            #expect(try await client.attachmentNames(of: 2) == ["n.jpg"])
            let list = try await store.attachments(AttachmentQuery(), in: AttachmentServer.trees).attachments
            #expect(list.map(\.keywords) == ["leaf", ""])
            #expect(try await store.check() == [])
        }
    }

    @Test("The client's own attachments do not come back to it")
    func echo() async throws {
        try await serve { client, _ in
            let replica = try await create(client)
            let edits = """
                {"adds":[{"globalId":"\(guid(UUID()))","parentGlobalId":"\(guid(SyncService.trees[0]))","name":"n.jpg",
                    "data":"AQID"}]}
                """
            let answer = try await synchronize(
                client, id(replica), from: try #require(replica.generation()), attachments: edits, uploadID: UUID())
            #expect(answer.element("edits", 0)?["attachments"] == ["adds": [], "updates": [], "deleteIds": []])
        }
    }

    @Test("A refused attachment is told, and with a rollback nothing is changed")
    func refused() async throws {
        try await serve { client, store in
            let replica = try await create(client)
            let start = try #require(replica.generation())
            let edits = """
                {"adds":[{"globalId":"\(guid(UUID()))","parentGlobalId":"\(guid(SyncService.trees[0]))","name":"a.jpg",
                    "data":"AQID"},
                  {"globalId":"\(guid(UUID()))","parentGlobalId":"\(guid(UUID()))","name":"b.jpg","data":"AQID"}]}
                """
            let all = try await synchronize(client, id(replica), from: start, attachments: edits, rollsBack: true)
            #expect(all["error"]?["code"]?.integerValue == 400)
            #expect(try await store.attachments(AttachmentQuery(), in: AttachmentServer.trees).attachments == [])
            let some = try await synchronize(client, id(replica), from: start, attachments: edits)
            let results = some.element("edits", 0)?["attachmentResults"]?["addResults"]?.arrayValue
            #expect(results?.map { $0["success"]?.boolValue } == [true, false])
            #expect(try await client.attachmentNames() == ["a.jpg"])
        }
    }

    // MARK: Conflicts

    @Test(
        "An attachment that both have changed is the winner's, and the loser's bytes are kept",
        arguments: [ConflictRule.lastInWins, .firstInWins, .holdForReview])
    func conflict(rule: ConflictRule) async throws {
        try await serve(rule: rule) { client, store in
            let attachment = try await client.attach(FormFile([1]))
            let globalID = try await globalID(store, attachment)
            let replica = try await create(client)
            _ = try await client.post("0/1/updateAttachment", ["attachmentId": "\(attachment)"], file: FormFile([2]))
            for edits in [
                "{\"updates\":[{\"globalId\":\"\(globalID)\",\"data\":\"Aw==\"}]}", "{\"deletes\":[\"\(globalID)\"]}",
            ] {
                let answer = try await synchronize(
                    client, id(replica), from: try #require(replica.generation()), attachments: edits,
                    uploadID: UUID())
                let results = answer.element("edits", 0)?["attachmentResults"]
                let failed =
                    (results?["updateResults"]?.arrayValue ?? []) + (results?["deleteResults"]?.arrayValue ?? [])
                #expect(failed.isEmpty)
                #expect(answer["conflicts"]?.arrayValue?.isEmpty == false)
            }
            let listed = try await client.get("conflicts", ["f": "json"]).json["conflicts"]?.arrayValue
            #expect(listed?.compactMap { $0["lost"]?["attachment"]?["globalId"]?.stringValue }.isEmpty == false)
            let history = try await store.attachmentHistory(of: 1, in: AttachmentServer.trees)
            if rule == .lastInWins {
                #expect(try await client.attachmentNames() == [])
                #expect(history.count == 3, "all three versions are kept")
            } else {
                #expect(try await client.get("0/1/attachments/\(attachment)").body == [2])
                // What it was at first, and what lost.
                #expect(history.map(\.info.size) == [1, 1])
                let lost = try #require(history.first).version
                let content = try #require(
                    try await store.attachmentContent(ofVersion: lost, in: AttachmentServer.trees))
                var bytes: [UInt8] = []
                for try await piece in content { bytes += piece }
                #expect(bytes == [3])
            }
        }
    }

    @Test("A replica without attachments takes and gives none")
    func without() async throws {
        try await serve { client, _ in
            try await client.attach(FormFile([1]))
            let replica = try await client.post(
                "createReplica",
                [
                    "f": "json", "layers": "0", "syncModel": "perLayer",
                    "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
            #expect(replica.element("layers", 0)?["attachments"] == [])
            let edits = "{\"deletes\":[\"\(guid(UUID()))\"]}"
            let answer = try await synchronize(
                client, id(replica), from: try #require(replica.generation()), attachments: edits)
            #expect(answer["error"]?["code"]?.integerValue == 400)
            for (returned, direction) in [("true", "none"), ("false", "bidirectional")] {
                let refused = try await client.post(
                    "createReplica",
                    ["layers": "0", "returnAttachments": returned, "attachmentsSyncDirection": direction, "f": "json"])
                #expect(refused.errorCode == 400 && refused.text.contains("attachmentsSyncDirection"))
            }
        }
    }
}
