import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Schema rules over the network", .fewAtATime)
struct SchemaRulesTests {
    private static let name = ServiceName(name: "Rules")
    private static let layer = "Rules/FeatureServer/0"

    private static let definition = ServiceDefinition(
        name: name,
        layers: [
            LayerDefinition(
                id: 0, name: "Reports",
                fields: [
                    FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                    FieldDefinition(name: "kind", type: .smallInteger),
                    FieldDefinition(
                        name: "status", type: .string, length: 10,
                        domain: DomainDefinition(
                            name: "Status",
                            kind: .codedValues(["open", "done"].map { .init(code: .text($0), name: $0) }))),
                    FieldDefinition(name: "number", type: .bigInteger),
                    FieldDefinition(name: "who", type: .string, length: 40, isEditable: false),
                    FieldDefinition(name: "when", type: .date, isEditable: false),
                ],
                subtypeField: "kind",
                subtypes: [
                    SubtypeDefinition(code: .integer(1), name: "Leak"),
                    SubtypeDefinition(code: .integer(2), name: "Hole"),
                ],
                fieldGroups: [
                    FieldGroupDefinition(
                        name: "Work", fields: ["status", "number"],
                        contingencies: [
                            ContingencyDefinition(
                                id: 7, subtypeCode: .integer(1),
                                values: [
                                    .code(.text("done")), .range(minimum: .integer(1), maximum: .integer(.max)),
                                ]),
                            ContingencyDefinition(id: 8, values: [.code(.text("open")), .any]),
                            ContingencyDefinition(id: 9, values: [.code(.text("done")), .null], isRetired: true),
                        ])
                ],
                editFields: EditFieldsDefinition(
                    creationDateField: "when", creatorField: "who", editDateField: nil, editorField: nil,
                    realm: "example.org"),
                ownershipAccess: OwnershipAccess(allowsOthersToQuery: false, allowsOthersToUpdate: false))
        ])

    /// Whoever a header names. The server has no sign-in of its own: a test tells who asks.
    private static func serve<Result: Sendable>(_ test: (TestServer) async throws -> Result) async throws -> Result {
        let user = HTTPField.Name("X-Test-User")
        let configuration = ServerConfiguration(
            port: 0, definitionLifetime: .zero, identify: { request in user.flatMap { request.headerFields[$0] } })
        return try await TemporaryStore.serve(configuration: configuration) { server, store in
            try await store.createService(definition)
            return try await test(server)
        }
    }

    private static func add(_ attributes: String, by user: String, _ server: TestServer) async throws -> JSONValue? {
        try await server.client.post(
            "\(layer)/addFeatures", ["features": "[{\"attributes\":\(attributes)}]", "f": "json"],
            headers: [("X-Test-User", user)]
        ).json["addResults"]?.arrayValue?.first
    }

