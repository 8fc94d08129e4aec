import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// `outStatistics` with what the geometries of a group make together.
@Suite("Statistics of geometries", .fewAtATime)
struct GeometryStatisticsTests {
    private static let path = "Trees/FeatureServer/0/query"
    private static let all = """
        [{"statisticType":"EnvelopeAggregate","onStatisticField":"Shape","outStatisticFieldName":"box"},
         {"statisticType":"centroidaggregate","outStatisticFieldName":"centre"},
         {"statisticType":"ConvexHullAggregate","outStatisticFieldName":"hull"},
         {"statisticType":"count","onStatisticField":"OBJECTID","outStatisticFieldName":"n"}]
        """

    private static func rows(_ json: JSONValue) -> [JSONValue] { json["features"]?.arrayValue ?? [] }

    private static func geometry(_ name: String, _ row: JSONValue) throws -> Geometry {
        let json = try #require(row["aggregateGeometries"]?[name])
        return try #require(try GeoServicesJSON.geometry(from: json))
    }

    @Test("Envelope, centre and hull of each group, in the layer's reference")
    func groups() async throws {
        // Ten trees 10 metres apart on one line, and ten above them: oaks are the 1st, 4th, 7th …
        try await TemporaryStore.serve(trees: 120) { server, _ in
            let json = try await server.client.get(
                Self.path,
                [
                    "where": "Stems <= 3 OR Stems > 100", "outStatistics": Self.all,
                    "groupByFieldsForStatistics": "Species",
                ]
            ).json
            let rows = Self.rows(json)
            #expect(rows.map { $0["attributes"]?["Species"] } == ["Lime", "Oak"])
            #expect(rows.map { $0["attributes"]?["n"] } == [16, 7])
            #expect(json["spatialReference"]?["latestWkid"] == 3857 && json["geometryType"] == nil)
            #expect(json["fields"]?.arrayValue?.compactMap { $0["name"]?.stringValue } == ["n", "Species"])
            // Oaks: the tree at the origin, and above it those at x 20, 50 … 170 and y 10 (trees 103, 106 … 118).
            let box = try Self.geometry("box", rows[1])
            #expect(box is Envelope && box.extent.xMin == 0 && box.extent.yMin == 0 && box.extent.yMax == 10)
            #expect(box.extent.xMax == 170)
            let hull = try Self.geometry("hull", rows[1])
            #expect(hull is Polygon && hull.vertices.count == 3 && hull.spatialReference == .webMercator)
            let centre = try #require(try Self.geometry("centre", rows[1]) as? Point)
            #expect(abs(centre.y - 60.0 / 7) < 1e-9)
        }
    }

    @Test("They leave in the reference that is asked for")
    func outSR() async throws {
        try await TemporaryStore.serve(trees: 120) { server, _ in
            let json = try await server.client.get(
                Self.path, ["where": "1=1", "outStatistics": Self.all, "outSR": "4326", "f": "pjson"]
            ).json
            let row = try #require(Self.rows(json).first)
            #expect(json["spatialReference"]?["wkid"] == 4326)
            let extent = try await server.client.get(
                Self.path, ["where": "1=1", "returnExtentOnly": "true", "outSR": "4326"]
            ).json
            let box = try Self.geometry("box", row)
            #expect(box.spatialReference == .wgs84)
            #expect(box.extent.xMax == extent["extent"]?["xmax"]?.doubleValue)
            #expect(abs(box.extent.xMax - 990 / 111_319.490793) < 1e-8)
            let hull = try Self.geometry("hull", row)
            let centre = try Self.geometry("centre", row)
            #expect(GeometryEngine.isGeometry(centre, within: hull))
        }
    }

