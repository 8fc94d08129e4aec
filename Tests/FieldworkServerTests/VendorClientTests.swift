import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// What the vendor's Python client sends, with all of its parameters, and what it can read.
@Suite("The vendor's client", .fewAtATime)
struct VendorClientTests {
    /// `extract_changes(layers=[0], servergen=[1], return_inserts=True, return_updates=True, return_deletes=True)`.
    private static let extractChanges: KeyValuePairs = [
        "f": "json", "layerQueries": "", "layers": "[0]", "geometry": "", "outSR": "",
        "geometryType": "esriGeometryEnvelope", "inSR": "", "gdbVersion": "", "returnInserts": "True",
        "returnUpdates": "True", "returnDeletes": "True", "returnDeletedFeatures": "True", "returnIdsOnly": "False",
        "returnExtentOnly": "False", "returnAttachments": "False", "returnAttachmentsDatabyURL": "True",
        "dataFormat": "json", "serverGens": "[1]", "layerServerGens": "", "changesExtentGridCell": "None",
        "returnHasGeometryUpdates": "False",
    ]

    /// Follows the address of a job to its end: no state of it may say anything of an error.
    private static func result(of answer: TestClient.Answer, _ client: TestClient) async throws -> JSONValue {
        let address = try #require(try answer.json["statusUrl"]?.stringValue.flatMap(URL.init), "\(answer.text)")
        while true {
            let status = try await client.get(address.path, ["f": "json"])
            #expect(!status.text.contains("\"error\""))
            if try status.json["status"] == "Completed" {
                let place = try #require(try status.json["resultUrl"]?.stringValue.flatMap(URL.init))
                return try await client.get(place.path).json
            }
            try #require(try status.json["status"] != "Failed", "\(status.text)")
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test("Changes come by a job, with deleted features as they were")
    func changes() async throws {
        try await SyncService.serve { client, _ in
            let about = try await client.get("", ["f": "json"]).json
            #expect(about["capabilities"]?.stringValue?.split(separator: ",").contains("ChangeTracking") == true)
            let edits = """
                [{"id":0,"adds":[{"attributes":{"Name":"New"},"geometry":{"x":1,"y":1}}],
                  "updates":[{"attributes":{"OBJECTID":2,"Name":"Other"}}],"deletes":[1]}]
                """
            _ = try await client.post("applyEdits", ["f": "json", "edits": edits])
            let answer = try await client.post("extractChanges", Self.extractChanges)
            let layer = try #require(try await Self.result(of: answer, client).element("edits", 0))
            let features = try #require(layer["features"])
            #expect(features["adds"]?.names == ["New"])
            #expect(features["updates"]?.names == ["Other"])
            #expect(features["deletes"]?.names == ["Tree 0"])
            #expect(features["deletes"]?[0]?["attributes"]?["OBJECTID"] == 1)
            #expect(features["deletes"]?[0]?["geometry"]?["x"]?.doubleValue == 0)
            #expect(features["deleteIds"] == nil)
        }
    }

    @Test("Deleted features come in the reference that was asked for; without the parameter their ids come")
    func deletedFeatures() async throws {
        try await SyncService.serve { client, _ in
            _ = try await client.post("0/deleteFeatures", ["f": "json", "objectIds": "2"])
            func changes(_ isFull: String) async throws -> JSONValue? {
                try await client.post(
                    "extractChanges",
                    [
                        "f": "json", "layers": "0", "serverGens": "[1]", "returnDeletes": "true", "outSR": "4326",
                        "returnDeletedFeatures": isFull, "transportType": "esriTransportTypeEmbedded",
                    ]
                ).json.element("edits", 0)?["features"]
            }
            let full = try #require(try await changes("true"))
            let x = try #require(full["deletes"]?[0]?["geometry"]?["x"]?.doubleValue)
            #expect(abs(x - 100 / 111_319.49) < 1e-6)
            let brief = try #require(try await changes("false"))
            #expect(brief["deletes"] == nil && brief["deleteIds"]?.arrayValue?.count == 1)
        }
    }

    @Test("A job that failed says why, and only then has an error")
    func failedJob() async throws {
        let job = ServiceJob(
            id: UUID(), service: SyncService.name, operation: .extractChanges, parameters: [], moment: Date())
        #expect(job.json { $0 }["error"] == nil)
        var failed = job
        failed.status = .failed
        failed.error = .invalidParameter("Too old.")
        #expect(failed.json { $0 }["error"]?["code"] == 400)
    }

    @Test("An empty text for a field of coded values is null where null is allowed")
    func emptyCode() async throws {
        try await TemporaryStore.serve(trees: 2) { server, _ in
            let path = "Trees/FeatureServer/0"
            let updated = try await server.client.post(
                "\(path)/updateFeatures",
                ["f": "json", "features": #"[{"attributes":{"OBJECTID":1,"Condition":"","Name":""}}]"#])
            #expect(try updated.json["updateResults"]?[0]?["success"] == true, "\(updated.text)")
            let found = try await server.client.get(
                "\(path)/query", ["f": "json", "objectIds": "1", "outFields": "Condition,Name"])
            let attributes = try #require(try found.json["features"]?[0]?["attributes"])
            #expect(attributes["Condition"] == .null)
            #expect(attributes["Name"] == "", "a field without codes keeps what it is given")
            let wrong = try await server.client.post(
                "\(path)/updateFeatures",
                ["f": "json", "features": #"[{"attributes":{"OBJECTID":2,"Condition":" "}}]"#])
            #expect(try wrong.json["updateResults"]?[0]?["success"] == false)
        }
    }

    @Test("Layers and tables say whose data they are: their own word, or the service's")
    func copyright() async throws {
        try await SyncService.serve { client, store in
            #expect(try await client.get("0", ["f": "json"]).json["copyrightText"] == "")
            var service = try await store.service(SyncService.name)
            let current = service
            service.copyrightText = "City of Portland"
            service.layers[1].unknownMembers["copyrightText"] = "Its crews"
            try await store.updateService(service, allowing: [], replacing: current)
            #expect(try await client.get("0", ["f": "json"]).json["copyrightText"] == "City of Portland")
            #expect(try await client.get("1", ["f": "json"]).json["copyrightText"] == "Its crews")
        }
    }

    @Test("Edits of one upload are done once, however often and late the request comes")
    func uploadedEdits() async throws {
        try await AttachmentServer.serve { client, _, _ in
            let edits = Array(#"[{"id":0,"updates":[{"attributes":{"OBJECTID":1,"Name":"Old"}}]}]"#.utf8)
            let file = try await client.post(
                "uploads/upload", ["f": "json"],
                file: FormFile(edits, name: "edits.json", type: "application/json", field: "file"))
            let id = try #require(try file.json["item"]?["itemID"]?.stringValue, "\(file.text)")
            let first = try await client.post("applyEdits", ["editsUploadId": id, "f": "json"])
            #expect(try first.json[0]?["updateResults"]?[0]?["success"] == true, "\(first.text)")
            _ = try await client.post(
                "0/updateFeatures",
                ["f": "json", "features": #"[{"attributes":{"OBJECTID":1,"Name":"Newer"}}]"#])
            let late = try await client.post("applyEdits", ["editsUploadId": id, "f": "json"])
            #expect(late.errorCode == 409, "\(late.text)")
            let found = try await client.get("0/query", ["f": "json", "objectIds": "1", "outFields": "Name"])
            #expect(try found.json["features"]?.names == ["Newer"])
        }
    }
}
