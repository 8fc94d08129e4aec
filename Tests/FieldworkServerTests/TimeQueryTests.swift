import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Times and moments", .fewAtATime)
struct TimeQueryTests {
    private static let name = ServiceName(name: "Shifts")
    private static let path = "Shifts/FeatureServer/0/query"

    /// A table of shifts with start and end, one of visits with a moment each, one without times.
    private static let definition: ServiceDefinition = {
        func table(_ id: Int, _ name: String, _ fields: [FieldDefinition], _ info: TimeInfoDefinition?)
            -> LayerDefinition
        {
            var layer = LayerDefinition(
                id: id, name: name, fields: [FieldDefinition(name: "OBJECTID", type: .oid)] + fields)
            layer.timeInfo = info
            return layer
        }
        return ServiceDefinition(
            name: name,
            layers: [
                table(
                    0, "Shifts",
                    [FieldDefinition(name: "began", type: .date), FieldDefinition(name: "ended", type: .date)],
                    TimeInfoDefinition(
                        startTimeField: "BEGAN", endTimeField: "ended",
                        unknownMembers: JSONObject(["timeIntervalUnits": "esriTimeUnitsDays"]))),
                table(
                    1, "Visits", [FieldDefinition(name: "day", type: .dateOnly)],
                    TimeInfoDefinition(startTimeField: "day", timeExtent: 5...9)),
                table(2, "Notes", [FieldDefinition(name: "text", type: .string)], nil),
            ])
    }()

    private static let shifts: [(began: Int64?, ended: Int64?)] = [
        (1_000, 2_000), (2_000, 3_000), (4_000, nil), (nil, 5_000), (nil, nil),
    ]

    private static func serve<Result: Sendable>(_ test: (TestServer, GeoPackageStore) async throws -> Result)
        async throws
        -> Result
    {
        try await TemporaryStore.serve { server, store in
            try await store.createService(definition)
            func date(_ value: Int64?) -> AttributeValue { value.map { .integer($0) } ?? .null }
            let batch = EditBatch(
                layers: [
                    LayerEdits(
                        layerID: 0,
                        adds: shifts.map {
                            FeatureEdit(attributes: [("began", date($0.began)), ("ended", date($0.ended))])
                        }),
                    LayerEdits(
                        layerID: 1,
                        adds: ["2024-02-28", "2024-02-29", "2024-03-01"].map {
                            FeatureEdit(attributes: [("day", .text($0))])
                        }),
                    LayerEdits(layerID: 2, adds: [FeatureEdit(attributes: [("text", .text("x"))])]),
                ], moment: TemporaryStore.moment)
            let result = try await store.apply(batch, to: name)
            try #require(!result.hasErrors)
            return try await test(server, store)
        }
    }

    private static func ids(_ answer: TestClient.Answer) throws -> [Int64] {
        (try answer.json["objectIds"]?.arrayValue ?? []).compactMap(\.integerValue)
    }

    @Test(
        "A feature with start and end is found when they overlap what is asked for",
        arguments: [
            ("2000", [1, 2]), ("1000,1999", [1]), ("2001,3999", [2]), ("null,2000", [1, 2]), ("3001,null", [3]),
            ("9000", [3]), ("null,999", []), ("null,null", [1, 2, 3, 4, 5]), (" 1000 , 4000 ", [1, 2, 3]),
        ] as [(String, [Int64])])
    func overlaps(_ time: String, _ expected: [Int64]) async throws {
        try await Self.serve { server, _ in
            let answer = try await server.client.get(
                Self.path, ["where": "1=1", "time": time, "returnIdsOnly": "true", "f": "json"])
            #expect(try Self.ids(answer) == expected)
            let count = try await server.client.get(
                Self.path, ["where": "OBJECTID < 100", "time": time, "returnCountOnly": "true", "f": "json"]
            ).json
            #expect(count == ["count": .integer(Int64(expected.count))])
        }
    }

    @Test("A day is there from its first moment to its last")
    func days() async throws {
        try await Self.serve { server, _ in
            // 29 February 2024 begins at 1709164800000.
            for (time, expected) in [
                ("1709164800000", [2]), ("1709251199999", [2]), ("1709251200000", [3]), ("null,1709164799999", [1]),
                ("1709164800000,null", [2, 3]),
            ] as [(String, [Int64])] {
                let answer = try await server.client.get(
                    "Shifts/FeatureServer/1/query",
                    ["where": "1=1", "time": time, "returnIdsOnly": "true", "f": "json"])
                #expect(try Self.ids(answer) == expected, "\(time)")
            }
        }
    }

    @Test("What is no time, or asked of a layer without times, is refused by name")
    func refused() async throws {
        try await Self.serve { server, _ in
            for (path, query, name) in [
                (Self.path, "time=yesterday", "time"), (Self.path, "time=1,2,3", "time"),
                (Self.path, "time=2,1", "time"),
                ("Shifts/FeatureServer/1/query", "time=-9223372036854775808", "time"),
                (Self.path, "time=1&timeRelation=esriTimeRelationAfterStartOverlapsEnd", "timeRelation"),
                ("Shifts/FeatureServer/2/query", "time=1", "time"),
                (Self.path, "historicMoment=then", "historicMoment"),
            ] {
                let answer = try await server.client.get("\(path)?f=json&where=1%3D1&\(query)")
                #expect(answer.errorCode == 400)
                #expect(answer.text.contains(name), "\(query)")
            }
            // The query of a service takes the time where there are times.
            let all = try await server.client.get(
                "Shifts/FeatureServer/query", ["time": "2000", "returnCountOnly": "true", "f": "json"]
            ).json
            #expect(all["layers"]?.arrayValue?.map { $0["count"] } == [2, 0, 1])
        }
    }

