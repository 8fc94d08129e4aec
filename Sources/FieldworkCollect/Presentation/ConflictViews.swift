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

    private func side(_ side: EditConflict.Side, value: String) -> Values {
        [
            "owner": owner(side), "person": person(side), "value": value,
            "when": FieldText.date(side.date, now: Date()),
        ]
    }

    // MARK: Rows

    func row(_ found: FoundConflict, title: String?) -> Values {
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
        return [
            "address": found.address, "title": title ?? found.layer.noun.capitalized,
            "detail": "\(what) · \(state) · \(when)",
        ]
    }

    func label(_ part: String, _ found: FoundConflict) -> String {
        if part == FoundConflict.place { return "Place" }
        return found.layer.field(named: part).map(AttributeForm.label) ?? part
    }

    // MARK: One of them

    /// - Parameters:
    ///   - now: the feature as it is; nil where it isn't there.
    ///   - chosen: what was chosen so far, by part.
    func values(
        _ found: FoundConflict, now: FoundFeature?, chosen: [String: String], missing: String?
    ) -> Values {
        let conflict = found.conflict
        let mineFirst = isMine(conflict.won)
        let (first, second) = mineFirst ? (conflict.won, conflict.lost) : (conflict.lost, conflict.won)
        let (firstKey, secondKey) = mineFirst ? ("won", "lost") : ("lost", "won")
        func choice(_ side: EditConflict.Side, _ key: String, _ part: String) -> Values {
            var values = self.side(side, value: text(side, part, found))
            values["key"] = key
            values["current"] = chosen[part] == key
            values["symbol"] =
                found.layer.symbology.swatch(field: part, value: side.attributes[part]).map(\.values)
                .orFalse
            return values
        }
        let parts = found.parts.map { part -> Values in
            [
                "name": "choice.\(part)", "part": part, "label": label(part, found),
                "choices": [choice(first, firstKey, part), choice(second, secondKey, part)],
                "later": later(part, found, now: now).orFalse, "before": before(part, found).orFalse,
                "message": (missing == part ? "Choose one." : nil).orFalse,
            ]
        }
        return [
            "firstSide": side(first, value: ""), "secondSide": side(second, value: ""), "parts": parts,
            "hasParts": !parts.isEmpty, "isOpen": conflict.state == .open, "firstKey": firstKey,
            "secondKey": secondKey, "intro": intro(found),
            "firstAll": keepAll(first),
            "secondAll": keepAll(second),
            "wholes": (parts.isEmpty ? wholes(found, first, firstKey, second, secondKey) : nil).orFalse,
            "bringBack": bringBack(found), "settled": settled(conflict).orFalse, "merged": merged(found).orFalse,
        ]
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
    private func merged(_ found: FoundConflict) -> Values? {
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
        return all.isEmpty ? nil : ["names": all.joined(separator: ", ")]
    }

    /// How far apart the two places are, for who doesn't see them.
    func says(_ found: FoundConflict, title: String) -> String {
        let (lost, won) = (found.conflict.lost, found.conflict.won)
        guard lost.hasGeometry, let one = lost.geometry.flatMap(point), let other = won.geometry.flatMap(point) else {
            return "\(title) among its neighbours"
        }
        return "Both places of \(title), \(apart(one, other)) apart"
    }

    private func apart(_ one: Place, _ other: Place) -> String { FieldText.distance(one.distance(to: other).metres) }

    /// The two buttons of a conflict that is settled as a whole: about a delete, or about a photo or file.
    private func wholes(
        _ found: FoundConflict, _ first: EditConflict.Side, _ firstKey: String, _ second: EditConflict.Side,
        _ secondKey: String
    ) -> Values {
        let conflict = found.conflict
        let (isLostDeleted, isDelete) = (conflict.lost.isDeleted, conflict.lost.isDeleted || conflict.won.isDeleted)
        let thing = conflict.won.attachment == nil ? found.layer.noun : "photo or file"
        guard isDelete else {
            let sides = [first, second].map { ["label": "\(owner($0)) file", "value": file($0)] as Values }
            return [
                "keep": "Keep \(within(first))", "keepKey": firstKey, "isDelete": false,
                "other": "Keep \(within(second))", "otherKey": secondKey, "changes": sides,
            ]
        }
        let kept = isLostDeleted ? conflict.won : conflict.lost
        let fields = kept.fieldNames.map { ["label": label($0, found), "value": text(kept, $0, found)] as Values }
        let files = kept.attachment == nil ? [] : [["label": "File", "value": file(kept)] as Values]
        return [
            "keep": "Keep the \(thing) with the change", "keepKey": isLostDeleted ? "won" : "lost", "isDelete": true,
            "other": "Delete the \(thing)", "otherKey": isLostDeleted ? "lost" : "won", "changes": fields + files,
        ]
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
        let value = StoredValue(now.feature.attributeValue(forKey: part))
        let sides = [found.conflict.lost, found.conflict.won].map { StoredValue($0.attributes[part]) }
        guard !sides.contains(value) else { return nil }
        let text = FieldText(layer: found.layer).text(part, of: now.feature)
        return "Changed again since: \(text) stands now."
    }
}

extension String {
    var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
