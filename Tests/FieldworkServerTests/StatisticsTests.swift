import FieldworkGeometry
import FieldworkREST
import Testing

@testable import FieldworkServer

@Suite("Statistics")
struct StatisticsTests {
    private static let path = "Trees/FeatureServer/0/query"

    private static func statistic(
        _ type: String, _ field: String, _ name: String, share: Double? = nil, order: String = "ASC"
    )
        -> String
    {
        let parameters = share.map { #","statisticParameters":{"value":\#($0),"orderBy":"\#(order)"}"# } ?? ""
        return
            #"{"statisticType":"\#(type)","onStatisticField":"\#(field)","outStatisticFieldName":"\#(name)"\#(parameters)}"#
    }

    private static func rows(_ json: JSONValue) -> [JSONValue] {
        (json["features"]?.arrayValue ?? []).compactMap { $0["attributes"] }
    }

    /// Stems counts 1, 2, 3 … in these trees.
    @Test("Every statistic of a layer is what arithmetic says")
    func all() async throws {
        try await TemporaryStore.serve(trees: 10) { server, _ in
            let wanted = [
                Self.statistic("count", "Stems", "n"), Self.statistic("sum", "Stems", "total"),
                Self.statistic("MIN", "Stems", "low"), Self.statistic("max", "Stems", "high"),
                Self.statistic("avg", "Stems", "mean"), Self.statistic("var", "Stems", "variance"),
                Self.statistic("stddev", "Stems", "deviation"),
                Self.statistic("PERCENTILE_CONT", "Stems", "c50", share: 0.5),
                Self.statistic("PERCENTILE_DISC", "Stems", "d90", share: 0.9),
                Self.statistic("percentile_disc", "Stems", "d90d", share: 0.9, order: "DESC"),
            ].joined(separator: ",")
            for where_ in ["1=1", "Stems <= 10"] {
                let json = try await server.client.get(
                    Self.path, ["where": where_, "outStatistics": "[\(wanted)]", "f": "json"]
                ).json
                #expect(json["geometryType"] == nil)
                let fields = json["fields"]?.arrayValue ?? []
                #expect(fields.first?["type"] == "esriFieldTypeInteger")
                #expect(fields.last?["name"] == "d90d")
                let row = try #require(Self.rows(json).first)
                #expect(Self.rows(json).count == 1)
                let expected: [(String, Double)] = [
                    ("n", 10), ("total", 55), ("low", 1), ("high", 10), ("mean", 5.5), ("variance", 55.0 / 6),
                    ("c50", 5.5), ("d90", 9), ("d90d", 2),
                ]
                for (name, value) in expected {
                    #expect(abs((row[name]?.doubleValue ?? .nan) - value) < 1e-9, "\(name)")
                }
                #expect(abs((row["deviation"]?.doubleValue ?? .nan) - (55.0 / 6).squareRoot()) < 1e-9)
            }
        }
    }

    @Test("Groups are counted, chosen by having, ordered and paged")
    func groups() async throws {
        try await TemporaryStore.serve(trees: 30) { server, _ in
            let statistics = "[\(Self.statistic("count", "OBJECTID", "n")),\(Self.statistic("max", "Name", "last"))]"
            let parameters: [(String, String)] = [
                ("where", "1=1"), ("outStatistics", statistics), ("groupByFieldsForStatistics", "MOD(Stems, 4)"),
                ("orderByFields", "n DESC"), ("f", "json"),
            ]
            func rows(_ more: [(String, String)]) async throws -> [JSONValue] {
                let all = parameters + more
                let json = try await server.client.get(
                    Self.path + "?" + all.map { "\($0.0)=\($0.1.percentEncoded)" }.joined(separator: "&"), [:]
                ).json
                return Self.rows(json)
            }
            // 1, 2 stand for eight trees of thirty, 0 and 3 for seven.
            let all = try await rows([])
            #expect(all.map { $0["n"]?.integerValue } == [8, 8, 7, 7])
            #expect(try await rows([("having", "COUNT(*) > 7")]).count == 2)
            #expect(try await rows([("having", "n > 7 AND SUM(Stems) > 120")]).count == 1)
            let page = try await rows([("resultOffset", "1"), ("resultRecordCount", "2")])
            #expect(page == Array(all[1...2]))
            let area = try await rows([("geometry", "-1,-1,95,1"), ("geometryType", "esriGeometryEnvelope")])
            #expect(area.compactMap { $0["n"]?.integerValue }.reduce(0, +) < 30)
        }
    }

    @Test("Nothing at all has a count of none and no other statistic; no group of it is a row")
    func nothing() async throws {
        try await TemporaryStore.serve(trees: 5) { server, _ in
            let statistics = "[\(Self.statistic("count", "*", "n")),\(Self.statistic("avg", "Stems", "mean"))]"
            let whole = try await server.client.get(
                Self.path, ["where": "Stems > 99", "outStatistics": statistics, "f": "json"]
            ).json
            #expect(Self.rows(whole) == [["n": 0, "mean": .null]])
            let grouped = try await server.client.get(
                Self.path,
                [
                    "where": "Stems > 99", "outStatistics": statistics, "groupByFieldsForStatistics": "Species",
                    "f": "json",
                ]
            ).json
            #expect(Self.rows(grouped).isEmpty)
        }
    }

    @Test("The other formats say the same")
    func formats() async throws {
        try await TemporaryStore.serve(trees: 5) { server, _ in
            let statistics = "[\(Self.statistic("sum", "Stems", "total"))]"
            let geojson = try await server.client.get(
                Self.path, ["where": "1=1", "outStatistics": statistics, "f": "geojson"]
            ).json
            #expect(geojson["features"]?.arrayValue?.first?["properties"]?["total"]?.doubleValue == 15)
            let pbf = try await server.client.get(
                Self.path, ["where": "1=1", "outStatistics": statistics, "f": "pbf"])
            let set = try PBFFeatureSetReader.read(pbf.body)
            #expect(set.features.first?.attributes.first { $0.0 == "total" }?.1.doubleValue == 15)
        }
    }

    @Test(
        "What can't be counted is refused by name",
        arguments: [
            (#"[{"statisticType":"median","onStatisticField":"Stems"}]"#, "", "median"),
            (#"[{"statisticType":"avg","onStatisticField":"Name"}]"#, "", "Name"),
            (#"[{"statisticType":"sum","onStatisticField":"Nothing"}]"#, "", "Nothing"),
            (#"[{"statisticType":"percentile_cont","onStatisticField":"Stems"}]"#, "", "percentile"),
            (#"{"a":1}"#, "", "outStatistics"),
            (#"[{"statisticType":"count","onStatisticField":"Stems","outStatisticFieldName":"n"}]"#, "x > 1", "x"),
            (
                #"[{"statisticType":"count","onStatisticField":"Stems","outStatisticFieldName":"n"}]"#,
                "SUM(COUNT(Stems)) > 1", "COUNT"
            ),
            ("", "n > 1", "outStatistics"),
        ])
    func refusals(statistics: String, having: String, named: String) async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let json = try await server.client.post(
                Self.path, ["where": "1=1", "outStatistics": statistics, "having": having, "f": "json"]
            ).json
            #expect(json["error"]?["code"]?.integerValue == 400)
            let text = json["error"]?.text ?? ""
            #expect(text.contains(named), "\(text)")
        }
    }
}

extension String {
    fileprivate var percentEncoded: String {
        utf8.map { byte in
            let isPlain = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            let hex = String(byte, radix: 16, uppercase: true)
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (hex.count == 1 ? "0" : "") + hex
        }.joined()
    }
}
