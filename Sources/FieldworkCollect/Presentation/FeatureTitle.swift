import Fieldwork
import Foundation

/// The words for one feature: what it is called, its id, its first values.
struct FeatureTitle: Sendable {
    let title: String
    /// The next values that the title doesn't hold.
    let subtitle: String
    /// "ID: 17"; a feature that isn't on the server has none yet.
    let id: String
    /// A third value, for the right side of the small pop-up.
    let aside: (label: String, value: String)?

    /// Title and subtitle in one line.
    var both: String { subtitle.isEmpty ? title : "\(title) · \(subtitle)" }

    init(layer: MapLayer, feature: Feature) {
        let text = FieldText(layer: layer)
        let objectID = layer.objectID(of: feature)
        id = objectID.map { $0 >= 0 ? "ID: \($0)" : "New, no ID yet" } ?? "New, no ID yet"
        var names: [String] = []
        if let display = layer.displayField { names.append(display) }
        if let choice = layer.choiceField { names.append(choice) }
        names += layer.fields.filter { Self.isTelling($0, of: layer) }.map(\.name)
        var seen: Set<String> = []
        let shown = names.filter { seen.insert($0.lowercased()).inserted }.compactMap { name -> (Field, String)? in
            guard let field = layer.field(named: name), Self.isTelling(field, of: layer) else { return nil }
            let value = text.text(name, of: feature)
            return value == FieldText.nothing ? nil : (field, value)
        }
        title = shown.first?.1 ?? "\(layer.noun.prefix(1).uppercased())\(layer.noun.dropFirst())"
        subtitle = shown.dropFirst().prefix(2).map { field, value in
            // A bare number says nothing.
            Self.needsLabel(field, of: layer) ? "\(AttributeForm.label(field)) \(value)" : value
        }.joined(separator: " · ")
        aside = shown.dropFirst(3).first.map { ($0.0.alias.isEmpty ? $0.0.name : $0.0.alias, $0.1) }
    }

    private static func needsLabel(_ field: Field, of layer: MapLayer) -> Bool {
        guard field.name != layer.choiceField, !(field.domain is CodedValueDomain) else { return false }
        return switch field.type {
        case .int16, .int32, .int64, .float32, .float64, .date, .dateOnly, .timeOnly, .timestampOffset: true
        default: false
        }
    }

    /// Fields that say something about the feature to a person.
    static func isTelling(_ field: Field, of layer: MapLayer) -> Bool {
        switch field.type {
        case .oid, .globalID, .guid, .blob, .geometry, .raster, .xml, nil: return false
        default: break
        }
        return field.isEditable && field.name != layer.objectIDField && field.name != layer.globalIDField
    }
}
