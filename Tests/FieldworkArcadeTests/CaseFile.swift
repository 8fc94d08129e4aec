import FieldworkArcade
import FieldworkGeometry
import Foundation

/// A file of expressions with their results, and how one of them is run.
struct CaseFile {
    let json: JSONValue

    init(_ url: URL) throws { json = try JSONParser.parse(try Data(contentsOf: url)) }

    var cases: [Case] { (json["cases"]?.arrayValue ?? []).map { Case(json: $0, file: self) } }

    /// The cases of this repository.
    static func own() throws -> CaseFile {
        try CaseFile(URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Cases/cases.json"))
    }

    struct Case {
        let json: JSONValue
        let file: CaseFile

        var id: String { json["id"]?.stringValue ?? expression }
        var expression: String { json["expression"]?.stringValue ?? "" }
        var isConfirmed: Bool { json["confirmed"]?.boolValue ?? true }

        private var fixture: JSONValue? { json["fixture"]?.stringValue.flatMap { file.json["fixtures"]?[$0] } }

        private func setting(_ name: String) -> JSONValue? {
            json["context"]?[name] ?? fixture?[name] ?? file.json["defaults"]?[name]
        }

        private var context: ArcadeContext {
            get throws {
                let zone = setting("timeZone")?.stringValue.flatMap { ArcadeZone($0) } ?? .utc
                let now = setting("now")?.doubleValue ?? 0
                var context = ArcadeContext(profile: .any, now: now, zone: zone, seed: 7)
                context.spatialReference = try setting("spatialReference").map(GeoServicesJSON.spatialReference)
                guard let fixture else { return context }
                let schema = FeatureJSON.schema(fixture)
                let reference = context.spatialReference
                context.feature = try fixture["feature"].map {
                    try FeatureJSON.feature($0, schema: schema, reference: reference)
                }
                context.originalFeature = try fixture["originalFeature"].map {
                    try FeatureJSON.feature($0, schema: schema, reference: reference)
                }
                context.editType = fixture["editType"]?.stringValue
                context.user = fixture["user"]?["username"]?.stringValue.map { ArcadeUser(username: $0) }
                if fixture["features"] != nil { context.data = try source(fixture, schema, reference, now) }
                return context
            }
        }

        private func source(
            _ fixture: JSONValue, _ schema: ArcadeSchema, _ reference: SpatialReference?, _ now: Double
        ) throws -> ArcadeMemorySource {
            let features = try (fixture["features"]?.arrayValue ?? []).map {
                try FeatureJSON.feature($0, schema: schema, reference: reference)
            }
            let layer = ArcadeLayer(
                id: fixture["mapId"]?.stringValue ?? "", name: fixture["mapTitle"]?.stringValue ?? "", schema: schema,
                spatialReference: reference)
            var layers = [ArcadeMemorySource.Layer(layer, features: features)]
            for (index, table) in (fixture["tables"]?.objectValue?.members ?? []).enumerated() {
                let rows = table.value.arrayValue ?? []
                let schema = FeatureJSON.schema(.null, attributes: rows.first?.objectValue)
                let made = try rows.map { try FeatureJSON.feature(["attributes": $0], schema: schema) }
                layers.append(
                    .init(ArcadeLayer(id: "\(index + 1)", name: table.key, schema: schema), features: made))
            }
            var relationships: [ArcadeMemorySource.Relationship] = []
            if let given = fixture["relationship"] {
                relationships.append(
                    .init(
                        name: given["name"]?.stringValue ?? "", field: given["from"]?.stringValue ?? "",
                        otherField: given["to"]?.stringValue ?? "", other: 1))
            }
            return ArcadeMemorySource(layers: layers, relationships: relationships, now: now)
        }

        /// nil when the result is the expected one, else what came instead.
        func difference() throws -> String? {
            let expected = json["expected"] ?? .null
            let tolerance = json["tolerance"]?.doubleValue ?? file.json["defaults"]?["tolerance"]?.doubleValue ?? 1e-9
            do {
                var value = try ArcadeScript(expression, profile: .any).value(try context)
                if let type = json["returnType"]?.stringValue.flatMap(ArcadeReturnType.init) {
                    value = value.cast(to: type)
                }
                return Self.matches(value, expected, tolerance) ? nil : "\(value)"
            } catch let error as ArcadeError {
                let kind = error.kind == .syntax ? "syntax" : "runtime"
                return expected["$error"]?.stringValue == kind ? nil : "\(error.kind): \(error)"
            }
        }

        private static func matches(_ value: ArcadeValue, _ expected: JSONValue, _ tolerance: Double) -> Bool {
            switch (value, expected) {
            case (.null, .null): return true
            case (.boolean(let one), .bool(let other)): return one == other
            case (.text(let one), .string(let other)): return one == other
            case (.array(let one), .array(let other)):
                return one.count == other.count && zip(one, other).allSatisfy { matches($0, $1, tolerance) }
            case (.number(let one), _) where expected.doubleValue != nil:
                let other = expected.doubleValue ?? .nan
                return one == other || abs(one - other) <= tolerance * max(1, abs(other))
            case (.number(let one), .object):
                switch expected["$number"]?.stringValue {
                case "NaN": return one.isNaN
                case "Infinity": return one == .infinity
                case "-Infinity": return one == -.infinity
                default: return false
                }
            case (.date(let date), .object): return date.milliseconds == expected["$date"]?.doubleValue
            case (.dateOnly(let day), .object): return day.text == expected["$dateOnly"]?.stringValue
            case (.time, .object): return value.text == expected["$time"]?.stringValue
            case (.dictionary(let members), .object(let object)):
                return members.count == object.count
                    && members.allSatisfy { member in
                        object[member.key].map { matches(member.value, $0, tolerance) } ?? false
                    }
            default: return false
            }
        }
    }
}
