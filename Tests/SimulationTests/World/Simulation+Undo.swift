import FieldworkGeometry
import FieldworkREST
import Foundation

@testable import Fieldwork

/// Taking back and doing again, as a user does it: several steps in a row, now this way and now that.
extension Simulation {
    func stepBackOrForth(_ index: Int) async {
        guard let geodatabase = devices[index].geodatabase, !devices[index].isBusy else { return }
        do {
            try await asDevice(index) {
                for _ in 0..<number(1...3) where !devices[index].process.isDead {
                    try await step(index, geodatabase, back: chance(650))
                }
            }
        } catch {
            complain(.workGoesOn, "\(devices[index].name) can't undo or redo: \(error)")
        }
    }

    private func step(_ index: Int, _ geodatabase: Geodatabase, back: Bool) async throws {
        guard back ? geodatabase.canUndo : geodatabase.canRedo else { return }
        let (before, filesBefore) = (try await allRows(of: geodatabase), try await files(of: geodatabase))
        let isChanged = back ? try await geodatabase.undo() : try await geodatabase.redo()
        let after = try await allRows(of: geodatabase)
        let filesAfter = try await files(of: geodatabase)
        let found =
            Self.facts(from: before, to: after)
            + Self.facts(from: filesBefore, to: filesAfter, trees: after[OrchardService.trees] ?? [:])
        // Sets have no order, and a story is told alike each time.
        let facts = found.sorted {
            ($0.value, $0.key.field, $0.key.id.uuidString) < ($1.value, $1.key.field, $1.key.id.uuidString)
        }
        note("\(devices[index].name) \(back ? "undoes" : "redoes") \(Self.text(of: facts))")
        if !isChanged, before != after || filesBefore != filesAfter {
            complain(.workGoesOn, "\(devices[index].name) says that nothing was undone, and \(facts) was")
        }
        saved.revive(facts)
        settle(facts, index)
    }

    private func allRows(of geodatabase: Geodatabase) async throws -> [Int: [UUID: OrchardRow]] {
        var all: [Int: [UUID: OrchardRow]] = [:]
        for layer in OrchardService.layerIDs { all[layer] = try await rows(of: geodatabase, layer) }
        return all
    }

    private static func text(of facts: [SavedEdits.Fact]) -> String {
        facts.isEmpty ? "nothing" : facts.map { "\($0.key.field)=\($0.value)" }.joined(separator: ", ")
    }

    /// What became of the rows, as facts: a step back says nothing of its own.
    static func facts(
        from before: [Int: [UUID: OrchardRow]], to after: [Int: [UUID: OrchardRow]]
    ) -> [SavedEdits.Fact] {
        var facts: [SavedEdits.Fact] = []
        for layer in OrchardService.layerIDs {
            let (old, new) = (before[layer] ?? [:], after[layer] ?? [:])
            for id in Set(old.keys).union(new.keys) where old[id] != new[id] {
                guard let row = new[id] else {
                    facts.append(SavedEdits.Fact(layer, id, SavedEdits.existence, SavedEdits.deleted))
                    continue
                }
                if old[id] == nil { facts.append(SavedEdits.Fact(layer, id, SavedEdits.existence, SavedEdits.added)) }
                for field in SavedEdits.fields where old[id]?.value(field) != row.value(field) {
                    facts.append(SavedEdits.Fact(layer, id, field, row.value(field) ?? SavedEdits.nothing))
                }
            }
        }
        return facts
    }
}
