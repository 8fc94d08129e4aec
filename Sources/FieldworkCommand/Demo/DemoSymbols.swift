import Foundation
import FieldworkGeometry
import FieldworkREST

/// Renderers and symbols of the demo, in the protocol's JSON.
enum DemoSymbols {
    static func uniqueValues(
        field: String, _ values: [(value: JSONValue, label: String, symbol: JSONValue)], otherwise: JSONValue
    ) -> JSONValue {
        let infos = values.map { entry -> JSONValue in
            let text = entry.value.stringValue ?? entry.value.text
            return [
                "value": .string(text), "label": .string(entry.label), "description": "", "symbol": entry.symbol,
            ]
        }
        return [
            "renderer": [
                "type": "uniqueValue", "field1": .string(field), "field2": nil, "field3": nil, "fieldDelimiter": ",",
                "defaultSymbol": otherwise, "defaultLabel": "Other", "uniqueValueInfos": .array(infos),
            ],
            "transparency": 0,
        ]
    }
}

/// Fields that every layer of the demo has.
enum DemoFields {
    static let objectID = FieldDefinition(
        name: "OBJECTID", alias: "OBJECTID", type: .oid, isNullable: false, isEditable: false)
    static let globalID = FieldDefinition(
        name: "GlobalID", alias: "GlobalID", type: .globalID, isNullable: false, isEditable: false)
    static let tracking = [
        FieldDefinition(name: "CreationDate", alias: "Created", type: .date, isEditable: false),
        FieldDefinition(name: "Creator", alias: "Created by", type: .string, length: 128, isEditable: false),
        FieldDefinition(name: "EditDate", alias: "Edited", type: .date, isEditable: false),
        FieldDefinition(name: "Editor", alias: "Edited by", type: .string, length: 128, isEditable: false),
    ]

    static func all(_ fields: [FieldDefinition]) -> [FieldDefinition] { [objectID, globalID] + fields + tracking }

    /// A domain whose codes are their own names.
    static func choice(_ name: String, _ values: [String]) -> DomainDefinition {
        DomainDefinition(name: name, kind: .codedValues(values.map { .init(code: .text($0), name: $0) }))
    }
}

extension FeatureEdit {
    /// A generated feature: its global id, its attributes, who made it and when.
    static func generated(
        _ globalID: UUID, _ attributes: [(name: String, value: AttributeValue)], at moment: Int64, by creator: String,
        geometry: Geometry? = nil
    ) -> FeatureEdit {
        let tracking: [(name: String, value: AttributeValue)] = [
            ("CreationDate", .integer(moment)), ("Creator", .text(creator)), ("EditDate", .integer(moment)),
            ("Editor", .text(creator)),
        ]
        return FeatureEdit(
            globalID: globalID, attributes: attributes + tracking,
            geometry: geometry.map(FeatureEdit.GeometryEdit.geometry) ?? .null)
    }
}
