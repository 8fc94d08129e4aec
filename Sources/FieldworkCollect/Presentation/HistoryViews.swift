import Fieldwork
import Foundation

/// What templates read of a feature's history: what this device did and what the service remembers, as one list.
struct HistoryViews {
    let found: FoundFeature
    /// The replicas of this device.
    let own: Set<UUID>
    private let now: FeatureSnapshot
    private var layer: MapLayer { found.layer }

    init(found: FoundFeature, own: Set<UUID>) {
        self.found = found
        self.own = own
        now = FeatureSnapshot(found.feature)
    }

    /// The newest first.
    /// - Parameter entries: the edits of the feature that this device keeps, the newest first.
    func rows(_ entries: [EditEntry], _ past: [PastChange]) -> [HistoryPanel.Row] {
        var left = entries
        var rows: [(date: Date, row: HistoryPanel.Row)] = []
        for change in past {
            let index = left.firstIndex { isSame($0, change) }
            let entry = index.map { left.remove(at: $0) }
            guard let words = entry.map(words) ?? words(change) else { continue }
            rows.append((change.date, row(words, change, entry: entry)))
        }
        rows += left.map { ($0.date, row($0)) }
        // Equal moments stay as they are.
        return rows.enumerated().sorted { ($1.element.date, $0.offset) < ($0.element.date, $1.offset) }
            .map(\.element.row)
    }

    /// Whether an edit of this device is what the history remembers: it changed the same values in the same way.
    private func isSame(_ entry: EditEntry, _ change: PastChange) -> Bool {
        if change.isDeletion { return entry.kind == .delete }
        guard let before = entry.before, let after = entry.after else { return false }
        let mine = layer.changes(from: before, to: after)
        let theirs = layer.changes(from: change.before, to: change.after)
        if mine.isEmpty, theirs.isEmpty {
            return entry.kind == .move && layer.isMoved(from: change.before, to: change.after)
        }
        return !mine.isEmpty && mine.map(\.field.name) == theirs.map(\.field.name)
            && mine.map(\.value) == theirs.map(\.value)
            && mine.allSatisfy { after.attributes[$0.field.name] == change.after.attributes[$0.field.name] }
    }

    // MARK: Rows

    private func row(_ entry: EditEntry) -> HistoryPanel.Row {
        let place =
            switch entry.progress {
            case .onDevice: "on this device, not sent"
            case .onServer: found.layer.isOfPlainFile ? "from this device" : "on the server, from this device"
            case .refused: "refused by the server"
            }
        return row(
            words(entry), "\(when(entry.date)) · \(place)", name: entry.id.uuidString.lowercased(),
            canRestore: canRestore(entry.before, entry.after, isMoveToo: false))
    }

    private func row(_ words: String, _ change: PastChange, entry: EditEntry?) -> HistoryPanel.Row {
        var place = who(change)
        switch entry?.progress {
        case .onDevice: place = "on this device, not sent"
        case .onServer: place = found.layer.isOfPlainFile ? "from this device" : "on the server, from this device"
        case .refused: place = "refused by the server"
        case nil: break
        }
        return row(
            words, [when(change.date), place].filter { !$0.isEmpty }.joined(separator: " · "),
            name: String(change.generation),
            canRestore: !change.isDeletion && canRestore(change.before, change.after, isMoveToo: true))
    }

    private func row(_ what: String, _ when: String, name: String, canRestore: Bool) -> HistoryPanel.Row {
        HistoryPanel.Row(
            what: what, when: when,
            restore: canRestore ? "\(found.reference.address)/history/\(name)/restore" : nil,
            session: UUID().uuidString)
    }

    private func when(_ date: Date) -> String { FieldText.date(date, now: Date()) }

    private func who(_ change: PastChange) -> String {
        if let editor = change.editor, !editor.isEmpty { return editor }
        guard let replica = change.replicaID else { return "" }
        return own.contains(replica) ? "from this device" : "from another device"
    }

    // MARK: Words

    private func words(_ entry: EditEntry) -> String {
        entry.undoes == nil ? entry.detail : entry.detail.replacingOccurrences(of: "Undo: ", with: "Taken back: ")
    }

    /// nil for a change of nothing that a user sees.
    private func words(_ change: PastChange) -> String? {
        if change.isDeletion { return "Deleted" }
        let text = FieldText(layer: layer)
        var words = layer.changes(from: change.before, to: change.after).map { field, value in
            let new = change.after.attributes[field.name] ?? .null
            let from = text.text(value.value(for: field.type), field: field)
            let to = text.text(new.value(for: field.type), field: field)
            return "\(AttributeForm.label(field)) from \(from.prefix(40)) to \(to.prefix(40))"
        }
        if layer.isMoved(from: change.before, to: change.after) { words.append(movement(change)) }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    private func movement(_ change: PastChange) -> String {
        guard let from = (change.before.shape as? Point).flatMap({ Place(x: $0.x, y: $0.y) }),
            let to = (change.after.shape as? Point).flatMap({ Place(x: $0.x, y: $0.y) })
        else { return "Shape changed" }
        let way = from.distance(to: to)
        return "Moved \(FieldText.distance(way.metres)) \(way.direction)"
    }

    // MARK: What comes back

    private func canRestore(_ before: FeatureSnapshot?, _ after: FeatureSnapshot?, isMoveToo: Bool) -> Bool {
        guard layer.table.canUpdate(found.feature), let before, let after else { return false }
        return !restorable(before, after).isEmpty || isMoveToo && isPlaceRestorable(before, after)
    }

    /// The values from before a change that aren't there now.
    func restorable(_ before: FeatureSnapshot, _ after: FeatureSnapshot) -> [(
        field: Field, value: FeatureSnapshot.Value
    )] {
        layer.changes(from: before, to: after).filter { $0.value != now.attributes[$0.field.name] ?? .null }
    }

    /// Whether the place from before a change is another one than now.
    func isPlaceRestorable(_ before: FeatureSnapshot, _ after: FeatureSnapshot) -> Bool {
        before.geometry != nil && layer.table.canEditGeometry(of: found.feature)
            && layer.isMoved(from: before, to: after) && layer.isMoved(from: before, to: now)
    }
}
