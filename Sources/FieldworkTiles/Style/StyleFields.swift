import FieldworkGeometry
package import FieldworkREST

/// The fields that a layer is drawn by: what its tiles carry.
package enum StyleFields {
    private static let members = ["field", "field1", "field2", "field3", "normalizationField"]

    /// In the layer's order, with the object id.
    package static func names(_ layer: LayerDefinition) -> [String] {
        let ids = [layer.objectIDField, layer.displayField, layer.typeIDField].compactMap { $0?.lowercased() }
        var wanted = Set(ids + drawn(layer).map { $0.lowercased() })
        for info in layer.drawingInfo?["labelingInfo"]?.arrayValue ?? []
        where !DrawnExpressions.evaluatesLabel(info, layer) {
            wanted.formUnion(StyleLabels.fields(info, layer).map { $0.lowercased() })
        }
        return layer.fields.filter { $0.type != .geometry && wanted.contains($0.name.lowercased()) }.map(\.name)
    }

    /// The fields that the renderer looks at, in the layer's order.
    static func drawn(_ layer: LayerDefinition) -> [String] {
        var wanted: Set<String> = []
        let renderer = DrawnRenderer.evaluated(layer.drawingInfo?["renderer"])
        for json in [renderer].compactMap({ $0 }) + (renderer?["visualVariables"]?.arrayValue ?? []) {
            for member in members { if let name = json[member]?.stringValue { wanted.insert(name.lowercased()) } }
        }
        if let text = renderer?["rotationExpression"]?.stringValue, text.hasPrefix("["), text.hasSuffix("]") {
            wanted.insert(text.dropFirst().dropLast().lowercased())
        }
        return layer.fields.filter { $0.type != .geometry && wanted.contains($0.name.lowercased()) }.map(\.name)
    }

    /// A renderer with its fields spelled as the layer spells them, which is how tiles name them.
    static func spelled(_ renderer: JSONValue?, _ layer: LayerDefinition) -> JSONValue? {
        guard var object = renderer?.objectValue else { return renderer }
        for member in members {
            guard let name = object[member]?.stringValue, let field = layer.field(named: name) else { continue }
            object[member] = .string(field.name)
        }
        if let variables = object["visualVariables"]?.arrayValue {
            object["visualVariables"] = .array(variables.map { spelled($0, layer) ?? $0 })
        }
        return .object(object)
    }
}
