import Fieldwork
import Foundation

/// The values of one feature in the order in which they are shown: the map's author decides where there is a web map, else
/// all that tell a person something.
struct DisplayedValues: Sendable {
    struct Value: Sendable {
        let field: Field
        let label: String
        /// As people read it; a dash for nothing.
        let text: String

        var isMissing: Bool { text == FieldText.nothing }
    }

    /// The pop-up's title with values filled in; empty where nobody has made one.
    let title: String
    let values: [Value]

    init(layer: MapLayer, feature: Feature) {
        guard let definition = layer.popup else {
            title = ""
            let text = FieldText(layer: layer)
            values = Self.tellingFields(of: layer).map {
                Value(field: $0, label: AttributeForm.label($0), text: text.text($0.name, of: feature))
            }
            return
        }
        let popup = Popup(geoElement: feature, definition: definition)
        let manager = PopupManager(popup: popup)
        title = popup.title.trimmingCharacters(in: .whitespacesAndNewlines)
        values = manager.displayFields.compactMap { shown in
            guard let field = layer.field(named: shown.fieldName) else { return nil }
            let text = manager.formattedValue(of: shown)
            return Value(field: field, label: manager.label(of: shown), text: text.isEmpty ? FieldText.nothing : text)
        }
    }

    /// The two lines that another feature's page shows of this one: a feature of the map by its title, a record of a table by
    /// its first values.
    static func lines(of feature: Feature?, in layer: MapLayer, without nothing: String) -> (String, String) {
        guard let feature else { return (nothing, "") }
        if layer.geometry != nil {
            let title = FeatureTitle(layer: layer, feature: feature)
            return (title.title, title.subtitle)
        }
        let values = DisplayedValues(layer: layer, feature: feature).values
        return (values.first?.text ?? nothing, values.dropFirst().first?.text ?? "")
    }

    func value(of name: String) -> Value? { values.first { $0.field.name.lowercased() == name.lowercased() } }

    /// The naming field, the one that tells the class, then the others.
    private static func tellingFields(of layer: MapLayer) -> [Field] {
        var names = [layer.displayField, layer.choiceField].compactMap { $0 }
        names += layer.fields.map(\.name)
        var seen: Set<String> = []
        return names.filter { seen.insert($0.lowercased()).inserted }.compactMap { layer.field(named: $0) }
            .filter { FeatureTitle.isTelling($0, of: layer) }
    }
}

extension MapLayer {
    /// The fields that lists have columns for.
    var listedFields: [Field] {
        guard let popup else { return [] }
        return popup.fields.filter(\.isVisible).compactMap { field(named: $0.fieldName) }
    }
}
