import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import FieldworkServer

/// What the store promises of edits, as a client of the plain protocol sees it.
@Suite("Rules of edits over the network", .fewAtATime)
struct EditRulesTests {
    private static let root = "Wells/FeatureServer"

    private static func fields(_ own: [FieldDefinition]) -> [FieldDefinition] {
        [
            FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
            FieldDefinition(name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false),
        ] + own + [
            FieldDefinition(name: "who", type: .string, length: 40, isEditable: false),
            FieldDefinition(name: "changer", type: .string, length: 40, isEditable: false),
            FieldDefinition(name: "changed", type: .date, isEditable: false),
        ]
    }

    private static let tracking = EditFieldsDefinition(
        creationDateField: nil, creatorField: "who", editDateField: "changed", editorField: "changer")

    /// Wells with parts, which go with them, and with notes, which name their wells by a code that several may have.
    private static let definition = ServiceDefinition(
        name: ServiceName(name: "Wells"), spatialReference: .webMercator,
        layers: [
            LayerDefinition(
                id: 0, name: "Wells", geometryType: .point, spatialReference: .webMercator,
                fields: fields([
                    FieldDefinition(name: "name", type: .string, length: 5),
                    FieldDefinition(name: "size", type: .smallInteger),
                    FieldDefinition(name: "code", type: .string, length: 10),
                ]),
                globalIDField: "GlobalID",
                relationships: [
                    RelationshipDefinition(
                        id: 0, name: "Parts", relatedTableID: 1, cardinality: .oneToMany, role: .origin,
                        keyField: "GlobalID", isComposite: true),
                    RelationshipDefinition(
                        id: 1, name: "Notes", relatedTableID: 2, cardinality: .oneToMany, role: .origin,
                        keyField: "code"),
                ],
                editFields: tracking,
                ownershipAccess: OwnershipAccess(allowsOthersToUpdate: false, allowsOthersToDelete: false),
                allowsGeometryUpdates: false),
            LayerDefinition(
                id: 1, name: "Parts", fields: fields([FieldDefinition(name: "well", type: .guid, length: 38)]),
                globalIDField: "GlobalID",
                relationships: [
                    RelationshipDefinition(
                        id: 0, name: "Wells", relatedTableID: 0, cardinality: .oneToMany, role: .destination,
                        keyField: "well", isComposite: true)
                ],
                editFields: tracking,
                ownershipAccess: OwnershipAccess(allowsOthersToUpdate: false, allowsOthersToDelete: false)),
            LayerDefinition(
                id: 2, name: "Notes", fields: fields([FieldDefinition(name: "code", type: .string, length: 10)]),
                globalIDField: "GlobalID",
                relationships: [
                    RelationshipDefinition(
                        id: 1, name: "Wells", relatedTableID: 0, cardinality: .oneToMany, role: .destination,
                        keyField: "code")
                ],
                editFields: tracking),
        ])

    /// A caller whom the server takes for whom it names.
    private struct Caller {
        let client: TestClient
        let name: String?

        private var headers: [(String, String)] { name.map { [("X-Test-User", $0)] } ?? [] }

        func post(_ path: String, _ parameters: KeyValuePairs<String, String>) async throws -> JSONValue {
            try await client.post("\(root)/\(path)", parameters, headers: headers).json
        }

        /// The first result of an operation of a layer on one feature.
        @discardableResult
        func edit(_ operation: String, _ feature: String, layer: Int = 0) async throws -> JSONValue? {
            let kind = ["add": "addFeatures", "update": "updateFeatures"][operation] ?? operation
            return try await post("\(layer)/\(kind)", ["f": "json", "features": "[\(feature)]"])["\(operation)Results"]?
                .arrayValue?.first
        }

        func attributes(_ layer: Int, _ objectID: Int) async throws -> JSONValue? {
            try await client.get("\(root)/\(layer)/\(objectID)", ["f": "json"], headers: headers)
                .json["feature"]?["attributes"]
        }

        func count(_ layer: Int, where condition: String = "1=1", box: String? = nil) async throws -> JSONValue? {
            let place = box ?? "-1e7,-1e7,1e7,1e7"
            let answer = try await client.get(
                "\(root)/\(layer)/query",
                box == nil
                    ? ["where": condition, "returnCountOnly": "true", "f": "json"]
                    : [
                        "geometry": place, "geometryType": "esriGeometryEnvelope", "returnCountOnly": "true",
                        "f": "json",
                    ],
                headers: headers)
            return try answer.json["count"]
        }
    }

    private static func serve(_ test: (_ ada: Caller, _ bo: Caller, _ nobody: Caller) async throws -> Void) async throws
    {
        let user = HTTPField.Name("X-Test-User")
        let configuration = ServerConfiguration(
            port: 0, definitionLifetime: .zero, identify: { request in user.flatMap { request.headerFields[$0] } })
        try await TemporaryStore.serve(configuration: configuration) { server, store in
            try await store.createService(definition)
            func caller(_ name: String?) -> Caller { Caller(client: server.client, name: name) }
            try await test(caller("ada"), caller("bo"), caller(nil))
        }
    }

