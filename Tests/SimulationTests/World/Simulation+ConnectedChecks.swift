import FieldworkREST
import Foundation

@testable import Fieldwork

/// What must hold for those who edit the service itself.
extension Simulation {
    /// All that a call returned from is among the edits that wait; of what it died in the midst of all or nothing.
    func checkAfterDeath(ofWalker index: Int, _ geodatabase: ServiceGeodatabase) throws {
        let walker = walkers[index]
        walkers[index].doubt = []
        let contested = Set(walker.doubt.map(\.key.id))
        for fact in walker.pending.untouched where !contested.contains(fact.key.id) {
            if try !isWaiting(fact, of: walker, geodatabase) {
                complain(.deathLosesNothing, "\(walker.name) had saved \(fact), and it is gone after the process died")
            }
        }
        let kept = try walker.doubt.filter { try isWaiting($0, of: walker, geodatabase) }
        if kept.count == walker.doubt.count {
            walkers[index].pending.apply(walker.doubt)
        } else if !kept.isEmpty {
            complain(.deathLosesNothing, "\(walker.name) died in the midst of \(walker.doubt), and has a part of it")
        }
    }

    /// Whether what a walker saved is among the edits that the service does not have.
    private func isWaiting(
        _ fact: SavedEdits.Fact, of walker: Walker, _ geodatabase: ServiceGeodatabase
    ) throws -> Bool {
        guard let local = geodatabase.session?.local else { return false }
        let isEnd = [SavedEdits.deleted, SavedEdits.gone].contains(fact.value)
        let leavesNone = isEnd && (walker.unsent.contains(fact.key.id) || fact.value == SavedEdits.gone)
        if fact.key.layer == OrchardService.files {
            let edit = local.edits().flatMap(\.attachments).first { $0.globalID == fact.key.id }
            guard let edit else { return leavesNone }
            if fact.key.field == SavedEdits.existence { return isEnd == (edit.operation == .delete) }
            return try edit.content.map {
                FileContent.name(of: try Data(contentsOf: local.attachmentFiles.url(of: $0)))
            } == fact.value
        }
        // A new feature may have arrived without an answer, and be edited again as the service shows it.
        let edits = local.edits().filter { $0.key.layerID == fact.key.layer && $0.globalID == fact.key.id }
        if edits.isEmpty { return leavesNone }
        if fact.key.field == SavedEdits.existence { return edits.contains { isEnd == ($0.operation == .delete) } }
        return edits.contains { $0.current.map { OrchardRow($0).value(fact.key.field) } == fact.value }
    }

    /// Nothing waits but what the service refused, and that is still there; else a walker sees what the service has.
    func check(_ walker: Walker, _ rows: [Int: [UUID: OrchardRow]]) async throws {
        guard let geodatabase = walker.geodatabase, let local = geodatabase.session?.local else {
            return complain(.workGoesOn, "\(walker.name) never got connected")
        }
        // Of a file whose tree others have deleted nobody knows whether it had arrived.
        let trees = rows[OrchardService.trees] ?? [:]
        let isUndecided = { (edit: LocalEdit) in
            edit.attachments.contains { $0.attempt != nil } && edit.globalID.map { trees[$0] == nil } ?? false
        }
        for edit in local.edits() where edit.refusal == nil && !isUndecided(edit) {
            if edit.attachments.contains(where: { $0.refusal != nil }) { continue }
            complain(.workGoesOn, "\(walker.name) still has to send \(edit.globalID?.uuidString ?? "?") at rest")
        }
        for fact in walker.pending.untouched where try !isWaiting(fact, of: walker, geodatabase) {
            complain(.savedIsKept, "\(walker.name) had saved \(fact), which the service has not, and it is gone")
        }
        let edited = Set(local.edits().compactMap(\.globalID))
        for layer in OrchardService.layerIDs {
            guard let table = geodatabase.table(withLayerID: layer) else { continue }
            let seen = Set(try await features(of: table).compactMap { id(of: $0) })
            for id in seen.symmetricDifference((rows[layer] ?? [:]).keys) where !edited.contains(id) {
                complain(.replicasAreEqual, "\(walker.name) and the service disagree about \(id.uuidString.prefix(8))")
            }
        }
    }
}
