import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

@testable import Fieldwork

/// What must hold, whatever happened.
extension Simulation {
    // MARK: Looking

    func serverRows(_ layer: Int) async throws -> [UUID: OrchardRow] {
        let records = try await server.store.records(
            FeatureQuery(), in: LayerAddress(service: OrchardService.name, layerID: layer))
        return rows(records, "the service")
    }

    func rows(of geodatabase: Geodatabase, _ layer: Int) async throws -> [UUID: OrchardRow] {
        let session = try geodatabase.openSession()
        return rows(try await session.file.records(FeatureQuery(), in: layer), geodatabase.fileURL.path)
    }

    private func rows(_ records: [FeatureRecord], _ place: String) -> [UUID: OrchardRow] {
        var rows: [UUID: OrchardRow] = [:]
        var names: Set<String> = []
        for record in records {
            let row = OrchardRow(record)
            guard let id = record.globalID else {
                complain(.filesAreWhole, "a feature of \(place) has no global id")
                continue
            }
            if rows.updateValue(row, forKey: id) != nil || !names.insert(row.name).inserted {
                complain(.onlyOnce, "\(row.name) is twice in \(place)")
            }
        }
        return rows
    }

    /// Whether a device has what a fact says.
    func isSo(_ fact: SavedEdits.Fact, _ geodatabase: Geodatabase) async throws -> Bool {
        if fact.key.layer == OrchardService.files { return try await isSoOfFile(fact, geodatabase) }
        let session = try geodatabase.openSession()
        let record = try await session.file.records(FeatureQuery(globalIDs: [fact.key.id]), in: fact.key.layer).first
        switch (fact.key.field, fact.value) {
        case (SavedEdits.existence, SavedEdits.deleted): return record == nil
        case (SavedEdits.existence, _): return record != nil
        default:
            return record.map { (OrchardRow($0).value(fact.key.field) ?? SavedEdits.nothing) == fact.value } ?? false
        }
    }

    // MARK: After a death

    /// All that a call returned from is there; of what it died in the midst of all or nothing.
    func checkAfterDeath(_ index: Int, _ geodatabase: Geodatabase) async throws {
        let doubt = devices[index].doubt
        devices[index].doubt = []
        let contested = Set(doubt.map(\.key.id))
        for fact in devices[index].pending.untouched where !contested.contains(fact.key.id) {
            if try await !isSo(fact, geodatabase) {
                complain(
                    .deathLosesNothing,
                    "\(devices[index].name) had saved \(fact), and it is gone after the process died")
            }
        }
        var kept = 0
        for fact in doubt where try await isSo(fact, geodatabase) { kept += 1 }
        if kept == doubt.count {
            devices[index].pending.apply(doubt)
        } else if kept > 0 {
            complain(.deathLosesNothing, "\(devices[index].name) died in the midst of \(doubt), and has a part of it")
        }
        let findings = try await damage(geodatabase)
        if !findings.isEmpty {
            complain(
                .filesAreWhole, "\(devices[index].name) is damaged: \(findings.joined(separator: ", "))")
        }
    }

    /// What is wrong with a device's file. That the tree of a visit lies outside of the area is not.
    private func damage(_ geodatabase: Geodatabase) async throws -> [String] {
        try await geodatabase.openSession().file.check().filter { !$0.contains("is part of no feature") }
    }

    // MARK: At rest

    func checkAll() async throws {
        let trees = try await serverRows(OrchardService.trees)
        let visits = try await serverRows(OrchardService.visits)
        note("-- at rest: \(trees.count) trees, \(visits.count) visits, \(saved.promised.count) values")
        let files = try await servedFiles()
        for device in devices { try await check(device, trees, visits, files) }
        for walker in walkers {
            try await check(walker, [OrchardService.trees: trees, OrchardService.visits: visits])
        }
        try await checkPromises([OrchardService.trees: trees, OrchardService.visits: visits])
        try await checkReclaimed([OrchardService.trees: trees, OrchardService.visits: visits])
        try await checkFiles(files, trees)
        let findings = try await server.check()
        if !findings.isEmpty { complain(.filesAreWhole, "the service is damaged: \(findings.joined(separator: ", "))") }
    }

