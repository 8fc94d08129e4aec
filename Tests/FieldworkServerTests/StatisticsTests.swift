import FieldworkGeometry
import FieldworkREST
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Statistics", .fewAtATime)
struct StatisticsTests {
    private static let path = "Trees/FeatureServer/0/query"

    private static func rows(_ json: JSONValue) -> [JSONValue] {
        json["features"]?.arrayValue?.compactMap { $0["attributes"] } ?? []
    }

    private static let every = """
        [{"statisticType":"COUNT","onStatisticField":"Stems","outStatisticFieldName":"n"},
         {"statisticType":"sum","onStatisticField":"Stems","outStatisticFieldName":"total"},
         {"statisticType":"min","onStatisticField":"Name","outStatisticFieldName":"first"},
         {"statisticType":"max","onStatisticField":"Planted","outStatisticFieldName":"last"},
         {"statisticType":"avg","onStatisticField":"Stems","outStatisticFieldName":"mean"},
         {"statisticType":"var","onStatisticField":"Stems","outStatisticFieldName":"spread"},
         {"statisticType":"stddev","onStatisticField":"Stems","outStatisticFieldName":"deviation"},
         {"statisticType":"PERCENTILE_CONT","onStatisticField":"Stems","outStatisticFieldName":"middle",
          "statisticParameters":{"value":0.5}},
         {"statisticType":"PERCENTILE_DISC","onStatisticField":"Stems","outStatisticFieldName":"high",
          "statisticParameters":{"value":0.9}},
         {"statisticType":"PERCENTILE_DISC","onStatisticField":"Stems","outStatisticFieldName":"low",
          "statisticParameters":{"value":0.9,"orderBy":"DESC"}},
         {"statisticType":"count","onStatisticField":"Height * 2"}]
        """

