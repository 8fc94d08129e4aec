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
    private let isAuthored: Bool

    /// Title and subtitle in one line.
    var both: String { subtitle.isEmpty ? title : "\(title) · \(subtitle)" }
    /// The call-out's first line: the author's title, or where there is none the id, as the seed has it.
    var calloutTitle: String { isAuthored ? title : id }
    var calloutText: String { isAuthored ? subtitle : both }
    /// The second line of a row.
    var rowText: String {
        if isAuthored { return subtitle }
        return subtitle.isEmpty ? id : "\(id) · \(subtitle)"
    }

    init(layer: MapLayer, feature: Feature) {
        self.init(layer: layer, feature: feature, shown: DisplayedValues(layer: layer, feature: feature))
    }

    init(layer: MapLayer, feature: Feature, shown: DisplayedValues) {
        let objectID = layer.objectID(of: feature)
        id = objectID.map { $0 >= 0 ? "ID: \($0)" : "New, no ID yet" } ?? "New, no ID yet"
        isAuthored = layer.popup != nil
        var values = shown.values.filter { !$0.isMissing }
        if !shown.title.isEmpty {
            title = shown.title
            values = values.filter { !shown.title.contains($0.text) }
        } else if layer.popup?.title.isEmpty == false, layer.geometry != nil {
            // A value alone, such as a condition, names nothing.
            let noun = "\(layer.noun.prefix(1).uppercased())\(layer.noun.dropFirst())"
            title = objectID.map { $0 >= 0 ? "\(noun) \($0)" : "New \(layer.noun)" } ?? "New \(layer.noun)"
        } else if !values.isEmpty {
            title = values.removeFirst().text
        } else {
            title = "\(layer.noun.prefix(1).uppercased())\(layer.noun.dropFirst())"
        }
        subtitle = values.prefix(2).map { value in
            // A bare number says nothing.
            Self.needsLabel(value.field, of: layer) ? "\(value.label) \(value.text)" : value.text
        }.joined(separator: " · ")
        aside = values.dropFirst(2).first.map { ($0.label, $0.text) }
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
