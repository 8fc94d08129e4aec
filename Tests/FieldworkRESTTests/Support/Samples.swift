import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport

/// A layer and a table to test with.
enum Samples {
    static let point = Point(x: -122.5, y: 45.25, spatialReference: .wgs84)
    static let moment = Date(timeIntervalSince1970: 1_767_323_045)

    static let condition = DomainDefinition(
        name: "Condition",
        kind: .codedValues([
            .init(code: .text("good"), name: "Good"), .init(code: .text("poor"), name: "Poor \"or\" worse"),
        ]))

    static var trees: LayerDefinition {
        LayerDefinition(
            id: 0, name: "Trees", description: "Street trees", geometryType: .point, spatialReference: .wgs84,
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                FieldDefinition(name: "Species", alias: "Species of tree", type: .string, length: 40),
                FieldDefinition(name: "Condition", type: .string, length: 8, domain: condition),
                FieldDefinition(
                    name: "Height", type: .double,
                    domain: DomainDefinition(name: "H", kind: .range(minimum: .integer(0), maximum: .real(120.5)))),
                FieldDefinition(name: "Stems", type: .smallInteger, isNullable: false, defaultValue: .integer(1)),
                FieldDefinition(name: "Planted", type: .date),
                FieldDefinition(name: "Notes", type: .string),
                FieldDefinition(name: "GlobalID", type: .globalID, isNullable: false, isEditable: false),
            ], globalIDField: "GlobalID", displayField: "Species", typeIDField: "Condition",
            types: [
                FeatureTypeDefinition(
                    id: .text("good"), name: "Good", domains: ["Height": DomainDefinition(name: "", kind: .inherited)],
                    templates: [
                        FeatureTemplateDefinition(
                            name: "Good tree", drawingTool: "esriFeatureEditToolPoint",
                            attributes: ["Condition": .text("good"), "Stems": .integer(2)])
                    ])
            ],
            templates: [FeatureTemplateDefinition(name: "Tree", attributes: ["Stems": .integer(1)])],
            relationships: [
                RelationshipDefinition(
                    id: 3, name: "Visits", relatedTableID: 1, cardinality: .oneToMany, role: .origin,
                    keyField: "GlobalID", isComposite: true)
            ], editFields: EditFieldsDefinition(editorField: nil),
            drawingInfo: ["renderer": ["type": "simple"], "transparency": 20],
            extent: Envelope(xMin: -123, yMin: 45, xMax: -122, yMax: 46, spatialReference: .wgs84),
            unknownMembers: JSONObject(["hasContingentValuesDefinition": false]))
    }

    static var visits: LayerDefinition {
        LayerDefinition(
            id: 1, name: "Visits",
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                FieldDefinition(name: "Tree", type: .guid),
            ], capabilities: [.query], maxRecordCount: 10)
    }

    static var service: ServiceDefinition {
        ServiceDefinition(
            name: ServiceName(folder: "City", name: "Trees"), description: "For tests", copyrightText: "©",
            capabilities: [.query, .create], maxRecordCount: 100, spatialReference: .wgs84, layers: [trees, visits],
            unknownMembers: JSONObject(["tables_note": "kept"]))
    }

    static func parameters(_ fields: KeyValuePairs<String, String>) -> RequestParameters {
        RequestParameters(fields.map { ($0.key, $0.value) })
    }

    static func query(_ fields: KeyValuePairs<String, String>) throws -> QueryRequest {
        try QueryRequest(parameters: parameters(fields), layer: trees, service: service)
    }
}

extension SeededGenerator {
    /// The bytes with a few of them changed, cut or doubled.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0...4, using: &self) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: 0...3, using: &self) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &self)
            case 1: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...8, using: &self)))
            case 2: bytes.insert(UInt8.random(in: 0...255, using: &self), at: place)
            default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 16)], at: place)
            }
        }
        return bytes
    }
}

/// The recorded answers of real services that lie beside the repository where it is developed.
enum Recorded {
    static let folder: URL = {
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return root.deletingLastPathComponent().appending(path: "shared/data/geoservices")
    }()

    static var exists: Bool { FileManager.default.fileExists(atPath: folder.path) }

    /// All files of a kind, by path within the folder.
    static func files(_ kind: String) -> [(path: String, bytes: [UInt8])] {
        guard let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else { return [] }
        return walk.compactMap { $0 as? URL }.filter { $0.pathExtension == kind }
            .map { $0.path }.sorted().compactMap { path in
                guard let data = FileManager.default.contents(atPath: path) else { return nil }
                return (String(path.dropFirst(folder.path.count + 1)), [UInt8](data))
            }
    }

    static func file(_ path: String) -> [UInt8]? {
        FileManager.default.contents(atPath: folder.appending(path: path).path).map { [UInt8]($0) }
    }
}
