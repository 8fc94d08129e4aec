import FieldworkGeometry
import FieldworkREST
import Foundation

/// Puts the values of a feature into the elements of a definition.
struct PopupElementFilling {
    let values: PopupValues
    let feature: ArcGISFeature?

    /// The element with values; nil for one that is not shown.
    func filled(_ element: PopupElement) -> PopupElement? {
        let (title, description) = (values.filled(element.title), values.filled(element.description))
        switch element {
        case let element as FieldsPopupElement: return fields(element, title, description)
        case let element as TextPopupElement:
            let template = element.hasText ? element.text : values.definition.text
            return TextPopupElement(element.source, text: values.filledHTML(template))
        case let element as MediaPopupElement:
            let media = element.media.isEmpty ? values.definition.media : element.media
            return MediaPopupElement(
                element.source, title: title, description: description, media: media.map(self.media))
        case let element as AttachmentsPopupElement:
            return AttachmentsPopupElement(element.source, feature: feature, title: title, description: description)
        case let element as RelationshipPopupElement:
            return RelationshipPopupElement(
                element.source, feature: feature, title: title, description: description,
                fallbackOrder: values.definition.relatedOrder(of: element.relationshipID))
        // What only says that it can't be evaluated; other kinds are kept in the document and not shown.
        case let element as ExpressionPopupElement: return element
        default: return nil
        }
    }

    // MARK: Fields

    private func fields(_ element: FieldsPopupElement, _ title: String, _ description: String) -> PopupElement {
        if let own = element.source["attributes"]?.objectValue {
            return madeFields(element, own, title, description)
        }
        // An element's own list is shown whole; the pop-up's list says what is visible.
        let fields = element.fields.isEmpty ? values.definition.fields.filter(\.isVisible) : element.fields
        return FieldsPopupElement(
            element.source, title: title, description: description, fields: fields,
            labels: fields.map { authored($0) }.map(values.label),
            formattedValues: fields.map { field in field.name.map { values.text($0, as: format(of: field)) } ?? "" })
    }

    /// A field of an element's own list may be a name alone: the rest is then as the pop-up's list has it.
    private func authored(_ field: PopupField) -> PopupField {
        field.label.isEmpty ? values.definition.field(named: field.fieldName) ?? field : field
    }

    private func format(of field: PopupField) -> PopupField {
        let isBare = field.json["format"] == nil && field.json["fieldFormat"] == nil && field.statisticType.isEmpty
        return isBare ? values.definition.field(named: field.fieldName) ?? field : field
    }

    /// Fields whose values an expression gave.
    private func madeFields(
        _ element: FieldsPopupElement, _ own: JSONObject, _ title: String, _ description: String
    ) -> PopupElement {
        let fields =
            element.fields.isEmpty
            ? own.keys.map { PopupField(JSONObject(["fieldName": .string($0), "label": .string($0)])) }
            : element.fields
        let texts = fields.map { field -> String in
            switch own.member(ignoringCase: field.fieldName) {
            case nil, .null: ""
            case .string(let text): text
            case .bool(let flag): flag ? "true" : "false"
            case .integer(let number): values.formatter.text(number, format: field.valueFormat)
            case .number(let number): values.formatter.text(number, format: field.valueFormat)
            case let other?: other.text
            }
        }
        return FieldsPopupElement(
            element.source, title: title, description: description, fields: fields,
            labels: fields.map { $0.label.isEmpty ? $0.fieldName : $0.label }, formattedValues: texts)
    }

    // MARK: Media

    private func media(_ authored: PopupMedia) -> PopupMedia {
        let value: PopupMediaValue?
        switch authored.kind {
        case .image:
            let json = authored.json["value"]
            let source = values.filledURL(json?["sourceURL"]?.stringValue)
            value = source.map {
                PopupMediaValue(linkURL: values.filledURL(json?["linkURL"]?.stringValue), sourceURL: $0)
            }
        case .unknown: value = nil
        default: value = chart(authored)
        }
        return PopupMedia(
            authored, title: values.filled(authored.title), caption: values.filled(authored.caption),
            alternativeText: values.filled(authored.alternativeText), value: value)
    }

    /// One datum a field, or one a related record. Those without a value are left out. nil when an expression that the
    /// chart needs has no value: a chart without it would be wrong.
    private func chart(_ authored: PopupMedia) -> PopupMediaValue? {
        let names = authored.fieldNames.compactMap(TextTemplate.Name.init)
        let divisor = authored.normalizeField.flatMap(TextTemplate.Name.init)
        for case .expression(let key) in names + [divisor].compactMap(\.self) {
            guard case .success = values.expressions[key.lowercased()] else { return nil }
        }
        var data: [any Sendable] = []
        var labels: [String] = []
        for (text, name) in zip(authored.fieldNames, names) {
            if case .related(let id, let key) = name, let related = values.related[id], !related.isSingle {
                let rows = self.rows(related, key, tooltip: authored.tooltipField, divisor)
                data += rows.map(\.number)
                labels += rows.map(\.label)
            } else if let number = values.number(name), let shown = divided(number, by: divisor) {
                data.append(shown)
                labels.append(values.label(of: values.definition.field(named: text) ?? bare(text)))
            }
        }
        return PopupMediaValue(data: data, labels: labels, chartColors: authored.colors)
    }

    private func rows(
        _ related: PopupValues.Related, _ key: String, tooltip: String?, _ divisor: TextTemplate.Name?
    ) -> [(number: Double, label: String)] {
        let layer = related.formatter.layer
        let name = layer?.field(named: key)?.name ?? key
        return related.attributes.compactMap { record in
            guard let number = RendererFields.number(record[name]), let shown = divided(number, by: divisor) else {
                return nil
            }
            guard case .related(_, let label) = tooltip.flatMap(TextTemplate.Name.init) else { return (shown, "") }
            let field = layer?.field(named: label)?.name ?? label
            let text = related.formatter.text(record[field], field: field, format: .init(), attributes: record)
            return (shown, text)
        }
    }

    private func divided(_ number: Double, by name: TextTemplate.Name?) -> Double? {
        guard let name else { return number }
        guard let divisor = values.number(name), divisor != 0 else { return nil }
        return number / divisor
    }

    private func bare(_ name: String) -> PopupField { PopupField(JSONObject(["fieldName": .string(name)])) }
}
