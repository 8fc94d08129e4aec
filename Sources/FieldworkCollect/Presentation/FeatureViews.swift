import Fieldwork
import Foundation
import Hummingbird

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
        let shown = DisplayedValues(layer: found.layer, feature: found.feature)
        let title = FeatureTitle(layer: found.layer, feature: found.feature, shown: shown)
        var values = marks(found.reference)
        let place = found.place != nil
        values.merge([
            "address": address ?? (place ? found.reference.mapAddress : found.reference.address),
            "mapAddress": place ? found.reference.mapAddress : false,
            "feature": found.reference.text, "title": title.title,
            "subtitle": title.rowText,
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
                "value": shown.value(of: field.name)?.text ?? text.text(field.name, of: found.feature),
                "number": Symbology.number(raw) != nil && !isChoice,
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

    /// What can be done with a row without opening it.
    func rowWays(_ found: FoundFeature) -> Values {
        let ways = ways(found)
        let names = ["session", "canEdit", "canUpdate", "canMove", "way", "wayName", "canDelete"]
        var values = ways.filter { names.contains($0.key) }
        values["rowAddress"] = found.reference.address
        return values
    }

    /// A record in the list of a feature that it refers to: its first value, then the next two.
    func related(_ found: FoundFeature) -> Values {
        let shown = DisplayedValues(layer: found.layer, feature: found.feature).values
        var values = marks(found.reference)
        values["address"] = found.reference.address
        values["title"] = shown.first?.text ?? found.layer.noun
        values["subtitle"] = shown.dropFirst().prefix(2).filter { !$0.isMissing }.map(\.text).joined(separator: " · ")
        return values
    }

    /// Call-out and small pop-up.
    /// - Parameter related: nil when the related records aren't known.
    func selection(
        _ found: FoundFeature, related: RelatedRecords?, here: (position: Int, count: Int, next: String)?
    ) -> Values {
        let shown = DisplayedValues(layer: found.layer, feature: found.feature)
        let title = FeatureTitle(layer: found.layer, feature: found.feature, shown: shown)
        let sides = SmallPopup(found: found, related: related, shown: shown, title: title)
        var values = marks(found.reference)
        let noun = found.layer.noun
        let words: Values = [
            "noun": noun, "title": sides.upper, "subtitle": sides.lower,
            "calloutTitle": title.calloutTitle, "calloutText": title.calloutText,
            "name": "\(noun.capitalized) \(title.title)", "announce": sides.announcement, "aside": sides.aside.orFalse,
            "count": sides.count.orFalse,
        ]
        values.merge(words) { $1 }
        values.merge(ways(found)) { $1 }
        values["symbol"] = symbol(found)
        if let here, here.count > 1 {
            values["here"] = ["text": "\(here.position) of \(here.count) here", "next": here.next] as Values
        }
        return values
    }

    /// What can be done with a feature, and where it is.
    private func ways(_ found: FoundFeature) -> Values {
        let table = found.layer.table
        let isOpen = found.layer.hasPopups
        let canUpdate = isOpen && table.canUpdate(found.feature)
        let canDelete = isOpen && table.canDelete(found.feature)
        let isPoint = found.layer.geometry == .point
        let canMove = canUpdate && found.layer.geometry != nil && table.canEditGeometry(of: found.feature)
        let place = found.place
        return [
            "layer": found.layer.id, "feature": found.reference.text, "address": found.reference.address,
            "session": UUID().uuidString, "canEdit": canUpdate || canDelete, "canUpdate": canUpdate,
            "canMove": canMove, "way": isPoint ? "move" : "geometry", "wayName": isPoint ? "Move" : "Edit shape",
            "canDelete": canDelete, "choices": choices(found).orFalse, "here": false,
            "lon": place.map { Self.degrees($0.longitude) } ?? "", "lat": place.map { Self.degrees($0.latitude) } ?? "",
            "place": place.map(coordinates) ?? "",
        ]
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
                    "symbol": found.layer.symbology.swatch(field: name, value: choice.value).map(\.values).orFalse,
                ]
            },
        ]
    }

    /// The pop-up view.
    /// - Parameters:
    ///   - popup: evaluated; nil where nobody has made one.
    ///   - related: nil when the related records aren't known.
    func details(_ found: FoundFeature, popup: Popup?, related: RelatedRecords?) -> Values {
        let shown = DisplayedValues(layer: found.layer, feature: found.feature)
        let title = FeatureTitle(layer: found.layer, feature: found.feature, shown: shown)
        let heading = popup.map(\.title).flatMap { $0.isEmpty ? nil : $0 } ?? title.title
        let owner = found.place == nil ? related?.owner?.record : nil
        let ownerTitle = owner.map { FeatureTitle(layer: $0.layer, feature: $0.feature).title }
        var values = selection(found, related: related, here: nil)
        values["heading"] = heading
        values["subheading"] =
            popup == nil
            ? "\(found.layer.name) · \(title.id)"
            : [found.layer.name, lastEdit(found)].compactMap { $0 }
                .joined(separator: " · ")
        values["mapAddress"] =
            owner?.reference.address ?? (found.place == nil ? "/list/\(found.layer.id)" : found.reference.mapAddress)
        values["backLabel"] =
            ownerTitle.map { "Back to \($0)" } ?? (found.place == nil ? "Back to the list" : "Back to the map")
        values["owner"] = owner.map { ["title": ownerTitle ?? "", "address": $0.reference.address] as Values }.orFalse
        values["parts"] = PopupParts(found: found, related: related, views: self).values(of: popup)
        return values
    }

    /// Who changed it last, and when, where the layer keeps that.
    private func lastEdit(_ found: FoundFeature) -> String? {
        guard let info = found.layer.table.editFieldsInfo,
            let date = found.feature.attributeValue(forKey: info.editDateField) as? Date
        else { return nil }
        let who = found.feature.attributeValue(forKey: info.editorField) as? String
        let when = FieldText.date(date, now: Date())
        return [when, who].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// What was just done, as the address says: an edit that was made, or a form that was cancelled.
    static func over(_ request: Request, map: OpenMap, back: String) -> OverView? {
        let query = request.uri.queryParameters
        if let id = query["edit"].flatMap({ UUID(uuidString: String($0)) }), let entry = map.journal.entry(id: id) {
            return over(entry, back: back, another: another(like: entry, map: map), isPlainFile: map.isPlainFile)
        }
        guard let draft = query["discarded"].flatMap({ map.drafts.draft(id: String($0)) }), draft.discarded != nil
        else { return nil }
        return OverView(
            toast: OverView.Toast(
                text: "Changes discarded.", announce: "Changes discarded.", restore: draft.id, back: back))
    }

    /// The toast or the note about an edit that was just made.
    /// - Parameter another: where one more of the same kind is added; nil where nothing was.
    static func over(
        _ entry: EditEntry, back: String, another: String? = nil, isPlainFile: Bool = false
    ) -> OverView {
        let undo = entry.canUndo ? entry.id.uuidString.lowercased() : nil
        switch entry.progress {
        case .refused(let reason):
            return OverView(
                error: OverView.Failure(
                    text: entry.failure,
                    detail: "The server refused it: \(reason) Your edit is kept on this device.", undo: undo, back: back
                ))
        case .onDevice, .onServer:
            let place =
                isPlainFile
                ? "In the file" : entry.progress == .onDevice ? "On this device, not sent" : "On the server"
            return OverView(
                toast: OverView.Toast(
                    text: entry.success, where: place, announce: "\(entry.success) \(place).", undo: undo, back: back,
                    another: another))
        }
    }

    /// The address that adds one more point like the one that was just added: of its kind, with the records it refers to.
    private static func another(like entry: EditEntry, map: OpenMap) -> String? {
        guard entry.kind == .create, entry.undoes == nil, !entry.isUndone,
            let layer = map.layer(entry.feature.layer), layer.isAddable, layer.geometry == .point
        else { return nil }
        return "/add/\(layer.id)?like=\(entry.id.uuidString.lowercased())"
    }
}