    @Test("The layer tells subtypes, as types too, groups, ownership and realm")
    func resource() async throws {
        try await Self.serve { server in
            let json = try await server.client.get(Self.layer, ["f": "json"]).json
            #expect(json["subtypeField"] == "kind")
            #expect(json["subtypes"]?.arrayValue?.map { $0["name"] } == ["Leak", "Hole"])
            #expect(json["typeIdField"] == "kind")
            #expect(json["types"]?.arrayValue?.map { $0["id"] } == [1, 2])
            #expect(json["hasContingentValuesDefinition"] == true)
            #expect(json["editFieldsInfo"]?["realm"] == "example.org")
            #expect(json["editFieldsInfo"]?["dateFieldsTimeReference"]?["timeZone"] == "UTC")
            #expect(
                json["ownershipBasedAccessControlForFeatures"]
                    == ["allowOthersToQuery": false, "allowOthersToUpdate": false, "allowOthersToDelete": true])
            let other = try await server.client.get("Trees/FeatureServer/0", ["f": "json"]).json
            #expect(other["hasContingentValuesDefinition"] == false)
        }
    }

    @Test("Field groups and contingent values are packed as clients unpack them, and read back as they were")
    func contingentValues() async throws {
        try await Self.serve { server in
            let groups = try await server.client.get("\(Self.layer)/fieldGroups", ["f": "json"]).json
            #expect(
                groups == ["fieldGroups": [["name": "Work", "restrictive": true, "fields": ["status", "number"]]]])
            let values = try await server.client.get("\(Self.layer)/contingentValues", ["f": "json"]).json
            #expect(values["typeCodes"] == ["Unknown", "Any", "Null", "Code", "Range"])
            #expect(values["stringDicts"] == [["entries": ["open", "done"], "domain": "Status"]])
            let group = try #require(values["contingentValuesDefinition"]?["fieldGroups"]?.arrayValue?.first)
            #expect(
                group["contingentValues"] == [
                    ["id": 8, "types": [3, 1], "values": [0]],
                    ["id": 9, "types": [3, 2], "values": [1], "retired": 1],
                ])
            #expect(
                group["subTypes"] == [
                    [
                        "code": 1, "name": "Leak",
                        "contingentValues": [
                            ["id": 7, "types": [3, 4], "values": [1, ["range": [1, .integer(.max)]]]]
                        ],
                    ]
                ])
            let layer = try #require(Self.definition.layers.first)
            let read = try ContingentValuesCoding.read(fieldGroups: groups, contingentValues: values, layer: layer)
            #expect(read.first?.contingencies.sorted { $0.id < $1.id } == layer.fieldGroups.first?.contingencies)
            let refused = try await server.client.get("\(Self.layer)/contingentValues", ["f": "pbf"])
            #expect(refused.errorCode == 400)
        }
    }

    @Test("Malformed contingent values of a service are refused, not misread")
    func malformedContingentValues() throws {
        let layer = try #require(Self.definition.layers.first)
        let groups = ContingentValuesCoding.fieldGroups(of: layer)
        for packed in [
            #"{"id":1,"types":[3],"values":[0]}"#, #"{"id":1,"types":[3,1],"values":[]}"#,
            #"{"id":1,"types":[3,1],"values":[5]}"#, #"{"id":1,"types":[9,1],"values":[]}"#,
            #"{"id":1,"types":[0,1],"values":[]}"#, #"{"id":1,"types":[1,4],"values":[{"range":[1]}]}"#,
        ] {
            let text = """
                {"typeCodes":["Unknown","Any","Null","Code","Range"],"stringDicts":[{"domain":"Status","entries":["open"]}],
                "contingentValuesDefinition":{"fieldGroups":[{"name":"Work","contingentValues":[\(packed)]}]}}
                """
            let values = try JSONParser.parse(text)
            #expect(throws: ServiceError.self) {
                try ContingentValuesCoding.read(fieldGroups: groups, contingentValues: values, layer: layer)
            }
        }
    }

    @Test("A combination that is none of a group's is refused with its fields")
    func refusedCombination() async throws {
        try await Self.serve { server in
            let result = try await Self.add(#"{"kind":2,"status":"done","number":1}"#, by: "ada", server)
            #expect(result?["success"] == false)
            #expect(
                result?["error"]?["description"]
                    == "The values of status, number don't go together (field group Work).")
            #expect(
                try await Self.add(#"{"kind":1,"status":"done","number":1}"#, by: "ada", server)?["success"] == true)
        }
    }

    @Test("Whole numbers beyond what a double holds go in and out digit by digit")
    func bigIntegers() async throws {
        try await Self.serve { server in
            _ = try await Self.add(#"{"number":9007199254740993,"status":"open"}"#, by: "ada", server)
            let ada = [("X-Test-User", "ada")]
            let answer = try await server.client.get(
                "\(Self.layer)/query", ["where": "number = 9007199254740993", "outFields": "number", "f": "json"],
                headers: ada)
            #expect(answer.text.contains(#""number":9007199254740993"#))
            let other = try await server.client.get(
                "\(Self.layer)/query", ["where": "number = 9007199254740992", "returnCountOnly": "true", "f": "json"],
                headers: ada)
            #expect(try other.json["count"] == 0)
        }
    }

    @Test("Features of others are in no answer, and can't be changed")
    func ownership() async throws {
        try await Self.serve { server in
            for user in ["ada", "bo"] { _ = try await Self.add(#"{"status":"open"}"#, by: user, server) }
            func ask(_ path: String, _ parameters: KeyValuePairs<String, String>, by user: String?) async throws
                -> TestClient.Answer
            {
                try await server.client.get(
                    "\(Self.layer)\(path)", parameters, headers: user.map { [("X-Test-User", $0)] } ?? [])
            }
            let all: KeyValuePairs = ["where": "1=1", "returnIdsOnly": "true", "f": "json"]
            #expect(try await ask("/query", all, by: "ada").json["objectIds"] == [1])
            #expect(try await ask("/query", all, by: "bo").json["objectIds"] == [2])
            #expect(try await ask("/query", all, by: nil).json["objectIds"] == [])
            let others: KeyValuePairs = [
                "where": "who <> '' OR 1=1", "objectIds": "1,2", "outFields": "*", "f": "json",
            ]
            let seen = try await ask("/query", others, by: "bo").json["features"]?.arrayValue
            #expect(seen?.map { $0["attributes"]?["who"] } == ["bo@example.org"])
            #expect(try await ask("/1", ["f": "json"], by: "bo").errorCode == 404)
            #expect(try await ask("/1", ["f": "json"], by: "ada").errorCode == nil)

            let change = #"[{"attributes":{"OBJECTID":1,"number":5}}]"#
            let refused = try await server.client.post(
                "\(Self.layer)/updateFeatures", ["features": change, "f": "json"], headers: [("X-Test-User", "bo")]
            ).json["updateResults"]?.arrayValue?.first
            #expect(refused?["error"]?["code"] == 1013)
            let done = try await server.client.post(
                "\(Self.layer)/updateFeatures", ["features": change, "f": "json"], headers: [("X-Test-User", "ada")]
            ).json["updateResults"]?.arrayValue?.first
            #expect(done?["success"] == true)
            // What a condition deletes is what its author sees.
            _ = try await server.client.post(
                "\(Self.layer)/deleteFeatures", ["where": "1=1", "f": "json"], headers: [("X-Test-User", "bo")])
            #expect(try await ask("/query", all, by: "ada").json["objectIds"] == [1])
            #expect(try await ask("/query", all, by: "bo").json["objectIds"] == [])
        }
    }

    @Test("A combination that was retired is refused, and one that holds is taken")
    func retired() async throws {
        try await Self.serve { server in
            let retired = try await Self.add(#"{"kind":2,"status":"done","number":null}"#, by: "ada", server)
            #expect(retired?["success"] == false)
            let taken = try await Self.add(#"{"kind":2,"status":"open","number":null}"#, by: "ada", server)
            #expect(taken?["success"] == true)
        }
    }

    @Test("A user who shows the name of another's stored answer gets an answer of his own")
    func conditionOfAnother() async throws {
        try await Self.serve { server in
            _ = try await Self.add(#"{"kind":2,"status":"open","number":1}"#, by: "ada", server)
            let query: KeyValuePairs = ["where": "1=1", "outFields": "*", "f": "json"]
            func ask(_ user: String, _ tag: String?) async throws -> TestClient.Answer {
                var headers = [("X-Test-User", user), ("User-Agent", "Mozilla/5.0")]
                if let tag { headers.append(("If-None-Match", tag)) }
                return try await server.client.get("\(Self.layer)/query", query, headers: headers)
            }
            let first = try await ask("ada", nil)
            let tag = try #require(first.header("ETag"))
            #expect(try first.json["features"]?.arrayValue?.count == 1)
            #expect(try await ask("ada", tag).status == 304)
            let other = try await ask("bo", tag)
            #expect(other.status == 200)
            #expect(try other.json["features"] == [])
        }
    }

    @Test("A browser's stored answer of one user is not that of another")
    func entityTags() async throws {
        try await Self.serve { server in
            let query: KeyValuePairs = ["where": "1=1", "returnCountOnly": "true", "f": "json"]
            func tag(_ user: String) async throws -> String? {
                try await server.client.get(
                    "\(Self.layer)/query", query, headers: [("X-Test-User", user), ("User-Agent", "Mozilla/5.0")]
                ).header("ETag")
            }
            let ada = try #require(try await tag("ada"))
            #expect(try await tag("ada") == ada)
            #expect(try await tag("bo") != ada)
        }
    }
}
