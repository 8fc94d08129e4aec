import FieldworkGeometry
import FieldworkREST
import Foundation
import Testing

/// Answers that real services gave, through our own types and back, without losing a member.
@Suite("Recorded answers", .enabled(if: RecordedAnswer.isThere, "the shared data is not beside the package"))
struct RecordedAnswerTests {
    @Test("Every recorded document is read by one of the tests, or is none of a feature service")
    func coverage() {
        let counts = Dictionary(RecordedAnswer.all.map { ($0.kind, 1) }, uniquingKeysWith: +)
        #expect(RecordedAnswer.all.count > 200)
        for kind in RecordedAnswer.Kind.allCases { #expect(counts[kind, default: 0] > 0, "\(kind)") }
        #expect(RecordedAnswer.layers.count > 25)
        #expect(counts[.featureSet, default: 0] > 40)
        #expect(counts[.foreign, default: 0] < 60)
    }

    @Test("The resource of a service keeps every member", arguments: RecordedAnswer.of(.service))
    func service(_ recorded: RecordedAnswer) throws {
        let layers = ["layers", "tables"].flatMap { key in
            (recorded.json[key]?.arrayValue ?? []).map { json in
                var object = json.objectValue ?? JSONObject()
                if key == "tables" { object["type"] = "Table" }
                return JSONValue.object(object)
            }
        }
        let definition = try ServiceDefinition(
            name: ServiceName(name: "Recorded"), json: recorded.json,
            layers: layers.map { try LayerDefinition(json: $0) })
        let kept = definition.document
        let losses = Losses.between(recorded.json, kept)
        #expect(losses.isEmpty, "\(losses.joined(separator: "\n"))")
        #expect(Losses.sameWords(recorded.json["capabilities"], kept["capabilities"]))
        #expect(try ServiceDefinition(storageJSON: definition.storageJSON) == definition)
    }

    @Test("A layer's definition keeps every member", arguments: RecordedAnswer.layers)
    func layer(_ recorded: RecordedAnswer) throws {
        let definition = try LayerDefinition(json: recorded.json)
        let kept = definition.storageJSON
        let losses = Losses.between(recorded.json, kept)
        #expect(losses.isEmpty, "\(losses.joined(separator: "\n"))")
        #expect(Losses.sameWords(recorded.json["capabilities"], kept["capabilities"]))
        #expect(try LayerDefinition(storageJSON: kept) == definition)
    }

    @Test("A set of features keeps every member, attribute and vertex", arguments: RecordedAnswer.featureSets)
    func featureSet(_ recorded: RecordedAnswer) throws {
        let set = try FeatureSetReader.read(json: recorded.json)
        let kept = set.json
        let losses = Losses.between(Self.normalized(recorded.json, "features"), kept)
        #expect(losses.isEmpty, "\(losses.prefix(20).joined(separator: "\n"))")
        #expect(try FeatureSetReader.read(json: kept) == set)
    }

    @Test("Related records keep every member, group by group", arguments: RecordedAnswer.of(.relatedRecords))
    func relatedRecords(_ recorded: RecordedAnswer) throws {
        let related = try RelatedRecordsReader.read(json: recorded.json)
        var before = recorded.json.objectValue ?? JSONObject()
        before["relatedRecordGroups"] = .array(
            (before["relatedRecordGroups"]?.arrayValue ?? []).map { Self.normalized($0, "relatedRecords") })
        let losses = Losses.between(.object(before), related.json)
        #expect(losses.isEmpty, "\(losses.joined(separator: "\n"))")
        #expect(try RelatedRecordsReader.read(json: related.json) == related)
    }

    /// The document with its features' geometries in our form.
    private static func normalized(_ json: JSONValue, _ key: String) -> JSONValue {
        guard var object = json.objectValue, let features = object[key]?.arrayValue else { return json }
        object[key] = .array(
            features.map { feature in
                guard var object = feature.objectValue, let geometry = object["geometry"] else { return feature }
                object["geometry"] = Losses.normalized(geometry: geometry)
                return .object(object)
            })
        return .object(object)
    }

    @Test("A GeoJSON geometry keeps every vertex")
    func geoJSON() throws {
        #expect(RecordedAnswer.geoJSONGeometries.count > 500)
        for recorded in RecordedAnswer.geoJSONGeometries {
            guard let geometry = try GeoJSONCodec.geometry(from: recorded.json) else {
                #expect(recorded.json.isNull || recorded.json["coordinates"]?.arrayValue?.isEmpty == true)
                continue
            }
            var bytes: [UInt8] = []
            GeoJSONCodec.append(geometry, to: &bytes)
            let written = try JSONParser.parse(bytes)
            #expect(Self.places(recorded.json) == Self.places(written), "\(recorded.name)")
            var again: [UInt8] = []
            GeoJSONCodec.append(try #require(try GeoJSONCodec.geometry(from: written)), to: &again)
            #expect(again.count == bytes.count, "\(recorded.name)")
            #expect(try Self.places(JSONParser.parse(again)) == Self.places(written), "\(recorded.name)")
        }
    }

    /// All places of a GeoJSON geometry: the standard has rings in an order and a direction of its own.
    private static func places(_ json: JSONValue) -> Set<[Double]> {
        func places(_ json: JSONValue) -> [[Double]] {
            let values = json.arrayValue ?? []
            if values.first?.doubleValue != nil { return [values.compactMap(\.doubleValue)] }
            return values.flatMap(places)
        }
        return Set(places(json["coordinates"] ?? []))
    }

    @Test("Object ids keep their order and the name of their field", arguments: RecordedAnswer.of(.objectIDs))
    func objectIDs(_ recorded: RecordedAnswer) throws {
        let (field, ids) = try #require(QueryAnswer.readObjectIDs(recorded.json))
        let kept = QueryAnswer.objectIDs(ids, field: field ?? "OBJECTID")
        let losses = Losses.between(recorded.json, kept)
        #expect(losses.isEmpty, "\(losses.joined(separator: "\n"))")
    }

    @Test("A number of features stays what it was", arguments: RecordedAnswer.of(.count))
    func count(_ recorded: RecordedAnswer) throws {
        #expect(QueryAnswer.count(try #require(QueryAnswer.readCount(recorded.json))) == recorded.json)
    }

    @Test("An error keeps every member", arguments: RecordedAnswer.of(.error))
    func error(_ recorded: RecordedAnswer) throws {
        let error = try #require(ServiceError(answer: recorded.json))
        let losses = Losses.between(recorded.json, error.json)
        #expect(losses.isEmpty, "\(losses.joined(separator: "\n"))")
        #expect(ServiceError(answer: error.json) == error)
    }

    @Test("The results of edits keep every member, one for each item", arguments: RecordedAnswer.of(.edits))
    func edits(_ recorded: RecordedAnswer) throws {
        func count(_ name: String) -> Int { recorded.json[name]?.arrayValue?.count ?? 0 }
        let edits = LayerEdits(
            layerID: 0, adds: Array(repeating: FeatureEdit(attributes: []), count: count("addResults")),
            updates: Array(repeating: FeatureEdit(attributes: []), count: count("updateResults")),
            deletes: .features((0..<count("deleteResults")).map { .objectID(Int64($0)) }))
        let result = try EditAnswerReader.read(
            layer: recorded.json, to: edits, moment: Date(timeIntervalSince1970: 0))
        let layer = try #require(result.layers.first)
        let kept: JSONValue = [
            "addResults": .array(layer.adds.map(EditAnswer.json)),
            "updateResults": .array(layer.updates.map(EditAnswer.json)),
            "deleteResults": .array(layer.deletes.map(EditAnswer.json)),
        ]
        let losses = Losses.between(recorded.json, kept)
        #expect(losses.isEmpty, "\(losses.joined(separator: "\n"))")
    }

    @Test("The result of an edit of an attachment keeps every member", arguments: RecordedAnswer.of(.attachmentEdit))
    func attachmentEdit(_ recorded: RecordedAnswer) throws {
        let members = try #require(recorded.json.objectValue).members
        for member in members {
            for item in member.value.arrayValue ?? [member.value] {
                #expect(Losses.between(item, EditAnswer.json(EditAnswerReader.result(item))).isEmpty)
            }
        }
    }

    @Test("A list of attachments keeps every member", arguments: RecordedAnswer.of(.attachments))
    func attachments(_ recorded: RecordedAnswer) throws {
        let infos = try #require(AttachmentAnswer.read(recorded.json, of: 1))
        let losses = Losses.between(recorded.json, AttachmentAnswer.list(infos))
        #expect(losses.isEmpty, "\(losses.joined(separator: "\n"))")
    }

    @Test("A list of fields keeps every member", arguments: RecordedAnswer.of(.fields))
    func fields(_ recorded: RecordedAnswer) throws {
        for json in try #require(recorded.json.arrayValue) {
            let field = try FieldDefinition(json: json)
            let losses = Losses.between(json, field.json)
            #expect(losses.isEmpty, "\(losses.joined(separator: "\n"))")
            #expect(try FieldDefinition(json: field.json) == field)
        }
    }

    @Test("A relationship keeps every member", arguments: RecordedAnswer.of(.relationship))
    func relationship(_ recorded: RecordedAnswer) throws {
        let relationship = try RelationshipDefinition(json: recorded.json)
        let losses = Losses.between(recorded.json, relationship.json)
        #expect(losses.isEmpty, "\(losses.joined(separator: "\n"))")
        #expect(try RelationshipDefinition(json: relationship.json) == relationship)
    }
}
