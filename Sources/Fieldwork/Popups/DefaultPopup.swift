import FieldworkGeometry
import FieldworkREST

/// The pop-up of layers for which nobody has made one, and the elements of pop-ups that have none.
enum DefaultPopup {
    /// All fields that people care for, attachments and related records.
    static func json(of layer: LayerDefinition, named name: String) -> JSONObject {
        let fields = layer.fields.filter { !isSystemField($0, of: layer) }
        let infos = fields.map { field -> JSONValue in
            var info: JSONObject = JSONObject([
                "fieldName": .string(field.name), "label": .string(field.alias), "visible": true,
                "isEditable": .bool(field.isEditable),
            ])
            switch field.type {
            case .single, .double: info["format"] = ["places": 2, "digitSeparator": true]
            case .date: info["format"] = ["dateFormat": "shortDateShortTime"]
            default: break
            }
            return .object(info)
        }
        var elements: [JSONValue] = [["type": "fields"]]
        if layer.hasAttachments { elements.append(["type": "attachments", "displayType": "auto"]) }
        for relationship in layer.relationships {
            elements.append([
                "type": "relationship", "relationshipId": JSONValue(relationship.id),
                "title": .string(relationship.name), "displayType": "list",
            ])
        }
        let title = layer.displayField.flatMap(layer.field(named:)).map { "{\($0.name)}" } ?? name
        return JSONObject([
            "title": .string(title), "fieldInfos": .array(infos), "popupElements": .array(elements),
        ])
    }

    /// Attributes of something that is not part of a table.
    static func json(of names: [String]) -> JSONObject {
        let infos = names.map { name -> JSONValue in ["fieldName": .string(name), "label": .string(name)] }
        return JSONObject(["fieldInfos": .array(infos), "popupElements": [["type": "fields"]]])
    }

    /// Ids, shapes and their measures, and what the service fills with who and when.
    static func isSystemField(_ field: FieldDefinition, of layer: LayerDefinition) -> Bool {
        switch field.type {
        case .oid, .globalID, .geometry, .blob, .raster, .xml: return true
        default: break
        }
        let name = field.name.lowercased()
        let tracking = layer.editFields
        let tracked = [
            tracking?.creationDateField, tracking?.creatorField, tracking?.editDateField, tracking?.editorField,
        ]
        let measures: Set<String> = [
            "shape__area", "shape__length", "shape_area", "shape_length", "shape.starea()", "shape.stlength()",
            "st_area(shape)", "st_length(shape)",
        ]
        return measures.contains(name) || tracked.contains { $0?.lowercased() == name }
            || name == layer.objectIDField.lowercased() || name == layer.globalIDField?.lowercased()
    }

    /// What a document without elements shows: the description or else the fields, then media, attachments, related
    /// records, as far as it has them (web map specification, before `popupElements`).
    static func elements(of definition: PopupDefinition) -> [PopupElement] {
        var elements: [PopupElement] = [
            definition.text.isEmpty ? FieldsPopupElement(["type": "fields"]) : TextPopupElement(["type": "text"])
        ]
        if !definition.media.isEmpty { elements.append(MediaPopupElement(["type": "media"])) }
        if definition.showsAttachments { elements.append(AttachmentsPopupElement(["type": "attachments"])) }
        if definition.showsRelatedRecords {
            var known: Set<Int> = []
            for field in definition.fields {
                guard case .related(let id, _) = field.name, known.insert(id).inserted else { continue }
                elements.append(
                    RelationshipPopupElement(["type": "relationship", "relationshipId": JSONValue(id)]))
            }
        }
        return elements
    }
}
