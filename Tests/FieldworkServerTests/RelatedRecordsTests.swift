import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Related records", .fewAtATime)
struct RelatedRecordsTests {
    private static let trees = "Grove/FeatureServer/0/queryRelatedRecords"

    /// Three trees; visits of the first (3) and second (2), a plaque of the first, two people who care.
    private static func serve<Result: Sendable>(_ test: (TestServer) async throws -> Result) async throws -> Result {
        try await TemporaryStore.serve { server, store in
            try await store.createService(GroveService.definition)
            let ids = (0..<3).map { _ in UUID() }
            let trees = ids.enumerated().map { index, id in
                FeatureEdit(
                    globalID: id,
                    attributes: [("Code", .text("T\(index + 1)")), ("Height", .real(Double(index) + 0.5))],
                    geometry: .geometry(Point(x: Double(index) * 100, y: 50, spatialReference: .webMercator)))
            }
            let visits = [(0, "a", 3), (1, "b", 9), (0, "c", 1), (1, "d", 7), (0, "e", 2)].map { tree, note, score in
                FeatureEdit(attributes: [
                    ("Tree", .text(GUID.normalForm(ids[tree]))), ("Note", .text(note)),
                    ("Score", .integer(Int64(score))),
                ])
            }
            let care = [(1, 1), (1, 2), (3, 2), (1, 2)].map { tree, person in
                FeatureEdit(attributes: [("TreeID", .integer(Int64(tree))), ("PersonID", .integer(Int64(person)))])
            }
            let batch = EditBatch(
                layers: [
                    LayerEdits(layerID: 0, adds: trees), LayerEdits(layerID: 1, adds: visits),
                    LayerEdits(layerID: 2, adds: [FeatureEdit(attributes: [("TreeCode", .text("T1"))])]),
                    LayerEdits(
                        layerID: 3, adds: ["Ada", "Bo"].map { FeatureEdit(attributes: [("Name", .text($0))]) }),
                    LayerEdits(layerID: 4, adds: care),
                ], usesGlobalIDs: true, moment: TemporaryStore.moment)
            let result = try await store.apply(batch, to: GroveService.name)
            #expect(!result.hasErrors)
            return try await test(server)
        }
    }

    private static func groups(_ answer: JSONValue, _ field: String) -> [[JSONValue?]] {
        (answer["relatedRecordGroups"]?.arrayValue ?? []).map { group in
            [group["objectId"]] + (group["relatedRecords"]?.arrayValue ?? []).map { $0["attributes"]?[field] }
        }
    }

    @Test("One to many: a group for each source that has related rows, in the order of the ids")
    func oneToMany() async throws {
        try await Self.serve { server in
            let answer = try await server.client.get(
                Self.trees, ["objectIds": "2,1,3", "relationshipId": "0", "outFields": "Note", "f": "json"]
            ).json
            #expect(answer["fields"]?.arrayValue?.compactMap { $0["name"] } == ["Note"])
            #expect(answer["geometryType"] == nil)
            // Four rows are the table's record count: the fifth is cut and the answer says so.
            #expect(Self.groups(answer, "Note") == [[1, "a", "c", "e"], [2, "b"]])
            #expect(answer["exceededTransferLimit"] == true)
        }
    }

    @Test("Many sources, which another thread reads, are answered like few", arguments: ["0", "1", "2"])
    func manySources(relationship: String) async throws {
        try await Self.serve { server in
            func answer(_ ids: String, _ more: String) async throws -> String {
                let address = "\(Self.trees)?relationshipId=\(relationship)&f=json&objectIds=\(ids)\(more)"
                return String(decoding: try await server.client.get(address).body, as: UTF8.self)
            }
            let many = (1...300).map(String.init).joined(separator: ",")
            for more in ["", "&returnCountOnly=true", "&resultOffset=1&resultRecordCount=2", "&outFields=*"] {
                let few = try await answer("3,1,2,2", more)
                #expect(few.contains("relatedRecordGroups"))
                #expect(try await few == answer(many, more))
            }
        }
    }

