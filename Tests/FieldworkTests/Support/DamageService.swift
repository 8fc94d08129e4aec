import FieldworkGeometry
import FieldworkREST

/// A service like that of the sample app: damage points, and a table without global ids.
enum DamageService {
    static let name = ServiceName(name: "DamageAssessment")

    private static let kinds = DomainDefinition(
        name: "DamageKind",
        kind: .codedValues(
            ["Inaccessible", "Affected", "Minor", "Major", "Destroyed"].map { .init(code: .text($0), name: $0) }))

    static let damage = LayerDefinition(
        id: 0, name: "Damage to Residential Buildings", geometryType: .point, spatialReference: .webMercator,
        fields: [
            FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
            FieldDefinition(name: "typdamage", alias: "Type of damage", type: .string, length: 32, domain: kinds),
            FieldDefinition(name: "primcause", alias: "Primary cause", type: .string, length: 254),
            FieldDefinition(name: "numoccup", alias: "Occupants", type: .smallInteger),
            FieldDefinition(name: "estimate", type: .double),
            FieldDefinition(name: "inspected", type: .date),
            FieldDefinition(name: "globalid", type: .globalID, length: 38, isNullable: false, isEditable: false),
            FieldDefinition(name: "Creator", type: .string, length: 50, isEditable: false),
            FieldDefinition(name: "CreationDate", type: .date, isEditable: false),
            FieldDefinition(name: "Editor", type: .string, length: 50, isEditable: false),
            FieldDefinition(name: "EditDate", type: .date, isEditable: false),
        ],
        globalIDField: "globalid", displayField: "typdamage",
        templates: [FeatureTemplateDefinition(name: "Damage", attributes: ["typdamage": .text("Minor")])],
        editFields: EditFieldsDefinition(), maxRecordCount: 20,
        drawingInfo: [
            "renderer": [
                "type": "uniqueValue", "field1": "typdamage",
                "defaultSymbol": ["type": "esriSMS", "style": "esriSMSCircle", "size": 4],
                "uniqueValueInfos": [
                    [
                        "value": "Major", "label": "Major",
                        "symbol": [
                            "type": "esriSMS", "style": "esriSMSDiamond", "size": 9, "color": [200, 40, 20, 255],
                        ],
                    ]
                ],
            ]
        ])

    /// A table that can't keep global ids of a client.
    static let notes = LayerDefinition(
        id: 1, name: "Notes",
        fields: [
            FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
            FieldDefinition(name: "note", type: .string, length: 100, isNullable: false),
        ], maxRecordCount: 20)

    static let definition = ServiceDefinition(
        name: name, maxRecordCount: 20, spatialReference: .webMercator, layers: [damage, notes])

    static let place = Point(x: -10_800_000, y: 4_500_000, spatialReference: .webMercator)
}
