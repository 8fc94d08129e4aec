import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// The parameters of a query that decide how much comes and in which form.
@Suite("Output of queries", .fewAtATime)
struct QueryOutputTests {
    private static let path = "Trees/FeatureServer/0/query"

    private static func count(_ json: JSONValue) -> Int? { json["features"]?.arrayValue?.count }

    /// Adds features to a layer and requires that they are kept.
    private static func add(
        _ geometries: [Geometry], names: [String], to service: ServiceName, _ store: GeoPackageStore
    )
        async throws
    {
        let adds = zip(geometries, names).map { geometry, name in
            FeatureEdit(attributes: [("Name", .text(name))], geometry: .geometry(geometry))
        }
        let result = try await store.apply(
            EditBatch(layers: [LayerEdits(layerID: 0, adds: adds)], moment: TemporaryStore.moment), to: service)
        try #require(!result.hasErrors)
    }

    // MARK: How many

    @Test("The kind of result and the factor decide how many features come at once")
    func recordLimits() async throws {
        try await TemporaryStore.serve(trees: 2_500) { server, _ in
            func answer(_ more: KeyValuePairs<String, String>) async throws -> JSONValue {
                var path = "\(Self.path)?f=json&where=1%3D1&returnGeometry=false"
                for (name, value) in more { path += "&\(name)=\(value)" }
                return try await server.client.get(path).json
            }
            let plain = try await answer([:])
            #expect(Self.count(plain) == 1_000 && plain["exceededTransferLimit"] == true)
            let doubled = try await answer(["maxRecordCountFactor": "2"])
            #expect(Self.count(doubled) == 2_000 && doubled["exceededTransferLimit"] == true)
            for type in ["tile", "standard"] {
                let whole = try await answer(["resultType": type])
                #expect(Self.count(whole) == 2_500 && whole["exceededTransferLimit"] == nil, "\(type)")
            }
            let page = try await answer(["resultType": "tile", "resultRecordCount": "10"])
            #expect(Self.count(page) == 10 && page["exceededTransferLimit"] == true)
            for (name, value) in [("maxRecordCountFactor", "6"), ("maxRecordCountFactor", "0"), ("resultType", "all")] {
                let refused = try await answer(["\(name)": value])
                #expect(refused["error"]?["details"]?.text.contains(name) == true)
            }
            let layer = try await server.client.get("Trees/FeatureServer/0?f=json").json
            #expect(layer["tileMaxRecordCount"] == 8_000 && layer["standardMaxRecordCount"] == 32_000)
            #expect(layer["advancedQueryCapabilities"]?["supportsQueryWithResultType"] == true)
        }
    }

    @Test(
        "A tile whose features are too many comes without any, and says so",
        arguments: ["json", "pjson", "geojson", "pbf"])
    func wholeOrEmpty(format: String) async throws {
        try await TemporaryStore.serve(trees: 30) { server, _ in
            func read(_ limit: Int) async throws -> (count: Int, isCut: Bool) {
                let answer = try await server.client.get(
                    Self.path,
                    [
                        "where": "1=1", "resultType": "tile", "returnExceededLimitFeatures": "false",
                        "resultRecordCount": "\(limit)", "f": format,
                    ])
                if format == "pbf" {
                    let set = try PBFFeatureSetReader.read(answer.body)
                    return (set.features.count, set.exceededTransferLimit)
                }
                let json = try answer.json
                let count = try #require(Self.count(json))
                return (count, json["exceededTransferLimit"] == true)
            }
            let (cut, whole) = (try await read(29), try await read(30))
            #expect(cut.count == 0 && cut.isCut)
            #expect(whole.count == 30 && !whole.isCut)
        }
    }

    // MARK: Formats