    @Test("Every statistic over the numbers from 1 to 10")
    func every() async throws {
        try await TemporaryStore.serve(trees: 10) { server, _ in
            let json = try await server.client.get(Self.path, ["where": "1=1", "outStatistics": Self.every]).json
            let row = try #require(Self.rows(json).first)
            #expect(Self.rows(json).count == 1)
            #expect(row["n"] == 10 && row["total"]?.doubleValue == 55 && row["first"] == "Tree 1")
            #expect(row["last"] == 1_600_000_000_000 && row["mean"]?.doubleValue == 5.5)
            #expect(abs((row["spread"]?.doubleValue ?? 0) - 55.0 / 6) < 1e-12)
            #expect(abs((row["deviation"]?.doubleValue ?? 0) - (55.0 / 6).squareRoot()) < 1e-12)
            #expect(row["middle"]?.doubleValue == 5.5 && row["high"] == 9 && row["low"] == 2)
            #expect(row["count_EXPR"] == 10)
            #expect(json["objectIdFieldName"] == nil && json["geometryType"] == nil)
            let types = json["fields"]?.arrayValue?.compactMap { $0["type"]?.stringValue } ?? []
            #expect(
                types.prefix(5) == [
                    "esriFieldTypeInteger", "esriFieldTypeDouble", "esriFieldTypeString", "esriFieldTypeDate",
                    "esriFieldTypeDouble",
                ])
        }
    }

    @Test("Over no features there is one row: nothing counted, nothing known")
    func nothing() async throws {
        try await TemporaryStore.serve { server, _ in
            let json = try await server.client.get(Self.path, ["where": "1=1", "outStatistics": Self.every]).json
            let row = try #require(Self.rows(json).first)
            #expect(row["n"] == 0)
            for name in ["total", "first", "last", "mean", "spread", "middle", "high"] { #expect(row[name] == .null) }
        }
    }

    @Test("Groups by a field and by an expression, each with its numbers")
    func groups() async throws {
        try await TemporaryStore.serve(trees: 10) { server, _ in
            let statistics =
                #"[{"statisticType":"percentile_disc","onStatisticField":"Stems","#
                + #""outStatisticFieldName":"median","statisticParameters":{"value":0.5}},"#
                + #"{"statisticType":"count","onStatisticField":"OBJECTID","outStatisticFieldName":"n"}]"#
            let json = try await server.client.get(
                Self.path,
                ["outStatistics": statistics, "groupByFieldsForStatistics": "species, CHAR_LENGTH(Name)"]
            ).json
            let found = Self.rows(json).map {
                [$0["Species"]?.stringValue, $0["EXPR_2"]?.text, $0["n"]?.text, $0["median"]?.text]
            }
            // Trees 1, 4, 7 and 10 are oaks.
            #expect(found == [["Lime", "6", "6", "5"], ["Oak", "6", "3", "4"], ["Oak", "7", "1", "10"]])
        }
    }

    @Test("Having and the order name columns of the answer and aggregates; pages follow each other")
    func havingAndOrder() async throws {
        try await TemporaryStore.serve(trees: 100) { server, _ in
            let statistics = #"[{"statisticType":"sum","onStatisticField":"Stems","outStatisticFieldName":"total"}]"#
            let parameters: KeyValuePairs = [
                "outStatistics": statistics, "groupByFieldsForStatistics": "Height", "f": "json",
                "having": "COUNT(*) > 2 AND total < 150 AND MAX(Stems) <> 99", "orderByFields": "total DESC",
                "resultRecordCount": "3",
            ]
            // Heights 0.5 to 19.5 have three trees each: k, k + 40, k + 80.
            let json = try await server.client.get(Self.path, parameters).json
            #expect(Self.rows(json).map { $0["total"]?.doubleValue } == [147, 144, 141])
            #expect(json["exceededTransferLimit"] == true)
            let rest = try await server.client.get(
                Self.path,
                [
                    "outStatistics": statistics, "groupByFieldsForStatistics": "Height", "having": "COUNT(*) > 2",
                    "orderByFields": "AVG(Stems) DESC, Height", "resultOffset": "18",
                ]
            ).json
            #expect(Self.rows(rest).map { $0["total"]?.doubleValue } == [126, 123])
            #expect(rest["exceededTransferLimit"]?.boolValue != true)
        }
    }

    @Test("A column may have any name, also one that a hidden aggregate would take")
    func names() async throws {
        try await TemporaryStore.serve(trees: 10) { server, _ in
            let statistics =
                #"[{"statisticType":"sum","onStatisticField":"Stems","outStatisticFieldName":"$0"},"#
                + #"{"statisticType":"max","onStatisticField":"Stems","outStatisticFieldName":"a \" , \" b"}]"#
            let json = try await server.client.get(
                Self.path,
                [
                    "outStatistics": statistics, "groupByFieldsForStatistics": "Species",
                    "having": "MIN(Stems) = 1 AND COUNT(*) = 4",
                ]
            ).json
            #expect(Self.rows(json).map { $0["$0"]?.doubleValue } == [22])
            #expect(Self.rows(json).map { $0[#"a " , " b"#] } == [10])
        }
    }

    @Test("The rows of GeoJSON and of protocol buffers are the rows of JSON")
    func formats() async throws {
        try await TemporaryStore.serve(trees: 10) { server, _ in
            let statistics = #"[{"statisticType":"sum","onStatisticField":"Stems","outStatisticFieldName":"total"}]"#
            let parameters: KeyValuePairs = [
                "outStatistics": statistics, "groupByFieldsForStatistics": "Species", "f": "geojson",
            ]
            let json = try await server.client.get(Self.path, parameters).json
            #expect(json["features"]?.arrayValue?.map { $0["properties"]?["total"]?.doubleValue } == [33, 22])
            let pbf = try await server.client.get(
                Self.path,
                ["outStatistics": statistics, "groupByFieldsForStatistics": "Species", "f": "pbf"])
            let set = try PBFFeatureSetReader.read(pbf.body)
            #expect(set.features.map { $0.attributes["total"] } == [.real(33), .real(22)])
        }
    }

    @Test(
        "What makes no sense is refused",
        arguments: [
            ["outStatistics": "[{}]"], ["outStatistics": "5"], ["having": "COUNT(*) > 1"],
            ["outStatistics": #"[{"statisticType":"mode","onStatisticField":"Stems"}]"#],
            ["outStatistics": #"[{"statisticType":"sum","onStatisticField":"Name"}]"#],
            ["outStatistics": #"[{"statisticType":"sum","onStatisticField":"Nothing"}]"#],
            ["outStatistics": #"[{"statisticType":"percentile_cont","onStatisticField":"Stems"}]"#],
            [
                "outStatistics": #"[{"statisticType":"count","onStatisticField":"Stems","outStatisticFieldName":"a"},"#
                    + #"{"statisticType":"max","onStatisticField":"Stems","outStatisticFieldName":"A"}]"#
            ],
            [
                "outStatistics": #"[{"statisticType":"count","onStatisticField":"Stems"}]"#,
                "having": "Height > 3",
            ],
            ["outStatistics": #"[{"statisticType":"count","onStatisticField":"Stems"}]"#, "returnIdsOnly": "true"],
            ["where": "COUNT(*) > 1"],
        ] as [[String: String]])
    func refused(parameters: [String: String]) async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let query = parameters.map { "\($0.key)=\(TestClient.escape($0.value))" }.joined(separator: "&")
            let answer = try await server.client.get("\(Self.path)?\(query)", [:])
            #expect(answer.errorCode == 400)
        }
    }
}
