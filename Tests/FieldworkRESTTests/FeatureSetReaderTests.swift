import FieldworkGeometry
import FieldworkREST
import Foundation
import Testing

@Suite struct FeatureSetReaderTests {
    @Test func theErrorOfAServiceIsItsOwn() throws {
        let answer = try JSONParser.parse(#"{"error":{"code":498,"message":"Invalid token","details":[]}}"#)
        let error = #expect(throws: ServiceError.self) { try FeatureSetReader.read(json: answer) }
        #expect(error?.code == 498 && error?.message == "Invalid token")
        #expect(throws: ServiceError.self) { try FeatureSetReader.read(json: ["count": 3]) }
    }

    @Test func aQuantizedAnswerGetsItsCoordinatesBack() throws {
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

    @Test(.enabled(if: Recorded.exists, "The recorded answers of real services are not here."))
    func recordedJSONIsReadWhole() throws {
        var count = 0
        for (path, bytes) in Recorded.files("json") {
            guard let json = try? JSONParser.parse(bytes), json["features"]?.arrayValue != nil,
                json["fields"]?.arrayValue != nil, json["error"] == nil, json["type"] == nil
            else { continue }
            let set: FeatureSet
            do {
                set = try FeatureSetReader.read(json: json)
            } catch {
                // Two of the recordings hold what is no geometry, on purpose.
                #expect(path.contains("invalid") || path.contains("polygonempty"), "\(path): \(error)")
                continue
            }
            count += 1
            #expect(set.features.count == json["features"]?.arrayValue?.count, "\(path)")
        }
        #expect(count >= 20)
    }

    @Test(.enabled(if: Recorded.exists, "The recorded answers of real services are not here."))
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

    @Test(.enabled(if: Recorded.exists, "The recorded answers of real services are not here."))
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

    @Test func mutatedAnswersAreReadOrRefused() throws {
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
