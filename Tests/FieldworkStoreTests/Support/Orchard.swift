import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// A service with every kind of relationship, to test edits with.
enum Orchard {
    static let name = ServiceName(name: "Orchard")
    static let trees = LayerAddress(service: name, layerID: 0)
    static let visits = LayerAddress(service: name, layerID: 1)
    static let photos = LayerAddress(service: name, layerID: 2)
    static let plaques = LayerAddress(service: name, layerID: 3)
    static let people = LayerAddress(service: name, layerID: 4)
    static let care = LayerAddress(service: name, layerID: 5)
    static let areas = LayerAddress(service: name, layerID: 6)

    private static let objectID = FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false)
    private static let globalID = FieldDefinition(
        name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false)

    private static func end(
        _ id: Int, to related: Int, _ role: RelationshipDefinition.Role, key: String,
        _ cardinality: RelationshipDefinition.Cardinality = .oneToMany, isComposite: Bool = false,
        throughKey: String? = nil, deletion: RelationshipDefinition.OriginDeletion? = nil
    ) -> RelationshipDefinition {
        RelationshipDefinition(
            id: id, name: "R\(id)", relatedTableID: related, cardinality: cardinality, role: role, keyField: key,
            isComposite: isComposite, relationshipTableID: throughKey == nil ? nil : 5,
            keyFieldInRelationshipTable: throughKey, originDeletion: deletion)
    }

    private static func table(
        _ id: Int, _ name: String, _ fields: [FieldDefinition], _ relationships: [RelationshipDefinition] = [],
        geometryType: LayerGeometryType? = nil, editFields: EditFieldsDefinition? = nil
    ) -> LayerDefinition {
        LayerDefinition(
            id: id, name: name, geometryType: geometryType,
            spatialReference: geometryType == nil ? nil : .webMercator, fields: [objectID, globalID] + fields,
            globalIDField: "GlobalID", relationships: relationships, editFields: editFields)
    }

    /// Trees have visits (composite, global id), visits have photos (composite, object id), trees have one plaque (simple,
    /// by code), people care for trees (many to many), areas have trees and areas (simple and composite with itself).
    static func definition(
        plaqueIsRequired: Bool = false, areaDeletion: RelationshipDefinition.OriginDeletion? = nil
    ) -> ServiceDefinition {
        ServiceDefinition(
            name: name, spatialReference: .webMercator,
            layers: [
                table(
                    0, "Trees",
                    [
                        FieldDefinition(name: "Code", type: .string, length: 8),
                        FieldDefinition(name: "Area", type: .integer), FieldDefinition(name: "Who", type: .string),
                    ],
                    [
                        end(0, to: 1, .origin, key: "GlobalID", isComposite: true),
                        end(2, to: 3, .origin, key: "Code", .oneToOne),
                        end(3, to: 4, .origin, key: "OBJECTID", .manyToMany, throughKey: "TreeID"),
                        end(4, to: 6, .destination, key: "Area"),
                    ], geometryType: .point,
                    editFields: EditFieldsDefinition(
                        creationDateField: nil, creatorField: nil, editDateField: nil, editorField: "Who")),
                table(
                    1, "Visits",
                    [FieldDefinition(name: "Tree", type: .guid), FieldDefinition(name: "Note", type: .string)],
                    [
                        end(0, to: 0, .destination, key: "Tree", isComposite: true),
                        end(1, to: 2, .origin, key: "OBJECTID", isComposite: true),
                    ]),
                table(
                    2, "Photos", [FieldDefinition(name: "Visit", type: .integer)],
                    [end(1, to: 1, .destination, key: "Visit", isComposite: true)]),
                table(
                    3, "Plaques",
                    [FieldDefinition(name: "TreeCode", type: .string, isNullable: !plaqueIsRequired)],
                    [end(2, to: 0, .destination, key: "TreeCode", .oneToOne)]),
                table(
                    4, "People", [FieldDefinition(name: "Name", type: .string)],
                    [end(3, to: 0, .destination, key: "OBJECTID", .manyToMany, throughKey: "PersonID")]),
                table(
                    5, "Care",
                    [
                        FieldDefinition(name: "TreeID", type: .integer),
                        FieldDefinition(name: "PersonID", type: .integer),
                    ]),
                table(
                    6, "Areas", [FieldDefinition(name: "Parent", type: .guid)],
                    [
                        end(4, to: 0, .origin, key: "OBJECTID", deletion: areaDeletion),
                        RelationshipDefinition(
                            id: 5, name: "R5", relatedTableID: 6, cardinality: .oneToMany, role: .origin,
                            keyField: "GlobalID"),
                        RelationshipDefinition(
                            id: 5, name: "R5", relatedTableID: 6, cardinality: .oneToMany, role: .destination,
                            keyField: "Parent"),
                    ]),
            ])
    }

    static func edit(_ attributes: KeyValuePairs<String, AttributeValue>, globalID: UUID? = nil) -> FeatureEdit {
        FeatureEdit(globalID: globalID, attributes: attributes.map { (name: $0.key, value: $0.value) })
    }

    static func guid(_ id: UUID) -> AttributeValue { .text(GUID.normalForm(id)) }
}

extension FeatureStore {
    /// Applies edits of the orchard; the layers of the results in the order of the edits.
    @discardableResult
    func edit(
        _ layers: [LayerEdits], usesGlobalIDs: Bool = true, rollsBack: Bool = true, editor: String? = "ada"
    ) async throws -> EditBatchResult {
        try await apply(
            EditBatch(
                layers: layers, usesGlobalIDs: usesGlobalIDs, rollsBackOnFailure: rollsBack, editor: editor,
                moment: Samples.moment), to: Orchard.name)
    }

    /// The values of a field, by object id.
    func values(_ field: String, of layer: LayerAddress) async throws -> [AttributeValue?] {
        try await records(FeatureQuery(), in: layer).map { $0.attributes[field] }
    }
}
