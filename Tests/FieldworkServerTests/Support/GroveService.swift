import FieldworkGeometry
import FieldworkREST

/// A service with every kind of relationship: trees have visits (one to many), a plaque (one to one, by a code) and
/// people who care for them (many to many).
enum GroveService {
    static let name = ServiceName(name: "Grove")

    private static let objectID = FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false)
    private static let globalID = FieldDefinition(
        name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false)

    private static func end(
        _ id: Int, _ name: String, to related: Int, _ cardinality: RelationshipDefinition.Cardinality,
        _ role: RelationshipDefinition.Role, key: String, isComposite: Bool = false, throughKey: String? = nil
    ) -> RelationshipDefinition {
        RelationshipDefinition(
            id: id, name: name, relatedTableID: related, cardinality: cardinality, role: role, keyField: key,
            isComposite: isComposite, relationshipTableID: throughKey == nil ? nil : 4,
            keyFieldInRelationshipTable: throughKey)
    }

    static let trees = LayerDefinition(
        id: 0, name: "Trees", geometryType: .point, spatialReference: .webMercator,
        fields: [
            objectID, globalID, FieldDefinition(name: "Code", type: .string, length: 8),
            FieldDefinition(name: "Height", type: .double),
        ],
        globalIDField: "GlobalID",
        relationships: [
            end(0, "Trees_Visits", to: 1, .oneToMany, .origin, key: "GlobalID", isComposite: true),
            end(1, "Trees_Plaques", to: 2, .oneToOne, .origin, key: "Code"),
            end(2, "Trees_People", to: 3, .manyToMany, .origin, key: "OBJECTID", throughKey: "TreeID"),
        ])

    static let visits = LayerDefinition(
        id: 1, name: "Visits",
        fields: [
            objectID, globalID, FieldDefinition(name: "Tree", type: .guid, length: 38),
            FieldDefinition(name: "Note", type: .string, length: 100),
            FieldDefinition(name: "Score", type: .integer),
        ],
        globalIDField: "GlobalID",
        relationships: [
            end(0, "Trees_Visits", to: 0, .oneToMany, .destination, key: "Tree", isComposite: true)
        ], maxRecordCount: 4)

    static let plaques = LayerDefinition(
        id: 2, name: "Plaques",
        fields: [objectID, globalID, FieldDefinition(name: "TreeCode", type: .string, length: 8)],
        globalIDField: "GlobalID",
        relationships: [end(1, "Trees_Plaques", to: 0, .oneToOne, .destination, key: "TreeCode")])

    static let people = LayerDefinition(
        id: 3, name: "People",
        fields: [objectID, globalID, FieldDefinition(name: "Name", type: .string, length: 40)],
        globalIDField: "GlobalID",
        relationships: [
            end(2, "Trees_People", to: 0, .manyToMany, .destination, key: "OBJECTID", throughKey: "PersonID")
        ])

    static let care = LayerDefinition(
        id: 4, name: "Care",
        fields: [
            objectID, globalID, FieldDefinition(name: "TreeID", type: .integer),
            FieldDefinition(name: "PersonID", type: .integer), FieldDefinition(name: "Since", type: .integer),
        ],
        globalIDField: "GlobalID")

    static let definition = ServiceDefinition(
        name: name, spatialReference: .webMercator, layers: [trees, visits, plaques, people, care])
}