    @Test("From the destination back to its origin, with geometry in another reference")
    func destinationToOrigin() async throws {
        try await Self.serve { server in
            let answer = try await server.client.post(
                "Grove/FeatureServer/1/queryRelatedRecords",
                ["objectIds": "[2,3]", "relationshipId": "0", "outFields": "Code", "outSR": "4326", "f": "json"]
            ).json
            #expect(Self.groups(answer, "Code") == [[2, "T2"], [3, "T1"]])
            #expect(answer["geometryType"] == "esriGeometryPoint")
            #expect(answer["spatialReference"]?["wkid"] == 4326)
            let first = answer["relatedRecordGroups"]?.arrayValue?.first?["relatedRecords"]?.arrayValue?.first
            let x = try #require(first?["geometry"]?["x"]?.doubleValue)
            #expect(abs(x - 100 / 111_319.490793) < 1e-8)
            let plain = try await server.client.get(
                "Grove/FeatureServer/1/queryRelatedRecords",
                ["objectIds": "2", "relationshipId": "0", "returnGeometry": "false", "f": "json"]
            ).json
            #expect(plain["geometryType"] == nil)
            #expect(plain["fields"]?.arrayValue?.count == GroveService.trees.fields.count)
        }
    }

    @Test("One to one by a text, and many to many by object ids, where a pair that stands twice counts once")
    func otherCardinalities() async throws {
        try await Self.serve { server in
            let plaque = try await server.client.get(
                Self.trees, ["objectIds": "1,2", "relationshipId": "1", "outFields": "TreeCode", "f": "json"]
            ).json
            #expect(Self.groups(plaque, "TreeCode") == [[1, "T1"]])
            let people = try await server.client.get(
                Self.trees, ["objectIds": "1,2,3", "relationshipId": "2", "outFields": "Name", "f": "json"]
            ).json
            #expect(Self.groups(people, "Name") == [[1, "Ada", "Bo"], [3, "Bo"]])
            let trees = try await server.client.get(
                "Grove/FeatureServer/3/queryRelatedRecords",
                ["objectIds": "2", "relationshipId": "2", "outFields": "Code", "f": "json"]
            ).json
            #expect(Self.groups(trees, "Code") == [[2, "T1", "T3"]])
        }
    }

