import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@Suite struct FeatureSetReaderTests {
    @Test("The error of a service keeps its code and message")
    func theErrorOfAServiceIsItsOwn() throws {
        let answer = try JSONParser.parse(#"{"error":{"code":498,"message":"Invalid token","details":[]}}"#)
        let error = #expect(throws: ServiceError.self) { try FeatureSetReader.read(json: answer) }
        #expect(error?.code == 498 && error?.message == "Invalid token")
        #expect(throws: ServiceError.self) { try FeatureSetReader.read(json: ["count": 3]) }
    }

    @Test("Coordinates of a quantized answer are those of the map again")
    func aQuantizedAnswerGetsItsCoordinatesBack() throws {
        let answer = try JSONParser.parse(
            #"""
            {"objectIdFieldName":"ID","geometryType":"esriGeometryPolyline","spatialReference":{"wkid":4326},
             "transform":{"originPosition":"upperLeft","scale":[0.5,0.5],"translate":[10,20]},
             "fields":[{"name":"ID","type":"esriFieldTypeOID"}],
             "features":[{"attributes":{"ID":1},"geometry":{"paths":[[[2,2],[2,0],[0,4]]]}}]}
            """#)
        let set = try FeatureSetReader.read(json: answer)
        let line = try #require(set.features.first?.geometry as? Polyline)
        let expected = Polyline(
            points: [Point(x: 11, y: 19), Point(x: 12, y: 19), Point(x: 12, y: 17)], spatialReference: .wgs84)
        #expect(line.isEqual(to: expected, tolerance: 1e-9))
        #expect(set.records.map(\.objectID) == [1])
    }

    @Test(
        "Recorded answers in JSON are read whole",
        .enabled(if: Recorded.exists, "The recorded answers of real services are not here."))
    func recordedJSONIsReadWhole() throws {
        var count = 0
        for (path, bytes) in Recorded.files("json") {
            guard let json = try? JSONParser.parse(bytes), json["features"]?.arrayValue != nil,
                json["fields"]?.arrayValue != nil, json["error"] == nil, json["type"] == nil
            else { continue }
            let set = try FeatureSetReader.read(json: json)
            count += 1
            #expect(set.features.count == json["features"]?.arrayValue?.count, "\(path)")
        }
        #expect(count >= 20)
    }

    @Test(
        "Recorded answers in protocol buffers are read",
        .enabled(if: Recorded.exists, "The recorded answers of real services are not here."))
    func recordedProtocolBuffersAreRead() throws {
        var (count, features) = (0, 0)
        for (path, bytes) in Recorded.files("pbf") {
            do {
                let set = try PBFFeatureSetReader.read(bytes)
                count += 1
                features += set.features.count
                #expect(set.features.allSatisfy { $0.attributes.count == set.fields.count }, "\(path)")
            } catch {
                Issue.record("\(path): \(error.message)")
            }
        }
        #expect(count >= 30 && features > 100)
    }

    @Test(
        "Recorded protocol buffers are read as another reader reads them",
        .enabled(if: Recorded.exists, "The recorded answers of real services are not here."),
        arguments: ["points", "lines-quantization", "multilinestring", "null-handling", "quantization"])
    func recordedProtocolBuffersSayWhatOtherReadersRead(_ name: String) throws {
        let bytes = try #require(Recorded.file("arcgis-pbf-parser/encoded/pbf-\(name).pbf"))
        let json = try JSONParser.parse(
            try #require(Recorded.file("arcgis-pbf-parser/decoded/pbf-\(name).json")))
        let set = try PBFFeatureSetReader.read(bytes)
        let expected = try #require(json["featureCollection"]?["features"]?.arrayValue)
        #expect(set.exceededTransferLimit == (json["exceededTransferLimit"]?.boolValue ?? false))
        #expect(set.features.count == expected.count)
        for (feature, expected) in zip(set.features, expected) {
            for member in expected["properties"]?.objectValue?.members ?? [] {
                let (read, wanted) = (feature.attributes[member.key], AttributeValue(json: member.value))
                #expect(read == wanted || read?.doubleValue == wanted.doubleValue, "\(member.key)")
            }
            guard let json = expected["geometry"], !json.isNull else {
                #expect(feature.geometry == nil)
                continue
            }
            let geometry = try #require(feature.geometry)
            let wanted = try #require(try GeoJSONCodec.geometry(from: json))
            let (one, other) = (geometry.extent, wanted.extent)
            let sides = [
                (one.xMin, other.xMin), (one.yMin, other.yMin), (one.xMax, other.xMax), (one.yMax, other.yMax),
            ]
            #expect(sides.allSatisfy { abs($0.0 - $0.1) < 1e-6 })
            #expect(geometry.vertices.count == wanted.vertices.count)
        }
    }

    @Test(
        "Recorded heights and measures are the same in both formats",
        .enabled(if: Recorded.exists, "The recorded answers of real services are not here."),
        arguments: ["PointHas", "LineHas", "PolygonHas"])
    func recordedHeightsAndMeasuresAreTheSameInBothFormats(_ name: String) throws {
        for kind in ["Z", "M", "ZM"] {
            let bytes = try #require(Recorded.file("arcgis-rest-js/pbf/CRS3857/PBF\(name)\(kind).pbf"))
            let text = try #require(Recorded.file("arcgis-rest-js/arcgis/\(name)\(kind).json"))
            let one = try PBFFeatureSetReader.read(bytes)
            let other = try FeatureSetReader.read(json: try JSONParser.parse(text))
            #expect(one.hasZ == other.hasZ && one.hasM == other.hasM, "\(kind)")
            for feature in one.features {
                let id = feature.attributes[one.objectIDField ?? ""]?.integerValue
                guard
                    let twin = other.features.first(where: {
                        $0.attributes[other.objectIDField ?? ""]?.integerValue == id
                    })
                else { continue }
                let (first, second) = (try #require(feature.geometry), try #require(twin.geometry))
                #expect(first.vertices.count == second.vertices.count, "\(kind)")
                for index in 0..<min(first.vertices.count, second.vertices.count) {
                    #expect(Self.isClose(first.vertices.z(index), second.vertices.z(index)), "\(kind)")
                    #expect(Self.isClose(first.vertices.m(index), second.vertices.m(index)), "\(kind)")
                }
            }
        }
    }

    private static func isClose(_ one: Double?, _ other: Double?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        // A missing measure is the first cell; one recording says it as the number that the cell stands for.
        return abs(one - other) < 0.01 || (one.isNaN && (other.isNaN || other == -100_000))
    }

    @Test(
        "A mutated protocol buffer is read or refused",
        .enabled(if: Recorded.exists, "The recorded answers of real services are not here."))
    func mutatedProtocolBuffersAreReadOrRefused() {
        var generator = SeededGenerator(seed: 13)
        let files = Recorded.files("pbf").filter { $0.bytes.count < 40_000 }
        var refused = 0
        for _ in 0..<1_500 {
            guard let file = files.randomElement(using: &generator) else { break }
            if (try? PBFFeatureSetReader.read(generator.mutated(file.bytes))) == nil { refused += 1 }
        }
        #expect(refused > 0)
    }

    @Test("Mutated answers are read or refused")
    func mutatedAnswersAreReadOrRefused() throws {
        var generator = SeededGenerator(seed: 17)
        let layer = Samples.trees
        let row = Row(
            values: [
                .integer(1), .text("Oak"), .text("good"), .real(3.5), .integer(2), .null, .text("x"),
                .text("{7F6A5B40-0000-4000-8000-000000000001}"),
            ], geometry: Samples.point)
        let rows = [Row](repeating: row, count: 5)
        let bytes = try Row.encode(rows, with: try PBFFeatureEncoder(layer: layer, query: FeatureQuery()))
        let json = try Row.encode(rows, with: try JSONFeatureEncoder(layer: layer, query: FeatureQuery()))
        #expect(try PBFFeatureSetReader.read(bytes).records.count == 5)
        var refused = 0
        for _ in 0..<3_000 {
            if (try? PBFFeatureSetReader.read(generator.mutated(bytes))) == nil { refused += 1 }
        }
        for _ in 0..<500 {
            guard let value = try? JSONParser.parse(generator.mutated(json)) else { continue }
            if (try? FeatureSetReader.read(json: value)) == nil { refused += 1 }
        }
        #expect(refused > 0)
    }
}
