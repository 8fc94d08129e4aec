import Fieldwork
import Foundation

/// What templates read of conflicts.
struct ConflictViews {
    let map: OpenMap
    /// The replicas of this device: what came from them is the user's own.
    let own: Set<UUID>

    // MARK: Sides

    func isMine(_ side: EditConflict.Side) -> Bool { side.replicaID.map(own.contains) ?? false }

    /// "Yours", "Dana's" or where it was made, for a button.
    func owner(_ side: EditConflict.Side) -> String {
        if isMine(side) { return "Yours" }
        if let editor = side.editor, !editor.isEmpty { return "\(editor)’s" }
        return side.replicaID == nil ? "The server’s" : "Another device’s"
    }

    private func keepAll(_ side: EditConflict.Side) -> String {
        isMine(side) ? "Keep all mine" : side.editor?.isEmpty == false ? "Keep all \(owner(side))" : "Keep all theirs"
    }

    /// What the button of a settled conflict does with the side that lost.
    private func bringBack(_ found: FoundConflict) -> String {
        let lost = found.conflict.lost
        guard lost.isDeleted else { return "Use the other version instead" }
        return lost.attachment == nil ? "Delete the \(found.layer.noun) instead" : "Delete the photo or file instead"
    }

    /// The same within a sentence: a name keeps its capital.
    private func within(_ side: EditConflict.Side) -> String {
        isMine(side) || side.editor?.isEmpty != false ? owner(side).lowercasedFirst : owner(side)
    }

    private func person(_ side: EditConflict.Side) -> String {
        if isMine(side) { return "You" }
        if let editor = side.editor, !editor.isEmpty { return editor }
        return side.replicaID == nil ? Self.someone : "Another device"
    }

    private static let someone = "Someone else"

    /// "You and Dana"; whoever has no name is said alone, for the reader knows of the own change.
    private func both(_ lost: String, _ won: String) -> String {
        if [lost, won].contains(Self.someone), [lost, won].contains("You") { return Self.someone }
        return "\(lost) and \(won == "You" ? "you" : won)"
    }

    // MARK: Rows

    func row(_ found: FoundConflict, title: String?) -> ConflictsPanel.Row {
        let what: String =
            switch found.conflict.kind {
            case .fields:
                found.parts.map { label($0, found) }.joined(separator: ", ")
            case .updateOfDeleted: "changed here, deleted there"
            case .deleteOfUpdated: "deleted here, changed there"
            case .attachment: "\(fileName(found)) changed on both sides"
            case .updateOfDeletedAttachment: "\(fileName(found)) changed here, deleted there"
            case .deleteOfUpdatedAttachment: "\(fileName(found)) deleted here, changed there"
            }
        let state =
            switch found.conflict.state {
            case .open: "Open"
            case .decided: "Settled by rule"
            case .restored: "Brought back"
            }
        let when = FieldText.date(found.conflict.date, now: Date())
        return ConflictsPanel.Row(
            address: found.address, title: title ?? found.layer.noun.capitalized,
            detail: "\(what) · \(state) · \(when)")
    }

    /// nil where the feature isn't there.
    func title(_ now: FoundFeature?) -> String? {
        now.map { FeatureTitle(layer: $0.layer, feature: $0.feature).title }
    }

    func label(_ part: String, _ found: FoundConflict) -> String {
        if part == FoundConflict.place { return "Place" }
        return found.layer.field(named: part).map(AttributeForm.label) ?? part
    }

    // MARK: One of them

    /// - Parameters:
    ///   - open: the conflicts that wait for a decision.
    ///   - now: the feature as it is; nil where it isn't there.
    ///   - chosen: what was chosen so far, by part.
    func panel(
        _ found: FoundConflict, among open: [FoundConflict], now: FoundFeature?, picture: ConflictPicture?,
        chosen: [String: String], missing: String?
    ) -> ConflictPanel {
        let conflict = found.conflict
        let index = open.firstIndex { $0.address == found.address }
        let next = index.flatMap { open.indices.contains($0 + 1) ? open[$0 + 1].address : nil }
        let title = title(now)
        let says = says(found, title: title ?? "this \(found.layer.noun)")
        let mineFirst = isMine(conflict.won)
        let (first, second) = mineFirst ? (conflict.won, conflict.lost) : (conflict.lost, conflict.won)
        let (firstKey, secondKey) = mineFirst ? ("won", "lost") : ("lost", "won")
        let sides: [Keyed] = [(first, firstKey), (second, secondKey)]
        let parts = found.parts.map { part in
            ConflictPanel.Part(
                part: part, label: label(part, found), before: before(part, found),
                choices: sides.map { choice($0, of: part, found, chosen: chosen[part]) },
                later: later(part, found, now: now), message: missing == part ? "Choose one." : nil)
        }
        return ConflictPanel(
            heading: index.map { "Conflict \($0 + 1) of \(open.count)" } ?? "Conflict",
            subheading: title ?? found.layer.noun.capitalized, address: found.address, session: UUID().uuidString,
            isOpen: conflict.state == .open, later: next ?? "/conflicts", picture: picture?.view(says: says),
            shapes: picture?.document, settled: settled(conflict), intro: intro(found),
            featureAddress: now?.reference.address, sides: sides.map(side), hasParts: !parts.isEmpty, parts: parts,
            whole: parts.isEmpty ? whole(found, sides) : nil, merged: merged(found), bringBack: bringBack(found))
    }