    @Test("A condition, an order, pages and counts")
    func options() async throws {
        try await Self.serve { server in
            func ask(_ more: KeyValuePairs<String, String>) async throws -> JSONValue {
                let fixed = "objectIds=1,2&relationshipId=0&outFields=Note&f=json"
                return try await server.client.get("\(Self.trees)?\(fixed)&\(TestClient.form(more))").json
            }
            let filtered = try await ask(["definitionExpression": "Score > 2", "orderByFields": "Score DESC"])
            #expect(Self.groups(filtered, "Note") == [[1, "a"], [2, "b", "d"]])
            #expect(filtered["exceededTransferLimit"] == nil)
            let page = try await ask(["orderByFields": "Score", "resultOffset": "2", "resultRecordCount": "2"])
            #expect(Self.groups(page, "Note") == [[1, "a"], [2, "d"]])
            #expect(page["exceededTransferLimit"] == true)
            let counts = try await ask(["returnCountOnly": "true"])
            #expect(
                counts == [
                    "relatedRecordGroups": [["objectId": 1, "count": 3], ["objectId": 2, "count": 2]]
                ])
            let some = try await ask(["returnCountOnly": "true", "definitionExpression": "Note = 'd'"])
            #expect(some == ["relatedRecordGroups": [["objectId": 2, "count": 1]]])
            let none = try await ask(["definitionExpression": "Note = 'nothing'"])
            #expect(none["relatedRecordGroups"] == [])
        }
    }

    @Test("Sources by global id; the answer laid out for people")
    func globalIDs() async throws {
        try await Self.serve { server in
            let id = try await server.client.get("Grove/FeatureServer/0/2", ["f": "json"])
                .json["feature"]?["attributes"]?["GlobalID"]?.stringValue
            let answer = try await server.client.get(
                Self.trees,
                ["globalIds": try #require(id), "relationshipId": "0", "outFields": "Note", "f": "pjson"])
            #expect(Self.groups(try answer.json, "Note") == [[2, "b", "d"]])
            #expect(answer.text.contains("\n"))
        }
    }

    @Test(
        "What is missing, wrong or not done is refused by name",
        arguments: [
            ("objectIds=1", "relationshipId"), ("objectIds=1&relationshipId=9", "relationshipId"),
            ("relationshipId=0", "objectIds"), ("objectIds=x&relationshipId=0", "objectIds"),
            ("objectIds=1&relationshipId=0&outFields=Nothing", "outFields"),
            ("objectIds=1&relationshipId=0&definitionExpression=Note=", "definitionExpression"),
            ("objectIds=1&relationshipId=0&orderByFields=Nothing", "Nothing"),
            ("objectIds=1&relationshipId=0&historicMoment=then", "historicMoment"),
            ("objectIds=1&relationshipId=0&gdbVersion=a", "gdbVersion"),
            ("objectIds=1&relationshipId=0&uniqueIds=1", "uniqueIds"),
            ("objectIds=1&relationshipId=0&where=Note='a'", "where"), ("objectIds=1&relationshipId=0&time=1", "time"),
            ("objectIds=1&relationshipId=0&geometry=1,2", "geometry"),
            ("objectIds=1&relationshipId=0&outStatistics=[1]", "outStatistics"),
            ("objectIds=1&relationshipId=0&resultOffset=-1", "resultOffset"),
            ("objectIds=1&relationshipId=0&f=geojson", "geojson"), ("objectIds=1&relationshipId=0&f=pbf", "pbf"),
        ])
    func refusals(_ query: String, _ named: String) async throws {
        try await Self.serve { server in
            let format = query.contains("&f=") ? "" : "&f=json"
            let answer = try await server.client.get("\(Self.trees)?\(query)\(format)")
            #expect(answer.errorCode == 400)
            #expect(answer.text.contains(named))
        }
    }

    @Test(
        "Both ends of a relationship come in one request, by negative object ids and by global ids the server replaces")
    func keysOfOneRequest() async throws {
        try await Self.serve { server in
            let client = "{11111111-2222-4333-8444-555555555555}"
            let edits = """
                [{"id":4,"adds":[{"attributes":{"TreeID":-7,"PersonID":2}}]},
                {"id":1,"adds":[{"attributes":{"Tree":"\(client)","Note":"new"}}]},
                {"id":0,"adds":[{"attributes":{"OBJECTID":-7,"GlobalID":"\(client)","Code":"T9"},"geometry":{"x":1,"y":2}}]}]
                """
            let answer = try await server.client.post(
                "Grove/FeatureServer/applyEdits", ["edits": edits, "f": "json"]
            ).json
            let results = try #require(answer.arrayValue)
            #expect(results.map { $0["addResults"]?.arrayValue?.first?["success"] } == [true, true, true])
            let tree = try #require(results[2]["addResults"]?.arrayValue?.first)
            #expect(tree["globalId"]?.stringValue != client)
            let id = try #require(tree["objectId"]?.integerValue)
            let visits = try await server.client.get(
                Self.trees, ["objectIds": "\(id)", "relationshipId": "0", "outFields": "Note", "f": "json"]
            ).json
            #expect(Self.groups(visits, "Note") == [[.integer(id), "new"]])
            let people = try await server.client.get(
                Self.trees, ["objectIds": "\(id)", "relationshipId": "2", "outFields": "Name", "f": "json"]
            ).json
            #expect(Self.groups(people, "Name") == [[.integer(id), "Bo"]])
        }
    }

    @Test("The answer to edits tells every feature that relationships took along, before and after")
    func editedFeatures() async throws {
        try await Self.serve { server in
            let parameters: KeyValuePairs = [
                "edits": #"[{"id":0,"updates":[{"attributes":{"OBJECTID":2,"Height":30}}],"deletes":[1]}]"#,
                "returnServiceEditsOption": "originalAndCurrentFeatures", "f": "json",
            ]
            let answer = try await server.client.post("Grove/FeatureServer/applyEdits", parameters).json
            let layers = try #require(answer.arrayValue)
            #expect(layers.map { $0["id"] } == [0, 1, 2, 4])
            let trees = try #require(layers[0]["editedFeatures"])
            #expect(trees["adds"] == [])
            #expect(trees["deletes"]?.arrayValue?.map { $0["attributes"]?["Code"] } == ["T1"])
            #expect(trees["deletes"]?.arrayValue?.first?["geometry"]?["y"]?.doubleValue == 50)
            #expect(trees["spatialReference"]?["wkid"] == 102_100)
            let pair = try #require(trees["updates"]?.arrayValue?.first?.arrayValue)
            #expect(pair.map { $0["attributes"]?["Height"]?.doubleValue } == [1.5, 30])
            let visits = try #require(layers[1]["editedFeatures"]?["deletes"]?.arrayValue)
            #expect(visits.map { $0["attributes"]?["Note"] } == ["a", "c", "e"])
            #expect(layers[1]["deleteResults"] == [])
            let plaque = try #require(layers[2]["editedFeatures"]?["updates"]?.arrayValue?.first?.arrayValue)
            #expect(plaque.map { $0["attributes"]?["TreeCode"] } == ["T1", .null])
            #expect(layers[3]["editedFeatures"]?["deletes"]?.arrayValue?.count == 3)
            let wrong = try await server.client.post(
                "Grove/FeatureServer/applyEdits",
                ["edits": "[]", "returnServiceEditsOption": "everything", "f": "json"])
            #expect(wrong.text.contains("returnServiceEditsOption"))
        }
    }

    @Test("Related features that are not for whoever asks are left out, on both sides")
    func ownership() async throws {
        var definition = GroveService.definition
        definition.name = ServiceName(name: "Owned")
        for index in [0, 1] {
            definition.layers[index].fields.append(FieldDefinition(name: "Creator", type: .string, isEditable: false))
            definition.layers[index].editFields = EditFieldsDefinition(
                creationDateField: nil, editDateField: nil, editorField: nil)
            definition.layers[index].ownershipAccess = OwnershipAccess(allowsOthersToQuery: false)
        }
        let user = HTTPField.Name("X-Test-User")
        let configuration = ServerConfiguration(
            port: 0, definitionLifetime: .zero, identify: { request in user.flatMap { request.headerFields[$0] } })
        try await TemporaryStore.serve(configuration: configuration) { [definition] server, store in
            try await store.createService(definition)
            let tree = UUID()
            for (editor, note) in [("ada", "mine"), ("bo", "theirs")] {
                let visit = FeatureEdit(attributes: [
                    ("Tree", .text(GUID.normalForm(tree))), ("Note", .text(note)),
                ])
                let adds = editor == "ada" ? [FeatureEdit(globalID: tree)] : []
                let batch = EditBatch(
                    layers: [LayerEdits(layerID: 0, adds: adds), LayerEdits(layerID: 1, adds: [visit])],
                    usesGlobalIDs: true, editor: editor, moment: TemporaryStore.moment)
                #expect(try await !store.apply(batch, to: definition.name).hasErrors)
            }
            func groups(_ user: String) async throws -> [[JSONValue?]] {
                let query: KeyValuePairs = ["objectIds": "1", "relationshipId": "0", "outFields": "Note", "f": "json"]
                return Self.groups(
                    try await server.client.get(
                        "Owned/FeatureServer/0/queryRelatedRecords", query, headers: [("X-Test-User", user)]
                    ).json, "Note")
            }
            #expect(try await groups("ada") == [[1, "mine"]])
            // The tree is not his: what it leads to isn't either, by this way.
            #expect(try await groups("bo") == [])
        }
    }

    @Test("The layer, the root and `relationships` tell both ends, and the layer advertises pages of related records")
    func resources() async throws {
        try await Self.serve { server in
            let layer = try await server.client.get("Grove/FeatureServer/0", ["f": "json"]).json
            #expect(layer["advancedQueryCapabilities"]?["supportsAdvancedQueryRelated"] == true)
            #expect(layer["advancedQueryCapabilities"]?["supportsQueryRelatedPagination"] == true)
            let own = try #require(layer["relationships"]?.arrayValue)
            #expect(own.map { $0["role"] } == Array(repeating: "esriRelRoleOrigin", count: 3))
            #expect(own[2]["relationshipTableId"] == 4)
            #expect(own[2]["keyFieldInRelationshipTable"] == "TreeID")
            let all = try await server.client.get("Grove/FeatureServer/relationships", ["f": "json"]).json
            let relationships = try #require(all["relationships"]?.arrayValue)
            #expect(relationships.map { $0["id"] } == [0, 1, 2])
            #expect(relationships[0]["originForeignKey"] == "Tree")
            #expect(relationships[0]["composite"] == true)
            #expect(relationships[2]["originForeignKey"] == "TreeID")
            #expect(relationships[2]["destinationForeignKey"] == "PersonID")
            #expect(relationships[2]["destinationPrimaryKey"] == "OBJECTID")
        }
    }
}