    /// The device has what the service has of its area, and nothing else.
    private func check(
        _ device: Device, _ trees: [UUID: OrchardRow], _ visits: [UUID: OrchardRow], _ files: [SavedEdits.File]
    ) async throws {
        guard let geodatabase = device.geodatabase else {
            return complain(.workGoesOn, "\(device.name) never got offline")
        }
        let session = try geodatabase.openSession()
        let ownTrees = trees.filter { device.plan.contains($0.value) }
        let ownVisits = visits.filter {
            device.plan.takesAllVisits || $0.value.tree.map { ownTrees[$0] != nil } ?? false
        }
        // One whose replica is gone is here only for what was refused.
        for (layer, expected) in [(OrchardService.trees, ownTrees), (OrchardService.visits, ownVisits)]
        where !device.isRetired {
            // A tree that others deleted stays with a file that was refused for it.
            let refused = Set((session.replica?.refused[layer] ?? [:]).keys).union(treesOfRefusedFiles(session))
            let waiting = try await session.netChanges(of: layer).filter {
                !($0.globalID.map(refused.contains) ?? false)
            }
            if !waiting.isEmpty {
                complain(
                    .workGoesOn, "\(device.name) still has to send \(waiting.count) features at rest")
            }
            let found = try await rows(of: geodatabase, layer)
            for id in Set(found.keys).union(expected.keys) where !refused.contains(id) && found[id] != expected[id] {
                if layer == OrchardService.trees, let row = found[id], !device.plan.contains(row) {
                    complain(.insideArea, "\(device.name) has \(row), which is outside")
                }
                let (mine, served) = (found[id]?.description ?? "nothing", expected[id]?.description ?? "nothing")
                complain(
                    .replicasAreEqual,
                    "\(device.name) has \(mine), the service has \(served) \(id.uuidString.prefix(8))")
            }
        }
        if !device.isRetired {
            try await checkFiles(of: device, geodatabase, files, trees: Set(ownTrees.keys))
        }
        // What was refused is still with who made it.
        for fact in device.pending.untouched where try await !isSo(fact, geodatabase) {
            complain(.savedIsKept, "\(device.name) had saved \(fact), which the service has not, and it is gone")
        }
        let findings = try await damage(geodatabase)
        if !findings.isEmpty {
            complain(
                .filesAreWhole, "\(device.name) is damaged: \(findings.joined(separator: ", "))")
        }
    }

    /// Every acknowledged value is the present one, or a former one, or in a conflict.
    private func checkPromises(_ rows: [Int: [UUID: OrchardRow]]) async throws {
        let conflicts = try await conflictsByFeature()
        for fact in saved.promised {
            let current = rows[fact.key.layer]?[fact.key.id]
            if fact.value == SavedEdits.deleted, saved.revived.contains(fact.key.id) { continue }
            if try await !isKept(fact, current, conflicts) {
                complain(
                    .savedIsKept, "lost: \(fact.key.field) \(fact.value) of \(current?.name ?? fact.key.id.uuidString)")
            }
        }
    }

    func conflictsByFeature() async throws -> [UUID: [MergeConflict]] {
        let conflicts = try await server.store.conflicts(
            in: Set(MergeConflict.State.allCases), of: OrchardService.name, limit: 10_000)
        return Dictionary(grouping: conflicts, by: \.globalID)
    }

    /// Whether the service has a value of a feature as the present one, or as a former one, or in a conflict.
    /// - Parameter current: the feature as it is.
    func isKept(
        _ fact: SavedEdits.Fact, _ current: OrchardRow?, _ conflicts: [UUID: [MergeConflict]]
    ) async throws -> Bool {
        if Self.shows(current, fact) { return true }
        if (conflicts[fact.key.id] ?? []).contains(where: { Self.keeps($0, fact) }) { return true }
        let history = try await server.store.history(
            of: .globalID(fact.key.id), in: LayerAddress(service: OrchardService.name, layerID: fact.key.layer))
        return history.contains { version in
            fact.value == SavedEdits.deleted
                ? version.endedBy == .delete : Self.shows(OrchardRow(version.record), fact)
        }
    }

    static func shows(_ row: OrchardRow?, _ fact: SavedEdits.Fact) -> Bool {
        switch (fact.key.field, fact.value) {
        case (SavedEdits.existence, SavedEdits.deleted): row == nil
        case (SavedEdits.existence, _): row != nil
        default: row?.value(fact.key.field) == fact.value
        }
    }

    static func keeps(_ conflict: MergeConflict, _ fact: SavedEdits.Fact) -> Bool {
        [conflict.lost, conflict.won].contains { side in
            switch (fact.key.field, fact.value) {
            case (SavedEdits.existence, SavedEdits.deleted): side.attributes == nil
            case (SavedEdits.existence, _): side.attributes != nil
            case (SavedEdits.place, _): (side.geometry?.geometry as? Point).map(OrchardRow.text) == fact.value
            default: side.attributes?[fact.key.field]?.textValue == fact.value
            }
        }
    }
}
