import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

@testable import Fieldwork

/// Taking offline, synchronising, dying and coming back.
extension Simulation {
    private func environment(_ index: Int) -> ServiceEnvironment {
        let network = SimulatedNetwork(
            simulation: self, name: devices[index].name, process: devices[index].process,
            takesDocument: devices[index].plan.takesDocument)
        var environment = ServiceEnvironment(
            directory: devices[index].process.folder, client: network, downloads: network)
        environment.makeID = { [ids] in ids.next() }
        return environment
    }

    private func task(_ index: Int) -> GeodatabaseSyncTask {
        GeodatabaseSyncTask(url: URL(string: Self.address), environment: environment(index))
    }

    /// Lets the process of a device do something, in whose midst it may die; then the next process takes over.
    func asDevice(_ index: Int, _ body: () async throws -> Void) async throws {
        let process = devices[index].process
        let isOuter = !devices[index].isBusy
        devices[index].isBusy = true
        if chance(plan.crashesPerMille) { process.killLater(after: number(0...25)) }
        let outcome: Result<Void, any Error>
        do {
            try await DeviceClock.$current.withValue(DeviceClock(read: clock.skewed(by: devices[index].plan.clockSkew)))
            {
                try await DeviceIDs.$current.withValue(DeviceIDs { [ids] in ids.next() }) { try await body() }
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        if isOuter {
            process.spare()
            if process.isDead { await reopen(index) }
            devices[index].isBusy = false
        }
        // Who is dead tells nobody what went wrong.
        if !process.isDead { try outcome.get() }
    }

    // MARK: Offline

    func takeOffline(_ index: Int) async {
        guard !devices[index].isBusy else { return }
        note("\(devices[index].name) takes offline: \(devices[index].plan)")
        do {
            try await asDevice(index) {
                let job = try generateJob(index)
                job.start()
                let geodatabase = try await job.output
                try await geodatabase.load()
                devices[index].geodatabase = geodatabase
            }
        } catch is Fieldwork.ServiceError where !isQuiet {
            note("  \(devices[index].name) is not offline yet")
        } catch {
            complain(.workGoesOn, "\(devices[index].name) can't take the area offline: \(error)")
        }
    }

    /// The job that an earlier process began, or a new one.
    private func generateJob(_ index: Int) throws -> GenerateGeodatabaseJob {
        let file = devices[index].fileURL
        if let note = try? Data(contentsOf: URL(filePath: "\(file.path).job")),
            var state = try JSONParser.parse(note).objectValue
        {
            // The folder has another name for every process.
            state["file"] = .string(file.path)
            return try GenerateGeodatabaseJob(snapshot: .object(state), environment: environment(index))
        }
        let plan = devices[index].plan
        let parameters = GenerateGeodatabaseParameters()
        parameters.extent = plan.area
        parameters.syncModel = plan.countsByLayer ? .layer : .geodatabase
        let trees = GenerateLayerOption(
            layerID: OrchardService.trees, whereClause: plan.onlyStanding ? "Felled = 0" : nil)
        let visits = GenerateLayerOption(layerID: OrchardService.visits)
        visits.queryOption = plan.takesAllVisits ? .all : .none
        visits.usesGeometry = false
        parameters.addLayerOptions([trees, visits])
        parameters.returnsAttachments = plan.files == .bidirectional
        parameters.attachmentSyncDirection = plan.files
        return task(index).makeGenerateGeodatabaseJob(parameters: parameters, downloadFileURL: file)
    }

    // MARK: Synchronising

    func synchronise(_ index: Int) async {
        guard !devices[index].isBusy, let geodatabase = devices[index].geodatabase else { return }
        let direction: SyncGeodatabaseParameters.SyncDirection =
            isQuiet
            ? .bidirectional
            : pick([.bidirectional, .bidirectional, .bidirectional, .upload, .download])
                ?? .bidirectional
        note("\(devices[index].name) syncs \(direction)")
        do {
            try await asDevice(index) {
                devices[index].pending.attempt()
                let restored = restorations.count
                let task = task(index)
                let parameters = try await task.makeDefaultSyncGeodatabaseParameters(
                    geodatabase: geodatabase, syncDirection: direction)
                let job = task.makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase)
                job.start()
                let refusals = try await job.output
                guard !devices[index].process.isDead else { return }
                for refusal in refusals.flatMap(\.editResults) {
                    note("  refused: \(refusal.error.map(String.init(describing:)) ?? "?")")
                }
                try await synchronised(index, geodatabase, isPutBackMeanwhile: restorations.count > restored)
            }
        } catch is Fieldwork.ServiceError where !isQuiet {
            note("  \(devices[index].name): no answer")
        } catch {
            complain(.workGoesOn, "\(devices[index].name) can't sync: \(error)")
        }
        await startOver(index)
    }

    /// What the device no longer has to send, the service has promised to keep.
    /// - Parameter isPutBackMeanwhile: whether the service may have taken it before a backup was put back: then it owes it still.
    private func synchronised(
        _ index: Int, _ geodatabase: Geodatabase, isPutBackMeanwhile: Bool
    ) async throws {
        let waiting = try await waiting(in: geodatabase)
        let taken = devices[index].pending.takenBeforeRestoration
        let facts = try await stillGiven(devices[index].pending.handOver(except: waiting), taken, geodatabase)
        if isPutBackMeanwhile {
            saved.reclaim(facts, of: index)
        } else {
            saved.promise(facts, of: index, except: try await deletionsOfUnknown(facts))
        }
        note("  \(devices[index].name) has handed in \(facts.count) values, \(waiting.count) features wait")
        let generation = geodatabase.serverGeneration
        // A device goes back with its service, as far as the state that was put back and no further.
        let former = devices[index].generation
        let wentBack = restorations.contains { $0.hasLost(former) && generation >= $0.from }
        if generation < former, !wentBack {
            complain(
                .generationsGrow,
                "\(devices[index].name) was at generation \(former), and is at \(generation)")
        }
        devices[index].generation = generation
    }

    /// The features and files whose edits the service has not taken.
    func waiting(in geodatabase: Geodatabase) async throws -> Set<UUID> {
        let session = try geodatabase.openSession()
        var waiting = (session.replica?.refused ?? [:]).values.reduce(into: Set<UUID>()) { $0.formUnion($1.keys) }
        for layer in OrchardService.layerIDs {
            waiting.formUnion(try await session.netChanges(of: layer).compactMap(\.globalID))
            waiting.formUnion(try await session.netAttachmentChanges(of: layer).compactMap(\.globalID))
            waiting.formUnion((session.replica?.refusedAttachments[layer] ?? [:]).keys)
        }
        return waiting
    }

    // MARK: Dying

    func dieIdle(_ index: Int) async {
        guard !devices[index].isBusy else { return }
        note("\(devices[index].name) is killed")
        devices[index].process.kill()
        await reopen(index)
    }

    /// The next process opens what the dead one has left.
    func reopen(_ index: Int) async {
        guard let remains = devices[index].process.remains else { return }
        await shut(devices[index])
        devices[index].process.bury()
        devices[index].process = SimulatedProcess(folder: remains)
        devices[index].geodatabase = nil
        note("  \(devices[index].name) died and is back")
        let file = devices[index].fileURL
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        do {
            let geodatabase = Geodatabase(fileURL: file)
            try await geodatabase.load()
            devices[index].geodatabase = geodatabase
            try await checkAfterDeath(index, geodatabase)
        } catch {
            complain(.workGoesOn, "\(devices[index].name) can't open its file after it died: \(error)")
        }
    }

    func shut(_ device: Device) async {
        if let geodatabase = device.geodatabase { await close(geodatabase) }
        CrashingDisk.forget(device.process.watch)
    }

    /// Returns when nothing of the file is open any more.
    func close(_ geodatabase: Geodatabase) async {
        let session = try? geodatabase.openSession()
        geodatabase.close()
        await session?.file.close()
    }
}