    @Test("The resource tells the fields and the extent of times, and no times where there are none")
    func resource() async throws {
        try await Self.serve { server, _ in
            let shifts = try await server.client.get("Shifts/FeatureServer/0?f=json").json["timeInfo"]
            #expect(shifts?["startTimeField"] == "BEGAN" && shifts?["endTimeField"] == "ended")
            #expect(shifts?["timeExtent"] == [1_000, 5_000])
            #expect(shifts?["timeIntervalUnits"] == "esriTimeUnitsDays")
            let visits = try await server.client.get("Shifts/FeatureServer/1?f=json").json["timeInfo"]
            #expect(visits?["timeExtent"] == [5, 9])
            #expect(try await server.client.get("Shifts/FeatureServer/2?f=json").json["timeInfo"] == nil)
            let document = Self.definition.document
            let read = try ServiceDefinition(document: document, name: Self.name)
            #expect(read.layers[0].timeInfo == Self.definition.layers[0].timeInfo)
        }
    }

    // MARK: Moments

    private static let before = "\(Int64(TemporaryStore.moment.timeIntervalSince1970 * 1_000))"

    @Test("A moment gives the features as they were, in every kind of answer")
    func historicMoment() async throws {
        try await Self.serve { server, store in
            let later = TemporaryStore.moment.addingTimeInterval(60)
            let edited = try await store.apply(
                EditBatch(
                    layers: [
                        LayerEdits(
                            layerID: 0, adds: [FeatureEdit(attributes: [("began", .integer(9_999))])],
                            updates: [FeatureEdit(objectID: 1, attributes: [("began", .integer(1_500))])],
                            deletes: .features([.objectID(2)]))
                    ], moment: later), to: Self.name)
            try #require(!edited.hasErrors)
            func answer(_ moment: String, _ more: String) async throws -> JSONValue {
                let answer = try await server.client.get(
                    "\(Self.path)?f=json&where=1%3D1&historicMoment=\(moment)&\(more)")
                return try answer.json
            }
            #expect(try await answer(Self.before, "returnCountOnly=true") == ["count": 5])
            #expect(try await answer(Self.before, "returnIdsOnly=true")["objectIds"] == [1, 2, 3, 4, 5])
            #expect(try await answer("null", "returnIdsOnly=true")["objectIds"] == [1, 3, 4, 5, 6])
            let features = try await answer(Self.before, "outFields=began&orderByFields=OBJECTID")["features"]
            #expect(
                features?.arrayValue?.compactMap { $0["attributes"]?["began"]?.integerValue } == [1_000, 2_000, 4_000])
            let statistics = TestClient.escape(
                "[{\"statisticType\":\"max\",\"onStatisticField\":\"began\",\"outStatisticFieldName\":\"last\"}]")
            let last = try await answer(Self.before, "outStatistics=\(statistics)")["features"]
            #expect(last == [["attributes": ["last": 4_000]]])
            let time = try await answer(Self.before, "time=1000,1499&returnIdsOnly=true")
            #expect(time["objectIds"] == [1])
            let layer = try await server.client.get("Shifts/FeatureServer/0?f=json").json
            #expect(layer["advancedQueryCapabilities"]?["supportsQueryWithHistoricMoment"] == true)
            #expect(layer["archivingInfo"]?["startArchivingMoment"]?.integerValue == Int64(Self.before))
        }
    }

    @Test("Related records are those of the moment, on both sides and between")
    func relatedRecords() async throws {
        try await TemporaryStore.serve { server, store in
            try await store.createService(GroveService.definition)
            func apply(_ layers: [LayerEdits], _ seconds: Double) async throws {
                let result = try await store.apply(
                    EditBatch(layers: layers, moment: TemporaryStore.moment.addingTimeInterval(seconds)),
                    to: GroveService.name)
                try #require(!result.hasErrors)
            }
            try await apply(
                [
                    LayerEdits(layerID: 0, adds: [FeatureEdit(attributes: [("Height", .real(5))])]),
                    LayerEdits(
                        layerID: 3, adds: ["Ada", "Bo"].map { FeatureEdit(attributes: [("Name", .text($0))]) }),
                ], 0)
            try await apply(
                [
                    LayerEdits(
                        layerID: 4,
                        adds: [
                            FeatureEdit(attributes: [("TreeID", .integer(1)), ("PersonID", .integer(1))])
                        ])
                ], 10)
            try await apply(
                [
                    LayerEdits(
                        layerID: 4,
                        updates: [FeatureEdit(objectID: 1, attributes: [("PersonID", .integer(2))])]),
                    LayerEdits(
                        layerID: 3, updates: [FeatureEdit(objectID: 2, attributes: [("Name", .text("Bob"))])]),
                ], 20)
            func names(_ seconds: Int64?) async throws -> [String] {
                let moment = seconds.map { "\((Int64(Self.before) ?? 0) + $0 * 1_000)" } ?? ""
                let groups =
                    try await server.client.get(
                        "Grove/FeatureServer/0/queryRelatedRecords",
                        [
                            "objectIds": "1", "relationshipId": "2", "outFields": "Name", "historicMoment": moment,
                            "f": "json",
                        ]
                    ).json["relatedRecordGroups"]?.arrayValue ?? []
                return groups.flatMap { $0["relatedRecords"]?.arrayValue ?? [] }.compactMap {
                    $0["attributes"]?["Name"]?.stringValue
                }
            }
            #expect(try await names(0) == [])
            #expect(try await names(10) == ["Ada"])
            #expect(try await names(20) == ["Bob"])
            #expect(try await names(nil) == ["Bob"])
        }
    }
}
