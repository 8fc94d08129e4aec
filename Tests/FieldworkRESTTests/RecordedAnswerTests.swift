import FieldworkGeometry
import FieldworkREST
import Foundation
import Testing

/// Answers that real services gave, through our own types and back.
@Suite("Recorded answers")
struct RecordedAnswerTests {
    private static let isThere = SharedData.url("geoservices") != nil

    struct Recorded: CustomTestStringConvertible {
        var name: String
        var json: JSONValue
        var testDescription: String { name }
    }

    /// Every recorded JSON document, with the layers in it one by one.
    static let all: [Recorded] = {
        guard let root = SharedData.url("geoservices"),
            let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        else { return [] }
        return files.compactMap { $0 as? URL }.filter { $0.pathExtension == "json" }
            .sorted { $0.path < $1.path }.compactMap { url in
                guard let data = try? Data(contentsOf: url), let json = try? JSONParser.parse(data) else { return nil }
                return Recorded(name: url.pathComponents.suffix(2).joined(separator: "/"), json: json)
            }
    }()

    private static let layers: [Recorded] = all.flatMap { recorded -> [Recorded] in
        if recorded.json["fields"] != nil, recorded.json["id"] != nil, recorded.json["name"] != nil {
            return [recorded]
        }
        let inner = ["layers", "tables"].flatMap { recorded.json[$0]?.arrayValue ?? [] }
        return inner.filter { $0["fields"] != nil && $0["id"] != nil && $0["name"] != nil }.enumerated().map {
            Recorded(name: "\(recorded.name)[\($0)]", json: $1)
        }
    }

    private static let featureSets = all.filter { recorded in
        recorded.json["features"]?.arrayValue?.allSatisfy { $0["attributes"] != nil } == true
            && recorded.json["type"] == nil
    }

    /// The paths of members that are in one value and not, or with another value, in the other.
    private static func losses(_ before: JSONValue, _ after: JSONValue?, _ path: String = "") -> [String] {
        guard let after else { return before.isNull ? [] : ["\(path): gone"] }
        switch (before, after) {
        case (.object(let object), .object(let other)):
            return object.members.flatMap { member in
                isNormalized(member, path) ? [] : losses(member.value, other[member.key], "\(path)/\(member.key)")
            }
        case (.array(let items), .array(let others)):
            guard items.count == others.count else { return ["\(path): \(items.count) elements, \(others.count) kept"] }
            return zip(items, others).enumerated().flatMap { losses($1.0, $1.1, "\(path)/\($0)") }
        default:
            if let number = before.doubleValue, number == after.doubleValue { return [] }
            // What an old server leaves open is told as its default.
            if before.isNull || before == after { return [] }
            return ["\(path): \(before.text.prefix(80)) became \(after.text.prefix(80))"]
        }
    }

    /// What is told in our own form, of the same meaning: words of capabilities that are known, texts of any length, the
    /// names that domains of types inherit, the second number of a reference that its first one names.
    private static func isNormalized(_ member: JSONObject.Member, _ path: String) -> Bool {
        switch member.key {
        case "capabilities", "length", "latestWkid": true
        case "type": path.isEmpty && member.value == "Feature Layer"
        case "name": path.contains("/domains/")
        default: false
        }
    }

    @Test("The recorded answers are found", .enabled(if: isThere, "the shared data is not beside the package"))
    func coverage() {
        #expect(Self.all.count > 170)
        #expect(Self.layers.count > 20)
        #expect(Self.featureSets.count > 30)
    }

    @Test(
        "A layer's definition keeps every member",
        .enabled(if: isThere, "the shared data is not beside the package"), arguments: layers)
    func layer(_ recorded: Recorded) throws {
        let definition = try LayerDefinition(json: recorded.json)
        let kept = definition.storageJSON
        let losses = Self.losses(recorded.json, kept)
        #expect(losses.isEmpty, "\(losses.joined(separator: "\n"))")
        #expect(try LayerDefinition(storageJSON: kept) == definition)
    }

    @Test(
        "A set of features keeps every attribute and every place",
        .enabled(if: isThere, "the shared data is not beside the package"), arguments: featureSets)
    func featureSet(_ recorded: Recorded) throws {
        let features = try #require(recorded.json["features"]?.arrayValue)
        let set = try FeatureSetReader.read(json: recorded.json)
        #expect(set.features.count == features.count)
        for (feature, json) in zip(set.features, features) {
            for member in json["attributes"]?.objectValue?.members ?? [] {
                let value = try #require(feature.attributes[member.key], "\(member.key)")
                #expect(Self.losses(member.value, value.json).isEmpty, "\(member.key)")
            }
            guard let geometry = json["geometry"], !geometry.isNull, recorded.json["transform"] == nil else { continue }
            guard let point = feature.geometry as? Point, let x = geometry["x"]?.doubleValue else { continue }
            #expect(point.x == x)
            #expect(point.y == geometry["y"]?.doubleValue)
        }
        if let count = recorded.json["fields"]?.arrayValue?.count { #expect(set.fields.count == count) }
    }

    @Test(
        "An error is read from every recorded error",
        .enabled(if: isThere, "the shared data is not beside the package"),
        arguments: all.filter { $0.json["error"] != nil })
    func error(_ recorded: Recorded) throws {
        let error = try #require(ServiceError(answer: recorded.json))
        #expect(!error.message.isEmpty)
        if let code = recorded.json["error"]?["code"]?.integerValue { #expect(error.code == Int(code)) }
        if let message = recorded.json["error"]?["message"]?.stringValue { #expect(error.message == message) }
    }

    @Test(
        "The results of every recorded edit are read, one for each item",
        .enabled(if: isThere, "the shared data is not beside the package"),
        arguments: all.filter { $0.json["addResults"] ?? $0.json["updateResults"] ?? $0.json["deleteResults"] != nil })
    func edit(_ recorded: Recorded) throws {
        func count(_ name: String) -> Int { recorded.json[name]?.arrayValue?.count ?? 0 }
        let edits = LayerEdits(
            layerID: 0, adds: Array(repeating: FeatureEdit(attributes: []), count: count("addResults")),
            updates: Array(repeating: FeatureEdit(attributes: []), count: count("updateResults")),
            deletes: .features((0..<count("deleteResults")).map { .objectID(Int64($0)) }))
        let result = try EditAnswerReader.read(
            layer: recorded.json, to: edits, moment: Date(timeIntervalSince1970: 0))
        let layer = try #require(result.layers.first)
        let all = layer.adds + layer.updates + layer.deletes
        let items = ["addResults", "updateResults", "deleteResults"].flatMap {
            recorded.json[$0]?.arrayValue ?? []
        }
        #expect(all.count == items.count)
        for (one, item) in zip(all, items) {
            #expect((one.error == nil) == (item["success"]?.boolValue == true))
            if let code = item["error"]?["code"]?.integerValue { #expect(one.error?.code == Int(code)) }
        }
    }
}