    /// A side, and what a form sends to choose it.
    private typealias Keyed = (side: EditConflict.Side, key: String)

    private func side(_ keyed: Keyed) -> ConflictPanel.Side {
        ConflictPanel.Side(
            person: person(keyed.side), when: FieldText.date(keyed.side.date, now: Date()), key: keyed.key,
            keepAll: keepAll(keyed.side))
    }

    private func choice(
        _ keyed: Keyed, of part: String, _ found: FoundConflict, chosen: String?
    ) -> ConflictPanel.Choice {
        ConflictPanel.Choice(
            key: keyed.key, current: chosen == keyed.key, owner: owner(keyed.side),
            symbol: found.layer.symbology.swatch(field: part, value: keyed.side.attributes[part])?.view(),
            value: text(keyed.side, part, found))
    }

    /// The value that both knew before they changed it.
    private func before(_ part: String, _ found: FoundConflict) -> String? {
        guard let base = found.conflict.base else { return nil }
        if part == FoundConflict.place {
            guard base.hasGeometry, let old = base.geometry.flatMap(point) else { return nil }
            let ways = [found.conflict.lost, found.conflict.won].compactMap { side -> String? in
                guard let new = side.geometry.flatMap(point) else { return nil }
                return
                    "\(isMine(side) ? "you" : person(side)) moved it \(FieldText.distance(old.distance(to: new).metres))"
            }
            return ways.isEmpty ? nil : ways.joined(separator: ", ")
        }
        guard base.fieldNames.contains(part), let field = found.layer.field(named: part) else { return nil }
        let text = FieldText(layer: found.layer).text(base.attributes[part], field: field)
        return "before: \(text.isEmpty ? FieldText.nothing : text)"
    }

    /// What each side changed alone: it stands, and nobody is asked.
    private func merged(_ found: FoundConflict) -> String? {
        guard let base = found.conflict.base else { return nil }
        let (upload, service) =
            found.conflict.isUploadWinner
            ? (found.conflict.won, found.conflict.lost) : (found.conflict.lost, found.conflict.won)
        let sides = [(upload, base.uploadOnlyFieldNames), (service, base.serviceOnlyFieldNames)]
        let names = sides.flatMap { side, names in
            found.layer.fields.map(\.name).filter(names.contains).map {
                "\(label($0, found)) (\(within(side)))"
            }
        }
        let all = names + (base.isGeometryMerged ? ["Place"] : [])
        return all.isEmpty ? nil : all.joined(separator: ", ")
    }

    /// How far apart the two places are, for who doesn't see them.
    private func says(_ found: FoundConflict, title: String) -> String {
        let (lost, won) = (found.conflict.lost, found.conflict.won)
        guard lost.hasGeometry, let one = lost.geometry.flatMap(point), let other = won.geometry.flatMap(point) else {
            return "\(title) among its neighbours"
        }
        return "Both places of \(title), \(apart(one, other)) apart"
    }

    private func apart(_ one: Place, _ other: Place) -> String { FieldText.distance(one.distance(to: other).metres) }