    @Test("Polygons are taken whole, those without a geometry not at all; a group of such has nothing")
    func areas() async throws {
        try await TemporaryStore.serve { server, store in
            func square(_ x: Double, _ size: Double) -> Geometry {
                Envelope(xMin: x, yMin: 0, xMax: x + size, yMax: size, spatialReference: .webMercator).toPolygon()
            }
            let shapes: [(String, Geometry?)] = [("a", square(0, 2)), ("a", square(10, 4)), ("a", nil), ("b", nil)]
            let edits = shapes.map { name, geometry in
                FeatureEdit(attributes: [("Name", .text(name))], geometry: geometry.map { .geometry($0) } ?? .unchanged)
            }
            _ = try await store.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, adds: edits)], moment: TemporaryStore.moment, origin: .load),
                to: TreesService.areas.name)
            let json = try await server.client.get(
                "Areas/FeatureServer/0/query",
                ["outStatistics": Self.all, "groupByFieldsForStatistics": "Name"]
            ).json
            let rows = Self.rows(json)
            try #require(rows.count == 2)
            #expect(try Self.geometry("box", rows[0]).extent.xMax == 14)
            #expect(try Self.geometry("hull", rows[0]).vertices.count == 5)
            // 4 at (1, 1) and 16 at (12, 2).
            let centre = try #require(try Self.geometry("centre", rows[0]) as? Point)
            #expect(abs(centre.x - 9.8) < 1e-9 && abs(centre.y - 1.8) < 1e-9)
            for name in ["box", "centre", "hull"] { #expect(rows[1]["aggregateGeometries"]?[name] == .null) }
            #expect(rows[1]["attributes"]?["n"] == 1)
        }
    }

    @Test("They stand beside percentiles, hidden aggregates, pages and names of any kind")
    func company() async throws {
        try await TemporaryStore.serve(trees: 100) { server, _ in
            let statistics = """
                [{"statisticType":"ConvexHullAggregate","outStatisticFieldName":"hull \\" of"},
                 {"statisticType":"percentile_cont","onStatisticField":"Stems","outStatisticFieldName":"$0",
                  "statisticParameters":{"value":0.5}}]
                """
            let json = try await server.client.get(
                Self.path,
                [
                    "outStatistics": statistics, "groupByFieldsForStatistics": "Height", "having": "COUNT(*) > 2",
                    "orderByFields": "MAX(Stems) DESC", "resultOffset": "1", "resultRecordCount": "2",
                    "spatialRel": "esriSpatialRelIntersects", "geometry": "0,-1,1000,1",
                ]
            ).json
            // Heights 0.5 to 19.5 have three trees each: k, k + 40, k + 80.
            #expect(Self.rows(json).map { $0["attributes"]?["$0"]?.doubleValue } == [59, 58])
            let hull = try Self.geometry("hull \" of", try #require(Self.rows(json).first))
            #expect((hull as? Polyline)?.extent.width == 800)
            #expect(json["exceededTransferLimit"] == true)
        }
    }

    @Test("The past has its own")
    func past() async throws {
        try await TemporaryStore.serve { server, store in
            func apply(_ edits: LayerEdits, after seconds: Double) async throws {
                let batch = EditBatch(layers: [edits], moment: TemporaryStore.moment.addingTimeInterval(seconds))
                let done = try await store.apply(batch, to: TreesService.areas.name)
                try #require(!done.hasErrors)
            }
            let adds = [0.0, 10].map { x in
                FeatureEdit(
                    geometry: .geometry(
                        Envelope(xMin: x, yMin: 0, xMax: x + 1, yMax: 1, spatialReference: .webMercator).toPolygon()))
            }
            try await apply(LayerEdits(layerID: 0, adds: adds), after: 0)
            try await apply(LayerEdits(layerID: 0, deletes: .features([.objectID(2)])), after: 60)
            for (moment, xMax) in [("", 1.0), ("1700000030000", 11), ("1700000060000", 1)] {
                let json = try await server.client.get(
                    "Areas/FeatureServer/0/query", ["outStatistics": Self.all, "historicMoment": moment]
                ).json
                let row = try #require(Self.rows(json).first, "\(json.text)")
                #expect(try Self.geometry("box", row).extent.xMax == xMax)
            }
        }
    }

    @Test("The page of a query shows them beside the numbers")
    func page() async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let parameters: KeyValuePairs = ["where": "1=1", "outStatistics": Self.all, "f": "html"]
            let page = try await server.client.get(Self.path, parameters).text
            #expect(page.contains("<th>hull</th>") && page.contains("<th>n</th>"))
            #expect(page.contains("{&quot;xmin&quot;:0,&quot;ymin&quot;:0,&quot;xmax&quot;:20"))
        }
    }

    @Test("Over no features there is a row of nothing")
    func nothing() async throws {
        try await TemporaryStore.serve { server, _ in
            let json = try await server.client.get(Self.path, ["outStatistics": Self.all]).json
            let row = try #require(Self.rows(json).first)
            #expect(row["aggregateGeometries"] == ["box": .null, "centre": .null, "hull": .null])
        }
    }

    @Test("Layers say that they can, tables that they can't")
    func advertised() async throws {
        try await TemporaryStore.serve { server, _ in
            for (id, isAble) in [(0, true), (1, false)] {
                let layer = try await server.client.get("Trees/FeatureServer/\(id)").json
                #expect(
                    layer["advancedQueryCapabilities"]?["supportsSpatialAggregationStatistics"]?.boolValue == isAble)
            }
        }
    }

    @Test(
        "What can't be answered is refused, by name",
        arguments: [
            ("f", "pbf", "outStatistics"), ("f", "geojson", "outStatistics"),
            ("geometryPrecision", "1", "geometryPrecision"), ("maxAllowableOffset", "1", "maxAllowableOffset"),
            ("quantizationParameters", "{\"tolerance\":1}", "quantizationParameters"),
            ("orderByFields", "hull", "hull"), ("having", "hull IS NULL", "hull"),
        ])
    func refused(name: String, value: String, named: String) async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let query = TestClient.form(["outStatistics": Self.all]) + "&\(name)=\(TestClient.escape(value))"
            let answer = try await server.client.get("\(Self.path)?\(query)")
            #expect(answer.errorCode == 400)
            #expect(answer.text.contains(named))
        }
    }

    @Test(
        "Statistics that make no sense are refused",
        arguments: [
            #"[{"statisticType":"ConvexHullAggregate","onStatisticField":"Nothing"}]"#,
            #"[{"statisticType":"CentroidAggregate"},{"statisticType":"CentroidAggregate"}]"#,
            #"[{"statisticType":"CentroidAggregate","outStatisticFieldName":"a"},"#
                + #"{"statisticType":"EnvelopeAggregate","outStatisticFieldName":"b"},"#
                + #"{"statisticType":"EnvelopeAggregate","outStatisticFieldName":"c"},"#
                + #"{"statisticType":"EnvelopeAggregate","outStatisticFieldName":"d"}]"#,
        ])
    func senseless(statistics: String) async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let answer = try await server.client.get(Self.path, ["outStatistics": statistics])
            #expect(answer.errorCode == 400)
        }
    }

    @Test("A table has no geometries to make anything of")
    func table() async throws {
        try await TemporaryStore.serve { server, _ in
            let answer = try await server.client.get(
                "Trees/FeatureServer/1/query", ["outStatistics": #"[{"statisticType":"CentroidAggregate"}]"#])
            #expect(answer.errorCode == 400 && answer.text.contains("table"))
        }
    }
}
