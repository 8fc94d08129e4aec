import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Queries", .fewAtATime)
struct QueryTests {
    private static let path = "Trees/FeatureServer/0/query"

    /// The values of a field in an answer's features, in order.
    private static func values(_ field: String, of json: JSONValue) -> [JSONValue?] {
        (json["features"]?.arrayValue ?? []).map { $0["attributes"]?[field] }
    }

    @Test("Features carry the asked fields and their geometry", arguments: ["GET", "POST", "multipart", "JSON"])
    func features(way: String) async throws {
        try await TemporaryStore.serve(trees: 20) { server, _ in
            let parameters: KeyValuePairs = [
                "where": "Stems <= 3", "outFields": "Name,Stems", "outSR": "", "returnGeometry": "True", "f": "json",
                "gbdVersion": "x",
            ]
            let client = server.client
            let answer: TestClient.Answer
            switch way {
            case "GET": answer = try await client.get(Self.path, parameters)
            case "POST": answer = try await client.post(Self.path, parameters)
            case "multipart": answer = try await client.postMultipart(Self.path, parameters)
            default:
                let body = JSONValue.object(
                    JSONObject(["where": "Stems <= 3", "outFields": "Name,Stems", "f": "json"])
                ).text
                answer = try await client.send(
                    "POST", Self.path, headers: [("Content-Type", "application/json")], body: Array(body.utf8))
            }
            let json = try answer.json
            #expect(json["objectIdFieldName"] == "OBJECTID")
            #expect(json["geometryType"] == "esriGeometryPoint")
            #expect(json["spatialReference"]?["latestWkid"]?.integerValue == 3_857)
            #expect(json["exceededTransferLimit"]?.boolValue != true)
            #expect(Self.values("Name", of: json) == ["Tree 1", "Tree 2", "Tree 3"])
            #expect(json["features"]?.arrayValue?[2]["geometry"]?["x"]?.doubleValue == 20)
            let names = json["fields"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
            #expect(names.filter { $0 != "OBJECTID" } == ["Name", "Stems"])
        }
    }

    @Test("Count, ids and extent are not cut by a page")
    func summaries() async throws {
        try await TemporaryStore.serve(trees: 1_500) { server, _ in
            let count = try await server.client.get(
                Self.path, ["where": "1=1", "returnCountOnly": "true", "f": "json"])
            #expect(try count.json == ["count": 1_500])
            let ids = try await server.client.get(
                Self.path, ["where": "Stems > 100", "returnIdsOnly": "true", "f": "json"]
            ).json
            #expect(ids["objectIdFieldName"] == "OBJECTID")
            #expect(ids["objectIds"]?.arrayValue?.count == 1_400)
            let extent = try await server.client.get(
                Self.path, ["where": "Stems <= 200", "returnExtentOnly": "true", "f": "json"]
            ).json
            #expect(extent["count"]?.integerValue == 200)
            #expect(extent["extent"]?["xmax"]?.doubleValue == 990)
            #expect(extent["extent"]?["ymax"]?.doubleValue == 10)
        }
    }

    @Test("Pages follow each other without gap or repetition; the last one says that it is the last")
    func paging() async throws {
        try await TemporaryStore.serve(trees: 2_345) { server, _ in
            var seen: [JSONValue?] = []
            var isLast = false
            while !isLast {
                let json = try await server.client.get(
                    Self.path, ["where": "1=1", "outFields": "Stems", "resultOffset": "\(seen.count)", "f": "json"]
                ).json
                seen += Self.values("Stems", of: json)
                isLast = json["exceededTransferLimit"]?.boolValue != true
                try #require(seen.count <= 2_345)
            }
            #expect(seen.count == 2_345)
            #expect(Set(seen).count == 2_345)
        }
    }

    @Test("An explicit page size is kept, and told when there is more")
    func explicitPage() async throws {
        try await TemporaryStore.serve(trees: 30) { server, _ in
            let page = try await server.client.get(
                Self.path,
                [
                    "where": "1=1", "outFields": "Stems", "orderByFields": "Stems DESC", "resultRecordCount": "10",
                    "f": "json",
                ]
            ).json
            #expect(Self.values("Stems", of: page).first == .some(.integer(30)))
            #expect(Self.values("Stems", of: page).count == 10)
            #expect(page["exceededTransferLimit"] == true)
            let last = try await server.client.get(
                Self.path, ["where": "1=1", "resultOffset": "20", "resultRecordCount": "10", "f": "json"]
            ).json
            #expect(Self.values("OBJECTID", of: last).count == 10)
            #expect(last["exceededTransferLimit"]?.boolValue != true)
        }
    }

    @Test("A rectangle in longitude and latitude finds what lies in it")
    func rectangle() async throws {
        try await TemporaryStore.serve(trees: 500) { server, _ in
            let json = try await server.client.get(
                Self.path,
                [
                    "geometry": "-0.00001,-0.00001,0.0004,0.0001", "geometryType": "esriGeometryEnvelope",
                    "inSR": "4326",
                    "spatialRel": "esriSpatialRelIntersects", "orderByFields": "Stems", "outFields": "Stems",
                    "outSR": "4326", "f": "json",
                ]
            ).json
            #expect(json["spatialReference"]?["wkid"]?.integerValue == 4_326)
            #expect(Self.values("Stems", of: json) == [1, 2, 3, 4, 5, 101, 102, 103, 104, 105])
        }
    }

    @Test(
        "Explicit ids are all answered, in the form clients send them", arguments: ["1,2,3", "[1, 2, 3]", " 1, 2,3 "])
    func objectIDs(ids: String) async throws {
        try await TemporaryStore.serve(trees: 10) { server, _ in
            let json = try await server.client.get(Self.path, ["objectIds": ids, "outFields": "*", "f": "json"]).json
            #expect(Self.values("OBJECTID", of: json).count == 3)
        }
    }

    @Test("No feature is an empty list, with the fields")
    func nothing() async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let json = try await server.client.get(Self.path, ["where": "Stems > 100", "outFields": "*", "f": "json"])
                .json
            #expect(json["features"] == [])
            #expect(json["fields"]?.arrayValue?.count == 8)
        }
    }

    @Test("GeoJSON is in longitude and latitude")
    func geoJSON() async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let answer = try await server.client.get(Self.path, ["where": "1=1", "outFields": "*", "f": "geojson"])
            #expect(answer.header("Content-Type")?.hasPrefix("application/geo+json") == true)
            let json = try answer.json
            #expect(json["type"] == "FeatureCollection")
            #expect(json["features"]?.arrayValue?.count == 3)
            let coordinates = json["features"]?.arrayValue?[2]["geometry"]?["coordinates"]?.arrayValue
            let longitude = try #require(coordinates?.first?.doubleValue)
            #expect(abs(longitude - 0.000179663) < 1e-8)
        }
    }

    @Test("PBF is sent as such and is shorter than JSON")
    func pbf() async throws {
        try await TemporaryStore.serve(trees: 500) { server, _ in
            let pbf = try await server.client.get(Self.path, ["where": "1=1", "outFields": "*", "f": "pbf"])
            #expect(pbf.header("Content-Type") == "application/x-protobuf")
            let json = try await server.client.get(Self.path, ["where": "1=1", "outFields": "*", "f": "json"])
            #expect(!pbf.body.isEmpty)
            #expect(pbf.body.count < json.body.count * 3 / 5)
        }
    }

    @Test("One feature has an address of its own")
    func singleFeature() async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let json = try await server.client.get("Trees/FeatureServer/0/2", ["f": "json"]).json
            #expect(json["feature"]?["attributes"]?["Name"] == "Tree 2")
            #expect(json["feature"]?["geometry"]?["x"]?.doubleValue == 10)
            #expect(try await server.client.get("Trees/FeatureServer/0/99", ["f": "json"]).errorCode == 404)
        }
    }

    @Test("A table answers without geometry")
    func table() async throws {
        try await TemporaryStore.serve { server, _ in
            let json = try await server.client.get(
                "Trees/FeatureServer/1/query", ["where": "1=1", "outFields": "*", "f": "json"]
            ).json
            #expect(json["features"] == [])
            #expect(json["geometryType"]?.isNull != false)
        }
    }

    @Test("The answer that a client has is not sent again until something changed")
    func entityTag() async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let parameters: KeyValuePairs = ["where": "1=1", "outFields": "*", "f": "json"]
            let first = try await server.client.get(
                Self.path, parameters, headers: [("User-Agent", "Mozilla/5.0 (X11) Firefox/140.0")])
            let tag = try #require(first.header("ETag"))
            let second = try await server.client.get(Self.path, parameters, headers: [("If-None-Match", tag)])
            #expect(second.status == 304)
            let edit = try await server.client.post(
                "Trees/FeatureServer/0/deleteFeatures", ["objectIds": "1", "f": "json"])
            #expect(edit.errorCode == nil)
            let third = try await server.client.get(Self.path, parameters, headers: [("If-None-Match", tag)])
            #expect(third.status == 200)
            #expect(try third.json["features"]?.arrayValue?.count == 2)
        }
    }

    @Test("The rectangle of a map is understood as QGIS writes it, with the plus signs of its exponents as they are")
    func exponents() async throws {
        try await TemporaryStore.serve(trees: 120) { server, _ in
            func count(_ rectangle: String) async throws -> JSONValue {
                try await server.client.get(
                    Self.path + "?f=json&where=1=1&returnCountOnly=true&geometry=\(rectangle)"
                        + "&geometryType=esriGeometryEnvelope&spatialRel=esriSpatialRelEnvelopeIntersects"
                ).json
            }
            let plain = try await count("-10,-10,100,10")
            #expect(plain["count"]?.integerValue.map { (1..<120).contains($0) } == true)
            #expect(try await count("-1e+01,-1.0e+01,1e+02,1e+01") == plain)
            #expect(try await count("-1E+01,%20-10,1e%2B02,+10") == plain)
        }
    }

    @Test("Several places at once find what stands on any of them, as all relations mean it")
    func multipoint() async throws {
        try await TemporaryStore.serve(trees: 120) { server, _ in
            let places = #"{"points":[[0,0],[20,0],[5,5],[990,0]],"spatialReference":{"wkid":102100}}"#
            for (relation, expected) in [
                ("esriSpatialRelIntersects", [1, 3, 100]), ("esriSpatialRelContains", [1, 3, 100]),
                ("esriSpatialRelWithin", []), ("esriSpatialRelTouches", []),
                ("esriSpatialRelEnvelopeIntersects", Array(1...100)),
            ] {
                let parameters: KeyValuePairs = [
                    "geometry": places, "geometryType": "esriGeometryMultipoint", "spatialRel": relation,
                    "outFields": "Stems", "orderByFields": "Stems", "returnGeometry": "false", "f": "json",
                ]
                let wanted = expected.map { JSONValue($0) }
                for json in [
                    try await server.client.get(Self.path, parameters).json,
                    try await server.client.post(Self.path, parameters).json,
                ] {
                    #expect(Self.values("Stems", of: json) == wanted, "\(relation)")
                }
            }
            // A metre around each place, which has another reference.
            let around = try await server.client.get(
                Self.path,
                [
                    "geometry": #"{"points":[[0.000001,0],[0.00018,0]]}"#, "geometryType": "esriGeometryMultipoint",
                    "inSR": "4326", "distance": "1", "units": "esriSRUnit_Meter", "outFields": "Stems",
                    "orderByFields": "Stems", "f": "json",
                ]
            ).json
            #expect(Self.values("Stems", of: around) == [1, 3])
        }
    }

    @Test(
        "What lies between two dates is compared with days and with intervals, and both mean the same",
        arguments: [
            ("TIMESTAMP '2020-09-15 00:00:00' - Planted > 1.4", 3),
            ("TIMESTAMP '2020-09-15 00:00:00' - Planted > INTERVAL '34' HOUR", 3),
            ("TIMESTAMP '2020-09-15 00:00:00' - Planted > INTERVAL '36' HOUR", 0),
            ("INTERVAL '36' HOUR > TIMESTAMP '2020-09-15 00:00:00' - Planted", 3),
            ("TIMESTAMP '2020-09-15 00:00:00' - Planted BETWEEN INTERVAL '1' DAY AND INTERVAL '1' DAY * 2", 3),
            ("DATE '2020-09-16' - DATE '2020-09-14' IN (INTERVAL '2' DAY, 5)", 3),
            ("INTERVAL '2' DAY IN (INTERVAL '48' HOUR)", 3), ("INTERVAL '2' DAY BETWEEN 1 AND 3", 3),
            ("DATE '2020-09-16' - DATE '2020-09-14' + INTERVAL '12' HOUR = 2.5", 3),
            ("INTERVAL '2' DAY / INTERVAL '12' HOUR = 4", 3), ("INTERVAL '1' DAY = 1", 3),
            ("INTERVAL '1' DAY * 2 > INTERVAL '47' HOUR", 3), ("Planted - INTERVAL '1' DAY < Planted", 3),
        ])
    func intervals(condition: String, count: Int) async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let json = try await server.client.get(
                "Trees/FeatureServer/0/query", ["where": condition, "returnCountOnly": "true", "f": "json"]
            ).json
            #expect(json["count"]?.integerValue == Int64(count), "\(json.text)")
        }
    }
}