    /// The two buttons of a conflict that is settled as a whole: about a delete, or about a photo or file.
    private func whole(_ found: FoundConflict, _ sides: [Keyed]) -> ConflictPanel.Whole {
        let conflict = found.conflict
        let (isLostDeleted, isDelete) = (conflict.lost.isDeleted, conflict.lost.isDeleted || conflict.won.isDeleted)
        let thing = conflict.won.attachment == nil ? found.layer.noun : "photo or file"
        guard isDelete else {
            let (first, second) = (sides[0], sides[1])
            return ConflictPanel.Whole(
                changes: sides.map { ConflictPanel.Fact(label: "\(owner($0.side)) file", value: file($0.side)) },
                keep: "Keep \(within(first.side))", keepKey: first.key, other: "Keep \(within(second.side))",
                otherKey: second.key, isDelete: false)
        }
        let kept = isLostDeleted ? conflict.won : conflict.lost
        let fields = kept.fieldNames.map {
            ConflictPanel.Fact(label: label($0, found), value: text(kept, $0, found))
        }
        let files = kept.attachment == nil ? [] : [ConflictPanel.Fact(label: "File", value: file(kept))]
        return ConflictPanel.Whole(
            changes: fields + files, keep: "Keep the \(thing) with the change", keepKey: isLostDeleted ? "won" : "lost",
            other: "Delete the \(thing)", otherKey: isLostDeleted ? "lost" : "won", isDelete: true)
    }

    private func fileName(_ found: FoundConflict) -> String {
        (found.conflict.won.attachment ?? found.conflict.lost.attachment)?.name ?? "a photo or file"
    }

    private func file(_ side: EditConflict.Side) -> String {
        side.attachment.map { "\($0.name), \(ByteText.whole($0.size))" } ?? FieldText.nothing
    }

    private func intro(_ found: FoundConflict) -> String {
        let conflict = found.conflict
        let noun = found.layer.noun
        let (lost, won) = (person(conflict.lost), person(conflict.won))
        switch conflict.kind {
        case .fields:
            return "\(both(lost, won)) changed the same values of this \(noun). "
                + "Choose which to keep. The other stays in the history."
        case .updateOfDeleted, .deleteOfUpdated:
            let (deleting, changing) = conflict.lost.isDeleted ? (lost, won) : (won, lost)
            return "\(deleting) deleted this \(noun). \(changing) changed it."
        case .attachment:
            return "\(both(lost, won)) changed \(fileName(found)) of this \(noun). "
                + "Choose which to keep. The other stays in the history."
        case .updateOfDeletedAttachment, .deleteOfUpdatedAttachment:
            let (deleting, changing) = conflict.lost.isDeleted ? (lost, won) : (won, lost)
            return "\(deleting) deleted \(fileName(found)) of this \(noun). \(changing) changed it."
        }
    }

    private func settled(_ conflict: EditConflict) -> String? {
        switch conflict.state {
        case .open: nil
        case .decided where isMine(conflict.won): "The service’s rule decided: your change was kept."
        case .decided where isMine(conflict.lost):
            "The service’s rule decided: \(within(conflict.won)) change was kept instead of yours."
        case .decided: "The service’s rule decided: \(within(conflict.won)) change was kept."
        case .restored: "What had lost was brought back."
        }
    }

    private func text(_ side: EditConflict.Side, _ part: String, _ found: FoundConflict) -> String {
        if part == FoundConflict.place { return place(side.geometry, other: found) }
        guard let field = found.layer.field(named: part) else { return FieldText.nothing }
        let text = FieldText(layer: found.layer).text(side.attributes[part], field: field)
        return text.isEmpty ? FieldText.nothing : text
    }

    private func place(_ geometry: Geometry?, other found: FoundConflict) -> String {
        guard let geometry else { return "No place" }
        guard let own = point(geometry) else { return "Its own shape" }
        let standing = found.conflict.won.geometry.flatMap(point)
        guard let standing, standing.distance(to: own).metres >= 0.05 else { return "Where it stands now" }
        let way = standing.distance(to: own)
        return "\(FieldText.distance(way.metres)) \(way.direction) of the other"
    }

    private func point(_ geometry: Geometry) -> Place? {
        guard let point = geometry as? Point, let plane = GeometryEngine.project(point, into: .webMercator) else {
            return nil
        }
        return Place(x: plane.x, y: plane.y)
    }

    /// What stands now, where that is neither what won nor what lost: somebody has changed it again.
    private func later(_ part: String, _ found: FoundConflict, now: FoundFeature?) -> String? {
        guard part != FoundConflict.place, let now else { return nil }
        let value = FeatureSnapshot.Value(now.feature.attributeValue(forKey: part))
        let sides = [found.conflict.lost, found.conflict.won].map { FeatureSnapshot.Value($0.attributes[part]) }
        guard !sides.contains(value) else { return nil }
        let text = FieldText(layer: found.layer).text(part, of: now.feature)
        return "Changed again since: \(text) stands now."
    }
}

extension String {
    var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
