import FieldworkGeometry
import FieldworkREST

extension ServicesDirectory {
    /// The page of a layer or table: what it is, its fields, and what can be done with it.
    func layer(_ layer: LayerDefinition, of service: ServiceDefinition, face: ServiceFace = .feature) -> Answer {
        let address = path(of: service.name, face)
        let allowed = layer.capabilities.intersection(service.capabilities)
        return page("\(layer.name) (\(layer.id))", up: address) { html in
            html.element("<p>", layer.description, "</p>")
            html.element("<p>", layer.geometryType?.rawValue ?? "Table", "</p>")
            if face == .feature { html.element("<p>Allows: ", words(allowed), "</p>") }
            fields(of: layer, in: &html)
            kinds(of: layer, in: &html)
            relationships(of: layer, service, face, in: &html)
            operations(on: layer, of: service, face, in: &html)
            html.markup("<p><a href=\"?f=pjson\">JSON</a></p>")
        }
    }

    private func fields(of layer: LayerDefinition, in html: inout HTMLWriter) {
        html.markup("<h2>Fields</h2><table><tr><th>Name</th><th>Alias</th><th>Type</th><th>Length</th>")
        html.markup("<th>Rules</th></tr>")
        for field in layer.fields {
            html.element("<tr><td>", field.name, "</td>")
            html.element("<td>", field.alias, "</td>")
            html.element("<td>", field.type.rawValue, "</td>")
            html.element("<td>", field.length > 0 ? "\(field.length)" : "", "</td>")
            html.element("<td>", rules(of: field), "</td></tr>")
        }
        html.markup("</table>")
    }

    private func rules(of field: FieldDefinition) -> String {
        var rules: [String] = []
        if !field.isEditable { rules.append("not editable") }
        if !field.isNullable { rules.append("required") }
        if !field.defaultValue.isNull { rules.append("default \(field.defaultValue.json.text)") }
        if let domain = field.domain { rules.append(text(of: domain)) }
        return rules.joined(separator: "; ")
    }

    /// The values of a domain. Of a long list the first ones: the JSON has them all.
    private func text(of domain: DomainDefinition) -> String {
        switch domain.kind {
        case .codedValues(let values):
            let shown = values.prefix(Limits.pageCodes).map { "\($0.code.json.text): \($0.name)" }
            let rest = values.count > shown.count ? ", and \(values.count - shown.count) more" : ""
            return "domain \(domain.name) (\(shown.joined(separator: ", "))\(rest))"
        case .range(let minimum, let maximum):
            return "domain \(domain.name) (\(minimum.json.text) to \(maximum.json.text))"
        case .inherited: return "inherited domain"
        }
    }

    private func kinds(of layer: LayerDefinition, in html: inout HTMLWriter) {
        let kinds =
            layer.types.map { "\($0.id.json.text): \($0.name)" }
            + layer.subtypes.map { "\($0.code.json.text): \($0.name)" }
        guard !kinds.isEmpty else { return }
        html.element("<h2>Types, by ", layer.typeIDField ?? layer.subtypeField ?? "", "</h2><ul>")
        for kind in kinds { html.element("<li>", kind, "</li>") }
        html.markup("</ul>")
    }

    private func relationships(
        of layer: LayerDefinition, _ service: ServiceDefinition, _ face: ServiceFace, in html: inout HTMLWriter
    ) {
        guard !layer.relationships.isEmpty else { return }
        html.markup("<h2>Relationships</h2><ul>")
        for end in layer.relationships {
            html.element("<li>", "\(end.name) (\(end.id)): \(end.cardinality.rawValue), \(end.role.rawValue)", " ")
            let related = service.layer(id: end.relatedTableID)?.name ?? ""
            let name = "\(related) (\(end.relatedTableID))"
            html.link(to: path(of: service.name, face) + ["\(end.relatedTableID)"], name)
            html.markup("</li>")
        }
        html.markup("</ul>")
    }

    private func operations(
        on layer: LayerDefinition, of service: ServiceDefinition, _ face: ServiceFace, in html: inout HTMLWriter
    ) {
        let address = path(of: service.name, face) + ["\(layer.id)"]
        let permissions = Permissions(service: service, layer: layer)
        html.markup("<h2>Operations</h2><ul>")
        if permissions.allow(.query) { item("Query", address + ["query"], in: &html) }
        if face == .feature {
            for form in EditForm.allCases where permissions.allow(form.capability) {
                item(form.title, address + [form.operation.rawValue], in: &html)
            }
        }
        html.markup("</ul>")
        let others = face == .feature ? Self.operationsWithoutPage(of: layer, permissions) : []
        if !others.isEmpty {
            html.element("<p>By programs also: ", others.joined(separator: ", "), "</p>")
        }
    }

    /// What a layer can do that has no form here.
    private static func operationsWithoutPage(
        of layer: LayerDefinition, _ permissions: Permissions
    ) -> [String] {
        let isReadable = permissions.allow(.query)
        let isEditable = EditForm.allCases.contains { permissions.allow($0.capability) }
        return [
            ("queryTopFeatures", isReadable), ("queryRelatedRecords", isReadable && !layer.relationships.isEmpty),
            ("queryAttachments", isReadable && layer.hasAttachments), ("validateSQL", isReadable),
            ("calculate", permissions.allow(.update)), ("applyEdits", isEditable),
        ].filter(\.1).map(\.0)
    }
}
