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

    private func marks(_ reference: FeatureReference) -> StateMarks {
        let known = unsent[reference]
        let refusal = known.flatMap { $0 }
        return StateMarks(
            unsent: known != nil && refusal == nil, refused: refusal != nil, sent: known == nil, refusal: refusal)
    }

    /// A row of a list.
    func row(_ found: FoundFeature, address: String? = nil, columns: [Field] = []) -> RowView {
        let shown = DisplayedValues(layer: found.layer, feature: found.feature)
        let title = FeatureTitle(layer: found.layer, feature: found.feature, shown: shown)
        let mapAddress = found.place == nil ? nil : found.reference.mapAddress
        let symbol = symbol(found)
        let text = FieldText(layer: found.layer)
        let cells = columns.enumerated().map { index, field in
            let raw = found.feature.attributeValue(forKey: field.name)
            let isChoice = field.name == found.layer.choiceField
            return RowView.Cell(
                value: shown.value(of: field.name)?.text ?? text.text(field.name, of: found.feature),
                number: Symbology.number(raw) != nil && !isChoice,
                link: index == 0 ? found.reference.address : nil, symbol: index == 0 ? symbol : nil)
        }
        return RowView(
            address: address ?? mapAddress ?? found.reference.address, mapAddress: mapAddress,
            feature: found.reference.text, title: title.title, subtitle: title.rowText, symbol: symbol,
            distance: found.distance.map(FieldText.distance) ?? "",
            direction: (found.distance ?? 0) < 0.05 ? "" : found.direction ?? "", marks: marks(found.reference),
            cells: cells)
    }

    private func symbol(_ found: FoundFeature) -> SymbolView? {
        guard found.layer.geometry != nil else { return nil }
        return found.layer.symbol(of: found.feature)?.view(large: true)
    }

    /// A record in the list of a feature that it refers to: its first value, then the next two.
    func related(_ found: FoundFeature) -> RelatedView.Row {
        let shown = DisplayedValues(layer: found.layer, feature: found.feature).values
        return RelatedView.Row(
            address: found.reference.address, title: shown.first?.text ?? found.layer.noun,
            subtitle: shown.dropFirst().prefix(2).filter { !$0.isMissing }.map(\.text).joined(separator: " · "),
            marks: marks(found.reference))
    }

    /// The records that refer to a feature.
    /// - Parameters:
    ///   - owner: the feature.
    ///   - limit: the most that are shown; nil for all.
    func related(
        _ children: RelatedRecords.Children, of owner: FeatureReference, title: String, limit: Int? = nil
    ) -> RelatedView {
        let base = "\(owner.address)/related/\(children.info.id)"
        let all = children.records.count
        let noun = children.layer.noun
        return RelatedView(
            relation: children.info.id, name: title, count: all,
            rows: children.records.prefix(limit ?? all).map(related), hasRows: all > 0,
            noneText: "No \(title.lowercased()) yet.",
            all: all > limit ?? all ? RelatedView.Link(address: base, text: "All \(FieldText.count(all, noun))") : nil,
            add: children.canAdd ? RelatedView.Link(address: "\(base)/new", text: "Add \(noun)") : nil)
    }

    /// Call-out and small pop-up.
    /// - Parameter related: nil when the related records aren't known.
    func selection(
        _ found: FoundFeature, related: RelatedRecords?, here: SelectionView.Here? = nil
    ) -> SelectionView {
        let shown = DisplayedValues(layer: found.layer, feature: found.feature)
        let title = FeatureTitle(layer: found.layer, feature: found.feature, shown: shown)
        let sides = SmallPopup(found: found, related: related, shown: shown, title: title)
        let noun = found.layer.noun
        let lon = found.place.map { Self.degrees($0.longitude) } ?? ""
        let lat = found.place.map { Self.degrees($0.latitude) } ?? ""
        let callout = CalloutView(
            name: "\(noun.capitalized) \(title.title)", noun: noun, feature: found.reference.text, lon: lon, lat: lat,
            title: title.calloutTitle, text: title.calloutText, ways: ways(found), choices: choices(found))
        return SelectionView(
            address: found.reference.address, layer: found.layer.id, feature: found.reference.text, noun: noun,
            title: sides.upper, subtitle: sides.lower, symbol: symbol(found), count: sides.count, aside: sides.aside,
            announce: sides.announcement, marks: marks(found.reference), place: found.place.map(coordinates) ?? "",
            lon: lon, lat: lat, here: here, callout: callout)
    }

    /// What can be done with a feature; nil where nothing can.
    func ways(_ found: FoundFeature) -> WaysView? {
        let table = found.layer.table
        let canUpdate = found.layer.hasPopups && table.canUpdate(found.feature)
        let canDelete = found.layer.hasPopups && table.canDelete(found.feature)
        guard canUpdate || canDelete else { return nil }
        let canMove = canUpdate && found.layer.geometry != nil && table.canEditGeometry(of: found.feature)
        let way =
            found.layer.geometry == .point
            ? WaysView.Move(path: "move", name: "Move") : WaysView.Move(path: "geometry", name: "Edit shape")
        return WaysView(
            address: found.reference.address, session: UUID().uuidString, canUpdate: canUpdate,
            move: canMove ? way : nil, canDelete: canDelete)
    }

    private func coordinates(_ place: Place) -> String {
        "\(coordinate(place.latitude, "N", "S")) \(coordinate(place.longitude, "E", "W"))"
    }

    private func coordinate(_ degrees: Double, _ positive: String, _ negative: String) -> String {
        let rounded = (abs(degrees) * 1e5).rounded() / 1e5
        return "\(rounded)° \(degrees < 0 ? negative : positive)"
    }

    /// The choices of the call-out's menu, where the layer has a field with a short list of them.
    private func choices(_ found: FoundFeature) -> CalloutView.Choices? {
        guard let name = found.layer.choiceField, let field = found.layer.field(named: name),
            found.layer.table.canUpdate(found.feature)
        else { return nil }
        let form = AttributeForm(layer: found.layer)
        let typeID = FieldText(layer: found.layer).typeID(of: found.feature)
        guard let choices = form.choices(field, typeID: typeID), choices.count <= Limits.menuChoices else { return nil }
        let current = Symbology.text(found.feature.attributeValue(forKey: name))
        return CalloutView.Choices(
            field: name, label: "Choose \(AttributeForm.label(field).lowercased())",
            values: choices.map { choice in
                CalloutView.Choices.Choice(
                    value: choice.code, name: choice.name, current: choice.code == current,
                    symbol: found.layer.symbology.swatch(field: name, value: choice.value)?.view())
            })
    }

    /// The feature's panel.
    /// - Parameters:
    ///   - popup: evaluated; nil where nobody has made one.
    ///   - related: nil when the related records aren't known.
    func panel(
        _ found: FoundFeature, popup: Popup?, related: RelatedRecords?, photos: FeaturePhotos?
    ) -> FeaturePanel {
        let title = FeatureTitle(layer: found.layer, feature: found.feature)
        let owner = found.place == nil ? related?.owner?.record : nil
        let ownerTitle = owner.map { FeatureTitle(layer: $0.layer, feature: $0.feature).title }
        let isOnMap = found.place != nil
        return FeaturePanel(
            address: found.reference.address,
            heading: popup.map(\.title).flatMap { $0.isEmpty ? nil : $0 } ?? title.title,
            subheading: popup == nil
                ? "\(found.layer.name) · \(title.id)"
                : [found.layer.name, lastEdit(found)].compactMap { $0 }.joined(separator: " · "),
            mapAddress: owner?.reference.address
                ?? (isOnMap ? found.reference.mapAddress : "/list/\(found.layer.id)"),
            backLabel: ownerTitle.map { "Back to \($0)" } ?? (isOnMap ? "Back to the map" : "Back to the list"),
            owner: owner.map { FeaturePanel.Owner(title: ownerTitle ?? "", address: $0.reference.address) },
            marks: marks(found.reference), photos: photos,
            parts: PopupParts(found: found, related: related, views: self).parts(of: popup), ways: ways(found))
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
