import FieldworkGeometry
import FieldworkREST

/// The form of tables for which nobody has made one.
enum DefaultForm {
    /// The fields that may be edited, in the order of the layer, the one that says the type first.
    static func json(of layer: LayerDefinition) -> JSONObject {
        var fields = layer.fields.filter { $0.isEditable && !DefaultPopup.isSystemField($0, of: layer) }
        if let name = layer.typeIDField, let type = fields.first(where: { $0.name.lowercased() == name.lowercased() }) {
            fields.removeAll { $0.name == type.name }
            fields.insert(type, at: 0)
        }
        let elements = fields.map { field -> JSONValue in
            [
                "type": "field", "fieldName": .string(field.name), "label": .string(field.alias),
                "inputType": input(of: field, in: layer),
            ]
        }
        return JSONObject(["title": .string(layer.name), "formElements": .array(elements)])
    }

    /// The input of a field where nothing is said of it.
    /// - Parameter domain: the values that are offered; nil for the field's own.
    static func input(
        of field: FieldDefinition, in layer: LayerDefinition?, domain: DomainDefinition? = nil
    ) -> JSONValue {
        let isType = layer?.typeIDField?.lowercased() == field.name.lowercased() && layer?.types.isEmpty == false
        if case .codedValues(let values) = (domain ?? field.domain)?.kind {
            let isShort = (2...4).contains(values.count) && !field.isNullable && !isType
            return ["type": isShort ? "radio-buttons" : "combo-box", "showNoValueOption": .bool(field.isNullable)]
        }
        if isType { return ["type": "combo-box", "showNoValueOption": .bool(field.isNullable)] }
        switch field.type {
        case .date: return ["type": "datetime-picker", "includeTime": true]
        case .dateOnly: return ["type": "date-picker"]
        case .timeOnly: return ["type": "time-picker"]
        case .timestampOffset: return ["type": "timestampoffset-picker"]
        case .string where field.length > 255: return ["type": "text-area"]
        case .blob, .raster, .xml, .geometry: return .null
        default: return ["type": "text-box"]
        }
    }
}
