import FieldworkGeometry

extension ServiceDefinition {
    /// What somebody sees of layers, as far as it decides what a file of their rows holds: fields, attachments and the condition on
    /// the rows. Two who have the same scope may have the same file.
    package func preparedScope(of ids: [Int]) -> String {
        let scopes = ids.sorted().compactMap { layer(id: $0) }.map { layer -> JSONValue in
            [
                "id": JSONValue(layer.id),
                "fields": .array(layer.fields.map { .string("\($0.name) \($0.type.rawValue)") }),
                "geometry": JSONValue(layer.geometryType?.rawValue), "hasAttachments": .bool(layer.hasAttachments),
                "condition": JSONValue(layer.restriction?.text),
            ]
        }
        return JSONValue.array(scopes).text
    }
}
