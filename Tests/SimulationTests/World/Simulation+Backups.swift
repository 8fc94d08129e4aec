import FieldworkREST
import FieldworkStore
import Foundation

@testable import Fieldwork

/// The service is put back to an earlier state while its devices go on.
extension Simulation {
    func happenWithBackups() async {
        if backups.isEmpty || chance(300) { await makeBackup() } else { await putBackupBack() }
    }

    private static let backupsKept = 2

    private func servicePlace() throws -> URL {
        try GeoPackageStore.place(of: OrchardService.name, in: server.process.folder)
    }

    private func makeBackup() async {
        let file = folder.appending(path: "backup\(backups.count).gpkg")
        do {
            let generation = try await FileBackup(of: servicePlace(), to: file).make(replaces: true)
            note("backup made at generation \(generation)")
            backups.append((file, saved))
        } catch {
            complain(.workGoesOn, "no backup can be made: \(error)")
        }
    }

    private func putBackupBack() async {
        guard let backup = pick(Array(backups.suffix(Self.backupsKept))) else { return }
        do {
            let owed = try await owed(since: backup.saved)
            try await forgetWhatDevicesGaveUp()
            let outcome = try await BackupRestorer(backup.file, to: servicePlace()).run(at: clock.now)
            note(
                "backup put back: from generation \(outcome.restoration.from) on at \(outcome.restoration.to); \(owed.count) values owed"
            )
            restorations.append(outcome.restoration)
            saved.goBack(to: backup.saved, owed: owed)
        } catch {
            complain(.workGoesOn, "the backup can't be put back: \(error)")
        }
    }

    /// What devices gave since the backup and still have, and the service as well: neither was it overruled, nor has the device
    /// given the feature up. And what they had to give again after an earlier restoration, as far as they still have it.
    private func owed(since backup: SavedEdits) async throws -> [SavedEdits.Fact: Int] {
        var rows: [Int: [UUID: OrchardRow]] = [:]
        for layer in OrchardService.layerIDs { rows[layer] = try await serverRows(layer) }
        var owed: [SavedEdits.Fact: Int] = [:]
        for (fact, device) in saved.reclaimed where !saved.touched.contains(fact.key.id) {
            if try await has(device, fact) { owed[fact] = device }
        }
        for (fact, device) in saved.given.dropFirst(backup.given.count) where fact.key.layer != OrchardService.files {
            guard ![SavedEdits.nothing, SavedEdits.gone].contains(fact.value),
                Self.shows(rows[fact.key.layer]?[fact.key.id], fact)
            else { continue }
            if try await has(device, fact) { owed[fact] = device }
        }
        return owed
    }

    /// Facts without those that the service had taken before a backup was put back and that the device gave up by the answer that
    /// was on its way.
    func stillGiven(_ facts: [SavedEdits.Fact], _ taken: Set<SavedEdits.Key>, _ geodatabase: Geodatabase) async throws
        -> [SavedEdits.Fact]
    {
        var given: [SavedEdits.Fact] = []
        for fact in facts {
            if taken.contains(fact.key), try await !isSo(fact, geodatabase) { continue }
            given.append(fact)
        }
        return given
    }

    /// What the service has taken from a device, though that may not have heard so, and what others then overruled or the device gave up,
    /// because it left the area: it is in the file that the restoration keeps, and nobody gives it again.
    private func forgetWhatDevicesGaveUp() async throws {
        let conflicts = try await conflictsByFeature()
        let files = Set(try await servedFiles().map(\.id))
        for index in devices.indices {
            guard let geodatabase = devices[index].geodatabase else { continue }
            var (givenUp, taken): (Set<SavedEdits.Key>, Set<SavedEdits.Key>) = ([], [])
            for fact in devices[index].pending.sent {
                let isFile = fact.key.layer == OrchardService.files
                let current = isFile ? nil : try await serverRows(fact.key.layer)[fact.key.id]
                let isThere = isFile ? files.contains(fact.key.id) : Self.shows(current, fact)
                guard try await isFile ? isKnownFile(fact.key.id) : isKept(fact, current, conflicts) else { continue }
                if isThere, try await isSo(fact, geodatabase) {
                    taken.insert(fact.key)
                } else {
                    givenUp.insert(fact.key)
                }
            }
            devices[index].pending.forget(givenUp)
            devices[index].pending.takenBeforeRestoration.formUnion(taken)
        }
    }

    /// The deletions among facts that are about what the service never had, as far as it knows: a backup took it back, and it comes again
    /// from who made it. A service that can't know what was deleted brings back rather than loses.
    func deletionsOfUnknown(_ facts: [SavedEdits.Fact]) async throws -> Set<SavedEdits.Fact> {
        guard !restorations.isEmpty else { return [] }
        var unknown: Set<SavedEdits.Fact> = []
        for fact in facts where fact.value == SavedEdits.deleted {
            if try await !isKnown(fact.key) { unknown.insert(fact) }
        }
        return unknown
    }

    /// Whether the service has something, or had it.
    private func isKnown(_ key: SavedEdits.Key) async throws -> Bool {
        if key.layer == OrchardService.files { return try await isKnownFile(key.id) }
        let layer = LayerAddress(service: OrchardService.name, layerID: key.layer)
        if try await serverRows(key.layer)[key.id] != nil { return true }
        return try await !server.store.history(of: .globalID(key.id), in: layer).isEmpty
    }

    private func has(_ device: Int, _ fact: SavedEdits.Fact) async throws -> Bool {
        guard let geodatabase = devices[device].geodatabase else { return false }
        return try await isSo(fact, geodatabase)
    }

    /// What is owed has come again, unless another edit of the feature came, or its device still has it to send.
    func checkReclaimed(_ rows: [Int: [UUID: OrchardRow]]) async throws {
        var open = saved.touched
        for device in devices {
            if let geodatabase = device.geodatabase { open.formUnion(try await waiting(in: geodatabase)) }
        }
        let conflicts = try await conflictsByFeature()
        for fact in saved.reclaimed.keys where !open.contains(fact.key.id) {
            let current = rows[fact.key.layer]?[fact.key.id]
            // What lost to the rule waits in a conflict.
            if try await !isKept(fact, current, conflicts) {
                complain(
                    .savedIsKept,
                    "not given again after the backup: \(fact.key.field) \(fact.value) of \(current?.name ?? fact.key.id.uuidString)"
                )
            }
        }
    }
}
