import Fieldwork
import Foundation

/// Turns features into what templates read.
struct FeatureViews {
    let map: OpenMap
    /// What isn't on the server, with the reason where it was refused.
    let unsent: [FeatureReference: String?]

    init(map: OpenMap) {
        self.map = map
        unsent = map.unsent()
    }

    static func degrees(_ value: Double) -> String {
        let rounded = (value * 1e9).rounded() / 1e9
        return "\(rounded)"
    }

    private func marks(_ reference: FeatureReference) -> Values {
        let known = unsent[reference]
        let refusal = known.flatMap { $0 }
        return [
            "unsent": known != nil && refusal == nil, "refused": refusal != nil, "sent": known == nil,
            "refusal": refusal.orFalse,
        ]
    }

    /// A row of a list.
    func row(_ found: FoundFeature, address: String? = nil, columns: [Field] = []) -> Values {
        let title = FeatureTitle(layer: found.layer, feature: found.feature)
        var values = marks(found.reference)
        let place = found.place != nil
        values.merge([
            "address": address ?? (place ? found.reference.mapAddress : found.reference.address),
            "mapAddress": place ? found.reference.mapAddress : false,
            "feature": found.reference.text, "title": title.title,
            "subtitle": title.subtitle.isEmpty ? title.id : "\(title.id) · \(title.subtitle)",
            "symbol": symbol(found), "selected": false,
            "distance": found.distance.map(FieldText.distance).orFalse,
            "direction": (found.distance ?? 0) < 0.05 ? "" : found.direction ?? "",
        ]) { $1 }
        if found.distance == nil { values["distance"] = "" }
        let text = FieldText(layer: found.layer)
        values["cells"] = columns.enumerated().map { index, field -> Values in
            let raw = found.feature.attributeValue(forKey: field.name)
            let isChoice = field.name == found.layer.choiceField
            return [
                "value": text.text(field.name, of: found.feature), "number": Symbology.number(raw) != nil && !isChoice,
                "link": index == 0 ? found.reference.address : false,
                "symbol": index == 0 ? symbol(found) : false,
            ]
        }
        return values
    }

    private func symbol(_ found: FoundFeature) -> Any {
        guard found.layer.geometry != nil, let symbol = found.layer.symbol(of: found.feature) else { return false }
        return symbol.values.merging(["large": true]) { $1 }
    }

    /// Call-out and small pop-up.
    func selection(_ found: FoundFeature, here: (position: Int, count: Int, next: String)?) -> Values {
        let title = FeatureTitle(layer: found.layer, feature: found.feature)
        let table = found.layer.table
        var values = marks(found.reference)
        let place = found.place
        let canUpdate = table.canUpdate(found.feature)
        let canDelete = table.canDelete(found.feature)
        let canMove = canUpdate && found.layer.geometry == .point && table.canEditGeometry(of: found.feature)
        let noun = found.layer.noun
        let words: Values = [
            "noun": noun, "title": title.title, "subtitle": title.subtitle.isEmpty ? title.id : title.subtitle,
            "calloutTitle": title.id, "calloutText": title.both, "name": "\(noun.capitalized) \(title.title)",
            "announce": "Selected: \(title.both), \(title.id).",
            "aside": title.aside.map { ["label": $0.label, "value": $0.value] as Values }.orFalse,
        ]
        let ways: Values = [
            "layer": found.layer.id, "feature": found.reference.text, "address": found.reference.address,
            "session": UUID().uuidString, "canEdit": canUpdate || canDelete, "canUpdate": canUpdate,
            "canMove": canMove, "canDelete": canDelete, "choices": choices(found).orFalse, "here": false,
        ]
        values.merge(words) { $1 }
        values.merge(ways) { $1 }
        values["symbol"] = symbol(found)
        values["lon"] = place.map { Self.degrees($0.longitude) } ?? ""
        values["lat"] = place.map { Self.degrees($0.latitude) } ?? ""
        values["place"] = place.map(coordinates) ?? ""
        if let here, here.count > 1 {
            values["here"] = ["text": "\(here.position) of \(here.count) here", "next": here.next] as Values
        }
        return values
    }

    private func coordinates(_ place: Place) -> String {
        "\(coordinate(place.latitude, "N", "S")) \(coordinate(place.longitude, "E", "W"))"
    }

    private func coordinate(_ degrees: Double, _ positive: String, _ negative: String) -> String {
        let rounded = (abs(degrees) * 1e5).rounded() / 1e5
        return "\(rounded)° \(degrees < 0 ? negative : positive)"
    }

    /// The choices of the call-out's menu, where the layer has a field with a short list of them.
    private func choices(_ found: FoundFeature) -> Values? {
        guard let name = found.layer.choiceField, let field = found.layer.field(named: name),
            found.layer.table.canUpdate(found.feature)
        else { return nil }
        let form = AttributeForm(layer: found.layer)
        let typeID = FieldText(layer: found.layer).typeID(of: found.feature)
        guard let choices = form.choices(field, typeID: typeID), choices.count <= Limits.menuChoices else { return nil }
        let current = Symbology.text(found.feature.attributeValue(forKey: name))
        return [
            "field": name, "label": "Choose \(AttributeForm.label(field).lowercased())",
            "values": choices.map { choice -> Values in
                [
                    "value": choice.code, "name": choice.name, "current": choice.code == current,
                    "symbol": found.layer.symbology.classOf(field: name, value: choice.value).map(\.values).orFalse,
                ]
            },
        ]
    }

    /// The pop-up view.
    func details(_ found: FoundFeature) -> Values {
        let title = FeatureTitle(layer: found.layer, feature: found.feature)
        let text = FieldText(layer: found.layer)
        var values = selection(found, here: nil)
        values["heading"] = title.title
        values["subheading"] = "\(found.layer.name) · \(title.id)"
        values["mapAddress"] = found.place == nil ? "/map" : found.reference.mapAddress
        let fields = found.layer.fields.filter(AttributeForm.isShown)
        let telling = fields.filter { FeatureTitle.isTelling($0, of: found.layer) }
        let others = fields.filter { !FeatureTitle.isTelling($0, of: found.layer) }
        values["facts"] = (telling + others).map { field -> Values in
            let raw = found.feature.attributeValue(forKey: field.name)
            let shown = text.text(field.name, of: found.feature)
            return [
                "label": AttributeForm.label(field), "value": shown, "wide": shown.count > 28,
                "code": text.code(raw, shown: shown).orFalse,
                "symbol": found.layer.symbology.classOf(field: field.name, value: raw).map(\.values).orFalse,
            ]
        }
        return values
    }

    /// The toast or the note about an edit that was just made.
    static func over(_ entry: EditEntry, back: String) -> Values {
        let undo: Any = entry.canUndo ? entry.id.uuidString.lowercased() : false
        switch entry.progress {
        case .refused(let reason):
            return [
                "toast": false,
                "error": [
                    "text": entry.failure,
                    "detail": "The server refused it: \(reason) Your edit is kept on this device.", "undo": undo,
                    "back": back,
                ] as Values,
            ]
        case .onDevice, .onServer:
            let place = entry.progress == .onDevice ? "On this device, not sent" : "On the server"
            return [
                "error": false,
                "toast": [
                    "text": entry.success, "where": place, "announce": "\(entry.success) \(place).", "undo": undo,
                    "back": back,
                ] as Values,
            ]
        }
    }
}