    // MARK: Values

    @Test("A value goes to its field's limit and not beyond; texts are counted in Unicode scalars")
    func limits() async throws {
        try await Self.serve { ada, _, _ in
            for (attributes, isTaken) in [
                (#""size":32767"#, true), (#""size":32768"#, false), (#""size":-32768"#, true),
                (#""name":"ae\u0301e\u0301""#, true), (#""name":"e\u0301e\u0301e\u0301""#, false),
            ] {
                let result = try await ada.edit("add", #"{"attributes":{\#(attributes)}}"#)
                #expect(result?["success"] == .bool(isTaken), "\(attributes)")
            }
        }
    }

    @Test("Of two values for one field the last counts")
    func twoValues() async throws {
        try await Self.serve { ada, _, _ in
            try await ada.edit("add", #"{"attributes":{"name":"a"}}"#)
            try await ada.edit("update", #"{"attributes":{"OBJECTID":1,"name":"b","NAME":"c"}}"#)
            #expect(try await ada.attributes(0, 1)?["name"] == "c")
        }
    }

    @Test("A list with NULL in it and an escape character of NOT LIKE mean what SQL says")
    func conditions() async throws {
        try await Self.serve { ada, _, _ in
            for name in ["5%", "50", "a"] { try await ada.edit("add", #"{"attributes":{"name":"\#(name)"}}"#) }
            #expect(try await ada.count(0, where: "name NOT IN ('a', NULL)") == 0)
            #expect(try await ada.count(0, where: "name IN ('a', NULL)") == 1)
            #expect(try await ada.count(0, where: #"name NOT LIKE '5!%' ESCAPE '!'"#) == 2)
        }
    }

    @Test("A feature that is given a place is found there")
    func place() async throws {
        try await Self.serve { ada, _, _ in
            try await ada.edit("add", #"{"attributes":{"name":"a"}}"#)
            #expect(try await ada.count(0, box: "4,5,6,7") == 0)
            try await ada.edit("update", #"{"attributes":{"OBJECTID":1},"geometry":{"x":5,"y":6}}"#)
            #expect(try await ada.count(0, box: "4,5,6,7") == 1)
        }
    }

    @Test("An update of who has not signed in sets the edit date as well, and names nobody")
    func anonymousUpdate() async throws {
        try await Self.serve { ada, _, nobody in
            try await ada.edit("add", #"{"attributes":{"code":"x"}}"#, layer: 2)
            let before = try #require(try await nobody.attributes(2, 1)?["changed"]?.integerValue)
            try await Task.sleep(for: .milliseconds(5))
            let result = try await nobody.edit("update", #"{"attributes":{"OBJECTID":1,"code":"y"}}"#, layer: 2)
            #expect(result?["success"] == true)
            let note = try await nobody.attributes(2, 1)
            #expect(try #require(note?["changed"]?.integerValue) > before)
            #expect(note?["who"] == "ada" && note?["changer"] != "ada")
        }
    }

    // MARK: Ids

    @Test(
        "Without useGlobalIds the service gives ids of its own; with it an update is for the feature of its global id")
    func globalIDs() async throws {
        try await Self.serve { ada, _, _ in
            let own = GUID.normalForm(UUID())
            let added = try await ada.edit("add", #"{"attributes":{"GlobalID":"\#(own)","name":"a"}}"#)
            let given = try #require(added?["globalId"]?.stringValue)
            #expect(given != own)
            try await ada.edit("add", #"{"attributes":{"name":"b"}}"#)
            let update = #"[{"attributes":{"OBJECTID":2,"GlobalID":"\#(given)","name":"c"}}]"#
            _ = try await ada.post("0/applyEdits", ["f": "json", "updates": update, "useGlobalIds": "true"])
            #expect(try await ada.attributes(0, 1)?["name"] == "c")
            #expect(try await ada.attributes(0, 2)?["name"] == "b")
        }
    }

    @Test("What was rolled back has no id, and an add that comes again gets the id of its feature")
    func idsOfResults() async throws {
        try await Self.serve { ada, _, _ in
            let mixed = #"[{"attributes":{"name":"good"}},{"attributes":{"size":99999}}]"#
            let undone = try await ada.post("0/applyEdits", ["f": "json", "adds": mixed, "rollbackOnFailure": "true"])
            let first = try #require(undone["addResults"]?.arrayValue?.first)
            #expect(first["success"] == false)
            #expect((first["objectId"]?.integerValue ?? -1) == -1)
            #expect(try await ada.count(0) == 0)
            let add = #"[{"attributes":{"GlobalID":"\#(GUID.normalForm(UUID()))","name":"once"}}]"#
            let answers = [
                try await ada.post("0/applyEdits", ["f": "json", "adds": add, "useGlobalIds": "true"]),
                try await ada.post("0/applyEdits", ["f": "json", "adds": add, "useGlobalIds": "true"]),
            ]
            let ids = answers.map { $0["addResults"]?.arrayValue?.first?["objectId"]?.integerValue }
            #expect(ids[0] != nil && ids[0] == ids[1])
        }
    }

    // MARK: Whose features

    @Test("Only who created a feature changes, moves or deletes it, and parts go with their whole, whoever made them")
    func owners() async throws {
        try await Self.serve { ada, bo, _ in
            let id = try #require(
                try await ada.edit("add", #"{"attributes":{"name":"a"},"geometry":{"x":1,"y":1}}"#)?["globalId"]?
                    .stringValue)
            try await bo.edit("add", #"{"attributes":{"well":"\#(id)"}}"#, layer: 1)
            let change = #"{"attributes":{"OBJECTID":1,"name":"b"}}"#
            #expect(try await bo.edit("update", change)?["error"]?["code"] == 1013)
            let refused = try await bo.post("0/deleteFeatures", ["f": "json", "objectIds": "1"])
            #expect(refused["deleteResults"]?.arrayValue?.first?["success"] == false)
            #expect(try await ada.edit("update", change)?["success"] == true)
            let deleted = try await ada.post("0/deleteFeatures", ["f": "json", "objectIds": "1"])
            #expect(deleted["deleteResults"]?.arrayValue?.first?["success"] == true)
            #expect(try await ada.count(1) == 0)
        }
    }

    @Test("Where geometries stay as they are, nobody else moves a feature")
    func geometryStays() async throws {
        var open = Self.definition
        open.name = ServiceName(name: "Open")
        open.layers[0].ownershipAccess = nil
        let user = HTTPField.Name("X-Test-User")
        let configuration = ServerConfiguration(
            port: 0, definitionLifetime: .zero, identify: { request in user.flatMap { request.headerFields[$0] } })
        try await TemporaryStore.serve(configuration: configuration) { [open] server, store in
            try await store.createService(open)
            func move(_ operation: String, _ x: Int, by name: String) async throws -> JSONValue? {
                try await server.client.post(
                    "Open/FeatureServer/0/\(operation)Features",
                    ["f": "json", "features": #"[{"attributes":{"OBJECTID":1},"geometry":{"x":\#(x),"y":1}}]"#],
                    headers: [("X-Test-User", name)]
                ).json["\(operation)Results"]?.arrayValue?.first?["success"]
            }
            #expect(try await move("add", 1, by: "ada") == true)
            #expect(try await move("update", 9, by: "bo") == false)
            let feature = try await server.client.get("Open/FeatureServer/0/1", ["f": "json"]).json["feature"]
            #expect(feature?["geometry"]?["x"] == 1)
            #expect(try await move("update", 9, by: "ada") == true)
        }
    }

    // MARK: Relationships

    @Test("A whole and its parts are deleted in one request, whatever its order", arguments: [[0, 1], [1, 0]])
    func wholeAndParts(order: [Int]) async throws {
        try await Self.serve { ada, _, _ in
            let well = try await ada.edit("add", #"{"attributes":{"name":"a"}}"#)
            let id = try #require(well?["globalId"]?.stringValue)
            try await ada.edit("add", #"{"attributes":{"well":"\#(id)"}}"#, layer: 1)
            let edits = order.map { #"{"id":\#($0),"deletes":[1]}"# }.joined(separator: ",")
            let answer = try await ada.post("applyEdits", ["f": "json", "edits": "[\(edits)]"])
            let results = answer.arrayValue?.flatMap { $0["deleteResults"]?.arrayValue ?? [] }
            #expect(results?.map { $0["success"] } == [true, true], "\(answer.text)")
            #expect(try await ada.count(0) == 0)
            #expect(try await ada.count(1) == 0)
        }
    }

    @Test("Notes keep a code that another well has; with the last well it is emptied, with who and when")
    func sharedCode() async throws {
        try await Self.serve { ada, bo, _ in
            for _ in 0..<3 { try await ada.edit("add", #"{"attributes":{"code":"x"}}"#) }
            try await bo.edit("add", #"{"attributes":{"code":"x"}}"#, layer: 2)
            try await ada.edit("update", #"{"attributes":{"OBJECTID":1,"code":"y"}}"#)
            #expect(try await bo.attributes(2, 1)?["code"] == "x")
            _ = try await ada.post("0/deleteFeatures", ["f": "json", "objectIds": "2"])
            let before = try #require(try await bo.attributes(2, 1))
            #expect(before["code"] == "x" && before["changer"] == "bo")
            try await Task.sleep(for: .milliseconds(5))
            _ = try await ada.post("0/deleteFeatures", ["f": "json", "objectIds": "3"])
            let after = try #require(try await bo.attributes(2, 1))
            #expect(after["code"] == .null && after["changer"] == "ada")
            #expect(try #require(after["changed"]?.integerValue) > #require(before["changed"]?.integerValue))
        }
    }
}
