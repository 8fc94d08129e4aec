import Fieldwork
import FieldworkTiles
import Foundation

/// A layer or table of the open map.
struct MapLayer: Sendable {
    /// What can be added: a type with its template, a template, or a feature without any.
    struct Kind: Sendable {
        enum Source: Sendable {
            case type(FeatureType)
            case template(FeatureTemplate)
            case plain
        }

        let key: String
        let name: String
        let source: Source
        let symbol: Swatch?
    }

    /// Its number in the map: the service's own where only one service is in it.
    let id: Int
    let name: String
    let table: ArcGISFeatureTable
    /// The layer of the map that shows the table; nil for a table. The table itself doesn't keep it.
    let featureLayer: FeatureLayer?
    /// What the map's author wants its rows to be shown with; nil where a service is open without a web map.
    let popup: PopupDefinition?
    /// Whether features can be tapped, listed and edited: their pop-up is switched on and made.
    let hasPopups: Bool
    // What the table says of itself, kept: it is asked for each value that is shown.
    let fields: [Field]
    let types: [FeatureType]
    let objectIDField: String
    let globalIDField: String
    let typeIDField: String
    private let fieldsByName: [String: Field]
    /// nil for a table.
    let geometry: GeometryKind?
    let symbology: Symbology
    let style: LayerStyle
    let kinds: [Kind]
    /// The field whose value names a feature.
    let displayField: String?
    /// The field that tells the class of damage, condition, species: the renderer's, or the type's.
    let choiceField: String?

    init(
        id: Int, name: String, table: ArcGISFeatureTable, featureLayer: FeatureLayer? = nil,
        popup: PopupDefinition? = nil, hasPopups: Bool = true, geometry: GeometryKind?, symbology: Symbology,
        style: LayerStyle, kinds: [Kind],
        displayField: String?, choiceField: String?
    ) {
        self.id = id
        self.name = name
        self.table = table
        self.featureLayer = featureLayer
        self.popup = popup
        self.hasPopups = hasPopups
        self.geometry = geometry
        self.symbology = symbology
        self.style = style
        self.kinds = kinds
        self.displayField = displayField
        self.choiceField = choiceField
        fields = table.fields
        types = table.featureTypes
        objectIDField = table.objectIDField
        globalIDField = table.globalIDField
        typeIDField = table.typeIDField
        fieldsByName = Dictionary(fields.map { ($0.name.lowercased(), $0) }) { first, _ in first }
    }

    /// What one feature is called: the layer's name in the singular where that is plain English, else "feature".
    var noun: String { Self.singular(name) }

    /// Whether the app lets people add to it: editable, takes new features, has pop-ups.
    var isAddable: Bool { hasPopups && table.canAdd }

    /// Whether the layer is drawn at a scale.
    /// - Parameter scale: the denominator; nil: unknown.
    func isDrawn(_ scale: Double?) -> Bool {
        guard let scale, let featureLayer else { return true }
        let isNear = featureLayer.minScale.map { $0 <= 0 || scale <= $0 } ?? true
        return isNear && featureLayer.maxScale.map { scale >= $0 } ?? true
    }

    func field(named name: String) -> Field? { fieldsByName[name.lowercased()] }

    func reference(of feature: Feature) -> FeatureReference? { FeatureReference(feature, layer: id) }

    func objectID(of feature: Feature) -> Int64? {
        guard case .integer(let id) = FeatureSnapshot.Value(feature.attributeValue(forKey: objectIDField)) else {
            return nil
        }
        return id
    }

    func symbol(of feature: Feature) -> Swatch? { symbology.swatch(of: feature) }

    static func singular(_ name: String) -> String {
        let last = name.split(whereSeparator: { !$0.isLetter }).last.map(String.init) ?? ""
        let word = last.lowercased()
        guard word.count > 3, word.hasSuffix("s"), !word.hasSuffix("ss"), !word.hasSuffix("us"), word != "species"
        else {
            return "feature"
        }
        return word.hasSuffix("ies") ? word.dropLast(3) + "y" : String(word.dropLast())
    }
}
