import FieldworkREST
import FieldworkStore

/// Hydrants with subtypes and field groups, and crews that look after many hydrants each.
enum HydrantService {
    static let name = ServiceName(name: "Hydrants")

    private static let id = FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false)
    private static let globalID = FieldDefinition(
        name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false)
    private static let materials = DomainDefinition(
        name: "Material",
        kind: .codedValues([
            .init(code: .text("I"), name: "Iron"), .init(code: .text("S"), name: "Steel"),
            .init(code: .text("P"), name: "Plastic"),
        ]))

    private static func end(
        to table: Int, _ role: RelationshipDefinition.Role, through key: String
    ) -> RelationshipDefinition {
        RelationshipDefinition(
            id: 1, name: "Hydrants_Crews", relatedTableID: table, cardinality: .manyToMany, role: role,
            keyField: "GlobalID", relationshipTableID: 2, keyFieldInRelationshipTable: key)
    }

    static let hydrants = LayerDefinition(
        id: 0, name: "Hydrants",
        fields: [
            id, FieldDefinition(name: "kind", type: .integer),
            FieldDefinition(name: "material", type: .string, length: 4, domain: materials),
            FieldDefinition(name: "diameter", type: .double),
            FieldDefinition(name: "comment", type: .string, length: 40),
            globalID,
        ],
        globalIDField: "GlobalID", subtypeField: "kind",
        subtypes: [
            SubtypeDefinition(
                code: .integer(1), name: "Pillar", defaultValues: ["diameter": .real(100)],
                domains: [
                    "material": DomainDefinition(
                        name: "PillarMaterial", kind: .codedValues([.init(code: .text("I"), name: "Cast iron")]))
                ]),
            SubtypeDefinition(code: .integer(2), name: "Underground"),
        ], defaultSubtypeCode: .integer(1),
        fieldGroups: [
            FieldGroupDefinition(
                name: "Pipe", fields: ["material", "diameter"],
                contingencies: [
                    ContingencyDefinition(
                        id: 1, subtypeCode: .integer(2),
                        values: [.code(.text("S")), .range(minimum: .integer(50), maximum: .integer(150))]),
                    ContingencyDefinition(
                        id: 2, subtypeCode: .integer(2),
                        values: [.code(.text("P")), .range(minimum: .integer(20), maximum: .integer(80))]),
                    ContingencyDefinition(id: 3, subtypeCode: .integer(1), values: [.code(.text("I")), .any]),
                    ContingencyDefinition(
                        id: 4, subtypeCode: .integer(2), values: [.code(.text("I")), .null], isRetired: true),
                ]),
            FieldGroupDefinition(
                name: "Advice", isRestrictive: false, fields: ["material", "comment"],
                contingencies: [ContingencyDefinition(id: 5, values: [.code(.text("S")), .null])]),
        ], relationships: [end(to: 1, .origin, through: "HydrantID")])

    static let crews = LayerDefinition(
        id: 1, name: "Crews", fields: [id, FieldDefinition(name: "name", type: .string, length: 40), globalID],
        globalIDField: "GlobalID", displayField: "name",
        relationships: [end(to: 0, .destination, through: "CrewID")])

    static let duties = LayerDefinition(
        id: 2, name: "Duties",
        fields: [
            id, FieldDefinition(name: "HydrantID", type: .guid, length: 38),
            FieldDefinition(name: "CrewID", type: .guid, length: 38), globalID,
        ],
        globalIDField: "GlobalID")

    static let definition = ServiceDefinition(name: name, layers: [hydrants, crews, duties])
}
