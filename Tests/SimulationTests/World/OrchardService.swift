import FieldworkGeometry
import FieldworkREST
import Foundation

/// The service that the crews of a simulation share: trees along a street 400 metres long, and visits to them.
enum OrchardService {
    static let name = ServiceName(name: "Orchard")
    static let trees = 0
    static let visits = 1
    static let layerIDs = [trees, visits]
    /// The files of trees: no layer, but in the ledger of what was saved they stand beside the layers.
    static let files = 2
    static let length = 400.0

    private static let objectID = FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false)
    private static let globalID = FieldDefinition(
        name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false)

    /// - Parameters:
    ///   - isComposite: whether visits go with their tree.
    ///   - isTracked: whether trees say who edited them and when.
    static func definition(rule: ConflictRule, isComposite: Bool, isTracked: Bool) -> ServiceDefinition {
        func relationship(to related: Int, _ role: RelationshipDefinition.Role, _ key: String) -> RelationshipDefinition
        {
            RelationshipDefinition(
                id: 0, name: "visited", relatedTableID: related, cardinality: .oneToMany, role: role, keyField: key,
                isComposite: isComposite)
        }
        var treeFields = [
            objectID, globalID, FieldDefinition(name: "Name", type: .string, length: 40),
            FieldDefinition(name: "Species", type: .string, length: 60),
            FieldDefinition(name: "Note", type: .string, length: 60), FieldDefinition(name: "Felled", type: .integer),
        ]
        if isTracked {
            treeFields += ["Creator", "Editor"].map {
                FieldDefinition(name: $0, type: .string, length: 50, isEditable: false)
            }
            treeFields += ["CreationDate", "EditDate"].map {
                FieldDefinition(name: $0, type: .date, isEditable: false)
            }
        }
        let trees = LayerDefinition(
            id: trees, name: "Trees", geometryType: .point, spatialReference: .webMercator, fields: treeFields,
            globalIDField: "GlobalID", displayField: "Name",
            relationships: [relationship(to: visits, .origin, "GlobalID")],
            editFields: isTracked ? EditFieldsDefinition() : nil, hasAttachments: true)
        let visits = LayerDefinition(
            id: visits, name: "Visits",
            fields: [
                objectID, globalID, FieldDefinition(name: "Name", type: .string, length: 40),
                FieldDefinition(name: "Remark", type: .string, length: 60),
                FieldDefinition(name: "TreeID", type: .guid, length: 38),
            ],
            globalIDField: "GlobalID", displayField: "Name",
            relationships: [relationship(to: Self.trees, .destination, "TreeID")])
        var service = ServiceDefinition(
            name: name, capabilities: [.query, .create, .update, .delete, .editing, .sync, .changeTracking],
            maxRecordCount: 1_000, spatialReference: .webMercator, layers: [trees, visits])
        service.conflictRule = rule
        return service
    }
}

/// What a feature says, in a form that both sides give alike: object ids are each side's own.
struct OrchardRow: Equatable, CustomStringConvertible {
    var name: String
    var values: AttributeValues
    var place: String?
    var x: Double?

    init(_ record: FeatureRecord) {
        values = record.attributes
        values["OBJECTID"] = nil
        values["GlobalID"] = nil
        name = values["Name"]?.textValue ?? "?"
        let point = record.geometry as? Point
        place = point.map(Self.text)
        x = point?.x
    }

    static func text(_ point: Point) -> String { "\(point.x) \(point.y)" }

    /// The tree of a visit.
    var tree: UUID? { values["TreeID"]?.textValue.flatMap(GUID.parse) }

    func value(_ field: String) -> String? { field == SavedEdits.place ? place : values[field]?.textValue }

    var description: String {
        let list = values.filter { $0.key != "Name" && !$0.value.isNull }.sorted { $0.key < $1.key }
        return "\(name) \(list.map { "\($0.key)=\($0.value.json.text)" }.joined(separator: " ")) @\(place ?? "-")"
    }
}
