import Fieldwork
import Foundation

/// Brings areas and their services together on the user's word, one after the other, whether or not they are open.
actor AreaUpdates {
    enum Phase: Sendable, Equatable {
        case waiting, running
        case done
        /// It was not synced, or the service did not take all of it, at that time.
        case failed(reason: String, Date)
    }

    private var phases: [UUID: Phase] = [:]
    private var task: Task<Void, Never>?
    private var running: OpenMap?
    private var listener: (@Sendable () async -> Void)?

    /// Called when an area has begun or ended.
    func listen(_ listener: @escaping @Sendable () async -> Void) { self.listener = listener }

    /// nil for an area that was in no update since the start.
    func phase(_ area: OfflineArea) -> Phase? { phases[area.id] }

    var isRunning: Bool { task != nil }

    /// Begins, unless an update is under way.
    /// - Parameters:
    ///   - open: opens an area without showing it.
    ///   - ended: told how many of the areas are up to date.
    func begin(
        _ areas: [OfflineArea], open: @escaping @Sendable (OfflineArea) async throws -> OpenMap,
        ended: @escaping @Sendable (_ done: Int) async -> Void
    ) {
        guard task == nil else { return }
        for area in areas { phases[area.id] = .waiting }
        task = Task {
            for area in areas where !Task.isCancelled {
                await set(.running, of: area)
                let problem = await update(area, open)
                await set(problem.map { .failed(reason: $0, Date()) } ?? .done, of: area)
            }
            for area in areas where phases[area.id] == .waiting { phases[area.id] = nil }
            task = nil
            await ended(areas.count { phases[$0.id] == .done })
            await listener?()
        }
    }

    /// Ends an update after what is under way, which is stopped. Nothing of it is lost: the next one goes on with it.
    func stop() async {
        task?.cancel()
        await running?.outbox.stop()
        await task?.value
    }

    private func set(_ phase: Phase, of area: OfflineArea) async {
        phases[area.id] = phase
        await listener?()
    }

    /// - Returns: why an area is not up to date; nil where it is.
    private func update(
        _ area: OfflineArea, _ open: @Sendable (OfflineArea) async throws -> OpenMap
    ) async -> String? {
        let map: OpenMap
        do { map = try await open(area) } catch { return (error as? any ArcGISError)?.details ?? "\(error)" }
        guard map.transaction == nil else { return "A transaction is open. Keep or discard it first." }
        running = map
        defer { running = nil }
        await map.outbox.send(patience: .seconds(Limits.updatePatienceSeconds), isAsked: true)
        let report = await map.outbox.report
        switch report.phase {
        case .failed(let reason), .refused(let reason): return reason
        case .sending: return "It takes long, and goes on."
        case .idle, .waiting: break
        }
        guard !Task.isCancelled else { return "Stopped." }
        guard report.unsent == 0 else {
            return "The server did not take \(FieldText.count(report.unsent, "edit")). Changes lists what and why."
        }
        return nil
    }
}

extension Workspace {
    /// The areas of a map that are on this device and have a service.
    func syncedAreas(of map: OpenMap) -> [OfflineArea] {
        areas(of: map).filter { $0.isSynced && shelf.isHere($0.id) }
    }

    /// Syncs all areas of a map that are on this device.
    func updateAreas(of map: OpenMap) async {
        let areas = syncedAreas(of: map)
        guard !areas.isEmpty else { return }
        let total = areas.count
        await updates.begin(areas, open: { try await self.open($0, isShown: false) }) { [hub] done in
            let text =
                done == total ? "All areas are up to date." : "\(done) of \(total) areas are up to date."
            hub.send("announce", Announcement(text: text, urgent: done < total))
            await self.lookForNewerBasemaps(of: map, isAsked: true)
        }
    }

    /// What an area that is not open holds unsent, and when it was synced last.
    nonisolated func standing(of area: OfflineArea) async -> (unsent: Int, lastSync: Date?)? {
        guard let work = try? await OfflineWork.open(area, files: shelf.files(area.id)) else { return nil }
        defer { work.close() }
        return (await work.unsentCount(), work.lastSync)
    }
}
