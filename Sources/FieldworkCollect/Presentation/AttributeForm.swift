import Fieldwork
import Foundation

/// What the controls of all forms have in common: how posted fields are named, what a field is called, which choices it has.
struct AttributeForm: Sendable {
    /// A value that can't be taken, and why.
    struct Problem: Sendable, Hashable {
        let field: String
        let label: String
        let text: String
    }

    /// The names of posted values begin with it.
    static let prefix = "field."

    let layer: MapLayer
    private let text: FieldText

    init(layer: MapLayer) {
        self.layer = layer
        text = FieldText(layer: layer)
    }

    static func label(_ field: Field) -> String { field.alias.isEmpty ? field.name : field.alias }

    /// What a reader of the feature may want to see; the rest is for machines.
    static func isShown(_ field: Field) -> Bool {
        switch field.type {
        case .geometry, .blob, .raster, .xml, nil: false
        default: true
        }
    }

    struct Choice: Sendable {
        let code: String
        let name: String
        let value: any Sendable
    }

    func choices(_ field: Field, typeID: FeatureSnapshot.Value?) -> [Choice]? {
        if !layer.typeIDField.isEmpty, field.name.lowercased() == layer.typeIDField.lowercased(),
            !layer.types.isEmpty
        {
            return layer.types.compactMap { type in
                type.id.map { Choice(code: Symbology.text($0), name: type.name, value: $0) }
            }
        }
        guard let domain = text.domain(of: field, typeID: typeID) as? CodedValueDomain else { return nil }
        return domain.codedValues.compactMap { value in
            value.code.map { Choice(code: Symbology.text($0), name: value.name, value: $0) }
        }
    }

    /// The text of a control for a value that isn't a moment.
    static func input(_ value: (any Sendable)?) -> String {
        switch FeatureSnapshot.Value(value) {
        case .null: ""
        case .integer(let number): String(number)
        case .real(let number): FieldText.number(number)
        case .text(let text): text
        case .date, .bytes: ""
        case .guid(let uuid): uuid.uuidString.lowercased()
        }
    }
}
