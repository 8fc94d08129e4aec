import FieldworkREST
import Foundation

@testable import Fieldwork

/// People who edit the service itself, connected, over the same network as the crews: what they save is on their device
/// until the service has it.
extension Simulation {
    struct Walker {
        let number: Int
        let clockSkew: TimeInterval
        var process: SimulatedProcess
        /// nil before the service has been loaded.
        var geodatabase: ServiceGeodatabase?
        var isSending = false
        var pending = SavedEdits.Pending()
        /// What was made here and is not known to have arrived: deleted, it may leave no edit.
        var unsent: Set<UUID> = []
        /// What an edit was about in whose midst the process died.
        var doubt: [SavedEdits.Fact] = []

        var name: String { "walker\(number)" }
    }

    func beginWalkers() throws {
        for number in 0..<plan.walkerCount {
            let place = folder.appending(path: "walker\(number).1", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            let skew = TimeInterval(self.number(-200_000...200_000))
            walkers.append(Walker(number: number, clockSkew: skew, process: SimulatedProcess(folder: place)))
        }
    }

    func happenConnected(_ index: Int) async {
        guard walkers[index].geodatabase != nil else { return await connect(index) }
        switch number(0...99) {
        case 0..<60: await editConnected(index)
        case 60..<92: await send(index)
        default: await killWalker(index)
        }
    }

    // MARK: One process after the other

    func connect(_ index: Int) async {
        guard !walkers[index].process.isDead, let url = URL(string: Self.address) else { return }
        note("\(walkers[index].name) loads the service")
        let process = walkers[index].process
        let network = SimulatedNetwork(
            simulation: self, name: walkers[index].name, process: process, takesDocument: false)
        let geodatabase = ServiceGeodatabase(
            url: url,
            environment: ServiceEnvironment(directory: process.folder, client: network, downloads: network))
        do {
            try await geodatabase.load()
            walkers[index].geodatabase = geodatabase
            try checkAfterDeath(ofWalker: index, geodatabase)
        } catch {
            complain(.workGoesOn, "\(walkers[index].name) can't load the service: \(error)")
        }
    }

    /// Lets the process of a walker do something, in whose midst it may die; then the next process takes over.
    func asWalker(_ index: Int, isOuter: Bool, _ body: () async throws -> Void) async throws {
        let process = walkers[index].process
        if isOuter, chance(plan.crashesPerMille) { process.killLater(after: number(0...25)) }
        let outcome: Result<Void, any Error>
        do {
            try await DeviceClock.$current.withValue(DeviceClock(read: clock.skewed(by: walkers[index].clockSkew))) {
                try await DeviceIDs.$current.withValue(DeviceIDs { [ids] in ids.next() }) { try await body() }
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        if isOuter {
            process.spare()
            if process.isDead { await reopenWalker(index) }
        }
        if !process.isDead { try outcome.get() }
    }

    private func killWalker(_ index: Int) async {
        guard !walkers[index].isSending else { return }
        note("\(walkers[index].name) is killed")
        walkers[index].process.kill()
        await reopenWalker(index)
    }

    private func reopenWalker(_ index: Int) async {
        guard let remains = walkers[index].process.remains else { return }
        walkers[index].geodatabase = nil
        walkers[index].process.bury()
        walkers[index].process = SimulatedProcess(folder: remains)
        note("  \(walkers[index].name) died and is back")
        await connect(index)
    }

    // MARK: Telling the service

    func send(_ index: Int) async {
        guard !walkers[index].isSending, let geodatabase = walkers[index].geodatabase else { return }
        note("\(walkers[index].name) applies its edits")
        walkers[index].isSending = true
        defer { walkers[index].isSending = false }
        do {
            try await asWalker(index, isOuter: true) {
                walkers[index].pending.attempt()
                let results = try await geodatabase.applyEdits()
                guard !walkers[index].process.isDead else { return }
                for result in results.flatMap(\.editResults) {
                    for error in [result.error] + result.attachmentResults.map(\.error) {
                        if let error { note("  refused: \(error)") }
                    }
                }
                handOver(index, geodatabase)
            }
        } catch is Fieldwork.ServiceError where !isQuiet {
            note("  \(walkers[index].name): no answer")
        } catch {
            complain(.workGoesOn, "\(walkers[index].name) can't apply its edits: \(error)")
        }
    }

    /// What the walker no longer has to send, the service has promised to keep.
    private func handOver(_ index: Int, _ geodatabase: ServiceGeodatabase) {
        guard let edits = geodatabase.session?.local.edits() else { return }
        let waiting = Set(edits.flatMap { [$0.globalID] + $0.attachments.map(\.globalID) }.compactMap(\.self))
        let facts = walkers[index].pending.handOver(except: waiting)
        saved.promise(facts)
        walkers[index].unsent.formIntersection(waiting)
        note("  \(walkers[index].name) has handed in \(facts.count) values, \(edits.count) features wait")
    }
}
