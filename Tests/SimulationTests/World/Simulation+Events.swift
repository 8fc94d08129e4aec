import FieldworkREST
import FieldworkStore
import Foundation

@testable import Fieldwork

/// What happens next.
extension Simulation {
    func happen() async {
        if plan.hasBackups, chance(70) { return await happenWithBackups() }
        let who = number(0...devices.count + walkers.count - 1)
        if who >= devices.count { return await happenConnected(who - devices.count) }
        let index = who
        guard devices[index].geodatabase != nil || devices[index].isBusy else {
            return await takeOffline(index)
        }
        switch number(0...99) {
        case 0..<38: await edit(index)
        case 38..<45: await transact(index)
        case 45..<50: await stepBackOrForth(index)
        case 50..<53: await editOutside(index)
        case 53..<75: await synchronise(index)
        case 75..<82: await editOnService(nil)
        case 82..<85: await attachOnService()
        case 85..<87: await editAllOrNothing()
        case 87..<90: await dieIdle(index)
        case 90..<92: await restartServer(from: nil)
        case 92..<94: await compact()
        case 94..<95 where !plan.hasBackups: await retireReplica(index)
        case 95..<97: await restoreConflict()
        default: await deliverLate()
        }
    }

    /// What happens while a request is on its way, or its answer.
    func interlude() async {
        guard depth < 2 else { return }
        depth += 1
        for _ in 0..<number(1...3) { await happen() }
        depth -= 1
    }

    // MARK: The service's own

    /// Requests that were given up arrive after all.
    func deliverLate() async {
        guard !late.isEmpty else { return }
        let order = late.remove(at: number(0...late.count - 1))
        note("late request arrives: \(order.summary ?? order.address)")
        _ = await serve(order)
    }

    /// Shortens the log; who was silent for long no longer holds it back.
    func compact() async {
        let silence = TimeInterval(number(1...400_000))
        let age = TimeInterval(number(1...100_000))
        do {
            let count = try await server.store.compactLog(
                of: OrchardService.name, silentSince: clock.now - silence, olderThan: clock.now - age)
            note("log compacted: \(count) entries")
        } catch {
            complain(.workGoesOn, "the log can't be compacted: \(error)")
        }
    }

    func restoreConflict() async {
        do {
            let all = try await server.store.conflicts(
                in: [.open, .decided], of: OrchardService.name, limit: 1_000)
            guard let conflict = pick(all.sorted { $0.id < $1.id }) else { return }
            let result = try await server.store.restoreConflict(
                conflict.id, of: OrchardService.name, editor: "office", moment: clock.now)
            note("conflict \(conflict.id) restored: \(result.error.map(String.init(describing:)) ?? "done")")
        } catch {
            complain(.workGoesOn, "a conflict can't be restored: \(error)")
        }
    }

    /// Ends the server's process, at once or as one that was killed, and begins a new one.
    func restartServer(from remains: URL?) async {
        let old = server
        let process: SimulatedProcess
        if let remains {
            process = SimulatedProcess(folder: remains)
        } else if chance(500) {
            old.process.kill()
            note("server killed")
            process = SimulatedProcess(folder: old.process.remains ?? old.process.folder)
        } else {
            note("server restarted")
            await old.end()
            process = SimulatedProcess(folder: old.process.folder)
        }
        if old.process.isDead {
            await old.end()
            old.process.bury()
        }
        formerWrites += old.process.watch.writes
        // A clock that is set anew may go back.
        let skew = TimeInterval(number(-90_000...90_000))
        do {
            server = try await SimulatedServer(
                process, database: database, now: clock.skewed(by: skew), ids: ids)
            await server.settle()
            let generation = try await server.store.generation(of: OrchardService.name)
            if generation < toldGeneration {
                complain(
                    .generationsGrow,
                    "the service was at generation \(toldGeneration), and is at \(generation) after a restart")
            }
            let findings = try await server.check()
            if !findings.isEmpty {
                complain(
                    .filesAreWhole, "the service is damaged: \(findings.joined(separator: ", "))")
            }
        } catch {
            complain(.workGoesOn, "the service can't be opened again: \(error)")
        }
    }

    /// The server's folder as it is now, for a server that acknowledges too early.
    func copyOfServer() throws -> URL {
        counter += 1
        let copy = folder.appending(path: "server.\(100_000 + counter)", directoryHint: .isDirectory)
        try FileManager.default.copyItem(at: server.process.folder, to: copy)
        return copy
    }

    func discard(_ copy: URL) throws { try FileManager.default.removeItem(at: copy) }

    // MARK: Rest

    /// The network heals, everybody hands in, everybody fetches.
    func comeToRest() async {
        isQuiet = true
        note("-- rest")
        while !late.isEmpty { await deliverLate() }
        // Hand in twice: an upload that was under way is repeated first. Then fetch.
        for _ in 0..<4 {
            for index in devices.indices where problems.isEmpty {
                // Who started over in the round before.
                if devices[index].geodatabase == nil { await takeOffline(index) }
                await synchronise(index)
            }
            for index in walkers.indices where problems.isEmpty {
                if walkers[index].geodatabase == nil { await connect(index) }
                await send(index)
            }
        }
    }
}