    @Test("Every format has the same big integers, texts, rings and measures")
    func formats() async throws {
        let name = ServiceName(name: "Formats")
        let layer = LayerDefinition(
            id: 0, name: "Formats", geometryType: .polygon, hasM: true, spatialReference: .wgs84,
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                FieldDefinition(name: "big", type: .bigInteger),
                FieldDefinition(name: "text", type: .string, length: 200),
            ])
        let text = String(String.UnicodeScalarView((1..<0x60).compactMap(Unicode.Scalar.init)))
        // Wound either way: both formats turn one of them.
        let corners = [(0.0, 0.0), (0.0, 4.0), (4.0, 4.0), (4.0, 1.0)].map {
            Point(x: $0.0, y: $0.1, z: nil, m: 10 * $0.0 + $0.1)
        }
        let polygons = [corners, Array(corners.reversed())].map { Polygon(points: $0, spatialReference: .wgs84) }
        try await TemporaryStore.serve { server, store in
            try await store.createService(ServiceDefinition(name: name, layers: [layer]))
            let adds = zip(polygons, [Int64.min, -1]).map { polygon, big in
                FeatureEdit(
                    attributes: [("big", .integer(big)), ("text", .text(text))], geometry: .geometry(polygon))
            }
            let added = try await store.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, adds: adds)], moment: TemporaryStore.moment), to: name)
            #expect(!added.hasErrors)
            func answer(_ format: String) async throws -> TestClient.Answer {
                try await server.client.get(
                    "Formats/FeatureServer/0/query",
                    ["where": "1=1", "outFields": "*", "returnM": "true", "orderByFields": "OBJECTID", "f": format])
            }
            // A parser that knows nothing of this project takes the text.
            let strict = try JSONSerialization.jsonObject(with: Data(try await answer("json").body))
            #expect((strict as? [String: Any])?["features"] != nil)
            let sets = [
                try FeatureSetReader.read(json: try await answer("json").json),
                try PBFFeatureSetReader.read(try await answer("pbf").body),
            ]
            for set in sets {
                #expect(set.features.map { $0.attributes["big"] } == [.integer(.min), .integer(-1)])
                #expect(set.features.map { $0.attributes["text"] } == [.text(text), .text(text)])
                for feature in set.features {
                    let vertices = try #require(feature.geometry).vertices
                    for index in 0..<vertices.count {
                        let place = 10 * vertices.x(index) + vertices.y(index)
                        #expect(vertices.m(index).map { abs($0 - place) < 1e-5 } == true)
                    }
                }
            }
            for feature in try await answer("geojson").json["features"]?.arrayValue ?? [] {
                let ring = (feature["geometry"]?["coordinates"]?.arrayValue?.first?.arrayValue ?? [])
                    .map { $0.arrayValue?.compactMap(\.doubleValue) ?? [] }
                let area = zip(ring, ring.dropFirst()).reduce(0) { $0 + $1.0[0] * $1.1[1] - $1.1[0] * $1.0[1] }
                #expect(ring.count == 5 && area > 0, "GeoJSON's outer rings go against the clock")
            }
        }
    }

    // MARK: Centres and envelopes
    /// 100 by 100 with a hole in its right half.
    private static var areas: [Geometry] {
        get throws {
            let json = """
                {"rings":[[[0,0],[0,100],[100,100],[100,0],[0,0]],[[60,20],[80,20],[80,80],[60,80],[60,20]]],
                "spatialReference":{"wkid":3857}}
                """
            let geometry = try GeoServicesJSON.geometry(from: JSONParser.parse(json))
            return [try #require(geometry)]
        }
    }

    @Test("The centroid of a polygon leaves out its holes, with or without the polygon itself")
    func centroid() async throws {
        try await TemporaryStore.serve { server, store in
            try await Self.add(try Self.areas, names: ["Square"], to: TreesService.areas.name, store)
            // 10,000 about (50,50) less 1,200 about (70,50).
            let x = (10_000 * 50 - 1_200 * 70) / 8_800.0
            for returnsGeometry in ["true", "false"] {
                let feature = try await server.client.get(
                    "Areas/FeatureServer/0/query",
                    [
                        "where": "1=1", "returnGeometry": returnsGeometry, "returnCentroid": "true",
                        "returnEnvelope": "true", "f": "json",
                    ]
                ).json["features"]?.arrayValue?.first
                let found = try #require(feature?["centroid"]?["x"]?.doubleValue)
                #expect(abs(found - x) < 1e-9)
                #expect(abs((feature?["centroid"]?["y"]?.doubleValue ?? .nan) - 50) < 1e-9)
                #expect(feature?["envelope"] == ["xmin": 0, "ymin": 0, "xmax": 100, "ymax": 100])
                #expect((feature?["geometry"] != nil) == (returnsGeometry == "true"))
            }
            let grid = """
                {"mode":"view","originPosition":"lowerLeft","tolerance":1,
                "extent":{"xmin":0,"ymin":0,"xmax":100,"ymax":100}}
                """
            let cells = try await server.client.get(
                "Areas/FeatureServer/0/query",
                ["where": "1=1", "returnCentroid": "true", "quantizationParameters": grid, "f": "json"]
            ).json
            #expect(cells["features"]?.arrayValue?.first?["centroid"] == ["x": 47, "y": 50])
            let pbf = try await server.client.get(
                "Areas/FeatureServer/0/query",
                ["where": "1=1", "returnCentroid": "true", "quantizationParameters": grid, "f": "pbf"])
            // Member 4 of the feature: four bytes, member 3 of the geometry in it, two: 47 and 50 in zigzag.
            #expect(pbf.body.indices.contains { pbf.body[$0...].starts(with: [0x22, 4, 0x1A, 2, 94, 100]) })
            let layer = try await server.client.get("Areas/FeatureServer/0?f=json").json
            #expect(layer["advancedQueryCapabilities"]?["supportsReturningGeometryCentroid"] == true)
        }
    }

    @Test("A centroid is of a polygon, and GeoJSON has no place for one")
    func centroidRefused() async throws {
        try await TemporaryStore.serve(trees: 1) { server, _ in
            for path in [Self.path + "?f=json", "Areas/FeatureServer/0/query?f=geojson"] {
                let answer = try await server.client.get(path + "&where=1%3D1&returnCentroid=true")
                #expect(answer.errorCode == 400)
                #expect(answer.text.contains("returnCentroid"))
            }
            let layer = try await server.client.get("Trees/FeatureServer/0?f=json").json
            #expect(layer["advancedQueryCapabilities"]?["supportsReturningGeometryCentroid"] == false)
        }
    }

    // MARK: Distinct

    @Test("Distinct rows may have geometries, and are counted")
    func distinct() async throws {
        try await TemporaryStore.serve { server, store in
            let places = [0.0, 0, 0, 10].map { Point(x: $0, y: 0, spatialReference: .webMercator) }
            let adds = zip(places, ["Oak", "Oak", "Lime", "Oak"]).map { place, species in
                FeatureEdit(attributes: [("Species", .text(species))], geometry: .geometry(place))
            }
            _ = try await store.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, adds: adds)], moment: TemporaryStore.moment),
                to: TreesService.name)
            let json = try await server.client.get(
                Self.path,
                [
                    "where": "1=1", "outFields": "Species", "returnDistinctValues": "true",
                    "orderByFields": "Species", "f": "json",
                ]
            ).json
            let rows = (json["features"]?.arrayValue ?? []).map {
                "\($0["attributes"]?["Species"]?.stringValue ?? "") \($0["geometry"]?["x"]?.doubleValue ?? -1)"
            }
            #expect(rows.sorted() == ["Lime 0.0", "Oak 0.0", "Oak 10.0"])
            let count = try await server.client.get(
                Self.path,
                [
                    "where": "1=1", "outFields": "Species", "returnDistinctValues": "true", "returnCountOnly": "true",
                    "f": "json",
                ]
            ).json
            #expect(count == ["count": 2])
        }
    }

    // MARK: Grids

    @Test("A grid in JSON carries heights and measures, and they are read back as they were")
    func heights() async throws {
        try await TemporaryStore.serve { server, store in
            let name = ServiceName(name: "Paths")
            let definition = ServiceDefinition(
                name: name,
                layers: [
                    LayerDefinition(
                        id: 0, name: "Paths", geometryType: .polyline, hasZ: true, hasM: true,
                        spatialReference: .webMercator,
                        fields: [
                            FieldDefinition(name: "OBJECTID", type: .oid), FieldDefinition(name: "Name", type: .string),
                        ])
                ])
            try await store.createService(definition)
            let line = Polyline(
                points: [
                    Point(x: 3, y: 4, z: 12.5, m: 0, spatialReference: .webMercator),
                    Point(x: 13, y: 24, z: -7.25, m: 1.5, spatialReference: .webMercator),
                ], spatialReference: .webMercator)
            try await Self.add([line], names: ["Up"], to: name, store)
            let parameters: KeyValuePairs = [
                "where": "1=1", "returnZ": "true", "returnM": "true",
                "quantizationParameters":
                    "{\"tolerance\":1,\"extent\":{\"xmin\":0,\"ymin\":0,\"xmax\":100,\"ymax\":100}}",
            ]
            let json = try await server.client.get("Paths/FeatureServer/0/query?f=json", [:]).json
            #expect(Self.count(json) == 1)
            let cells = try await server.client.post("Paths/FeatureServer/0/query?f=json", parameters).json
            #expect(cells["transform"]?["scale"]?.arrayValue?.count == 4)
            let set = try FeatureSetReader.read(json: cells)
            let read = try #require(set.features.first?.geometry as? Polyline)
            for (vertex, expected) in [(0, (3.0, 4.0, 12.5, 0.0)), (1, (13, 24, -7.25, 1.5))] {
                #expect(abs(read.vertices.x(vertex) - expected.0) < 1e-9)
                #expect(abs(read.vertices.y(vertex) - expected.1) < 1e-9)
                #expect(abs((read.vertices.z(vertex) ?? .nan) - expected.2) < 1e-4)
                #expect(abs((read.vertices.m(vertex) ?? .nan) - expected.3) < 1e-4)
            }
        }
    }

    // MARK: Datums

    /// ED50 at 10° east, 50° north, after a shift by (-87, -98, -121) metres (EPSG:1133), as `cs2cs` gives it.
    private static let shifted = (9.998864620, 49.999198592)

    @Test(
        "The named way between datums is taken, in each form, on the way in and on the way out",
        arguments: ["1133", "{\"wkid\":1133}", "{\"geoTransforms\":[{\"wkid\":1133,\"transformForward\":true}]}"])
    func datumTransformation(text: String) async throws {
        try await TemporaryStore.serve { server, store in
            try await Self.makeOldDatum(store)
            let out = try await server.client.get(
                "Old/FeatureServer/0/query",
                ["where": "1=1", "outSR": "4326", "datumTransformation": text, "f": "json"]
            ).json["features"]?.arrayValue?.first?["geometry"]
            let (x, y) = (try #require(out?["x"]?.doubleValue), try #require(out?["y"]?.doubleValue))
            #expect(abs(x - Self.shifted.0) < 1e-8 && abs(y - Self.shifted.1) < 1e-8, "\(x) \(y)")
            // Half a metre around the place in the other datum: found by this way, not by one that lies metres off.
            let around = "\(x - 5e-6),\(y - 5e-6),\(x + 5e-6),\(y + 5e-6)"
            for (way, expected) in [(text, 1), ("1134", 0)] {
                let count = try await server.client.get(
                    "Old/FeatureServer/0/query",
                    [
                        "geometry": around, "inSR": "4326", "datumTransformation": way, "returnCountOnly": "true",
                        "f": "json",
                    ]
                ).json
                #expect(count == ["count": .integer(Int64(expected))], "\(way)")
            }
        }
    }

    @Test("Ways of several steps lead through another datum; ways that lead elsewhere are refused")
    func compositeTransformation() async throws {
        try await TemporaryStore.serve(trees: 1) { server, store in
            try await Self.makeOldDatum(store)
            func answer(_ text: String, to reference: String = "4326") async throws -> TestClient.Answer {
                try await server.client.get(
                    "Old/FeatureServer/0/query",
                    ["where": "1=1", "outSR": reference, "datumTransformation": text, "f": "json"])
            }
            // ED50 to ETRS89 (9), then ETRS89 to WGS 84 (1), which moves nothing.
            let composite = try await answer("{\"geoTransforms\":[{\"wkid\":1783},{\"wkid\":1149}]}")
            let direct = try await answer("1783", to: "4258")
            let places = try [composite, direct].compactMap {
                try $0.json["features"]?.arrayValue?.first?["geometry"]?["x"]?.doubleValue
            }
            try #require(places.count == 2)
            #expect(abs(places[0] - places[1]) < 1e-9)
            for wrong in ["1188", "999999", "[]", "{\"geoTransforms\":[]}", "x", "{\"wkid\":-1}"] {
                let refused = try await answer(wrong)
                #expect(refused.errorCode == 400, "\(wrong)")
                #expect(refused.text.contains("datumTransformation"))
            }
            // Between references of one datum there is nothing to choose.
            let same = try await server.client.get(
                Self.path, ["where": "1=1", "outSR": "4326", "datumTransformation": "1188", "f": "json"])
            #expect(same.errorCode == nil)
        }
    }

    private static func makeOldDatum(_ store: GeoPackageStore) async throws {
        let name = ServiceName(name: "Old")
        let wkid = try #require(WKID(4_230))
        let reference = try #require(SpatialReference(wkid: wkid))
        try await store.createService(
            ServiceDefinition(
                name: name,
                layers: [
                    LayerDefinition(
                        id: 0, name: "Old", geometryType: .point, spatialReference: reference,
                        fields: [
                            FieldDefinition(name: "OBJECTID", type: .oid), FieldDefinition(name: "Name", type: .string),
                        ])
                ]))
        try await add([Point(x: 10, y: 50, spatialReference: reference)], names: ["Here"], to: name, store)
    }
}
