import Fieldwork
import Foundation

/// Extending an area: the larger one is taken like any other, into a file of its own, and takes the place of the smaller one
/// when it is whole and nothing of the smaller one waits to be sent. Until then the smaller one is in use. The area keeps its
/// name, its unfinished forms and what can be undone: only its file is another one.
extension AreaShelf {
    /// The larger area that is on its way to take this one's place; nil where there is none.
    func growth(of area: OfflineArea) -> OfflineArea? {
        let since = area.holder.flatMap(self.area)?.made ?? area.made
        return all().filter { $0.extends == area.id && $0.id != area.holder && $0.made > since }
            .max { $0.made < $1.made }
    }

    /// From now on the file of the larger area is the area's, at once.
    func grow(_ area: OfflineArea, into growth: OfflineArea) throws {
        // It may have been given another name meanwhile.
        var grown = self.area(area.id) ?? area
        (grown.west, grown.south) = (growth.west, growth.south)
        (grown.east, grown.north) = (growth.east, growth.north)
        grown.holder = growth.id
        try put(grown)
    }

    /// The folders whose files an area no longer uses, and those whose area is gone.
    func leftovers() -> [UUID] {
        all().flatMap { area -> [UUID] in
            if let extended = area.extends {
                guard let owner = self.area(extended) else { return [area.id] }
                return owner.holder == area.id || growth(of: owner)?.id == area.id ? [] : [area.id]
            }
            return area.holder != nil && FileManager.default.fileExists(atPath: ownFile(area.id).path) ? [area.id] : []
        }
    }

    /// Takes away a file that is no longer used; of an area itself only that, for the rest is still what it is.
    func removeLeftover(_ id: UUID) throws {
        guard let area = area(id), area.extends == nil else { return try remove(id) }
        for end in ["", "-wal", "-shm"] {
            let file = URL(filePath: ownFile(id).path + end)
            if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
        }
    }
}

extension Workspace {
    /// Goes on with what an earlier process had begun: larger areas that arrived, files that are no longer used.
    func settleGrowths() async {
        for area in shelf.areas() {
            guard let growth = shelf.growth(of: area), shelf.isHere(growth.id) else { continue }
            await finish(growth)
        }
        await tidyAreas()
    }

    /// Puts a larger area that has arrived in the place of the one that it extends, or notes why that has to wait.
    func finish(_ growth: OfflineArea) async {
        do {
            try await oneByOne { try await self.takePlace(growth) }
            note(nil, on: growth)
            hub.send("reset", [String: String]())
            hub.send("announce", Announcement(text: "\(growth.name) is larger now.", urgent: false))
        } catch {
            note((error as? CollectError)?.description ?? Self.reason(error), on: growth)
        }
        hub.send("stale", PanelsStale(panels: ["job", "offline"], why: "extended"))
        await tidyAreas()
    }

    private static func reason(_ error: any Error) -> String { (error as? any ArcGISError)?.details ?? "\(error)" }

    /// Nothing is edited meanwhile: edits wait in line behind it.
    private func takePlace(_ growth: OfflineArea) async throws {
        guard let area = growth.extends.flatMap(shelf.area), shelf.growth(of: area)?.id == growth.id else { return }
        try await sendAll(of: area)
        // What was sent since the larger area was taken comes into its file.
        let geodatabase = Geodatabase(fileURL: shelf.file(growth.id))
        try await geodatabase.load()
        do {
            _ = try await OfflineWork(area: growth, geodatabase: geodatabase).sync()
        } catch {
            geodatabase.close()
            throw error
        }
        geodatabase.close()
        let wasOnShow = release(area)
        try shelf.grow(area, into: growth)
        if wasOnShow, let grown = shelf.area(area.id) { _ = try await open(grown) }
    }

    /// Throws when something of the area stays on this device: it would not be in the other file.
    private func sendAll(of area: OfflineArea) async throws {
        let inTransaction = CollectError(
            .notAllowed, "A transaction is open in \(area.name).", nextStep: "Keep or discard it first.")
        let unsent: Int
        if let map = openMap(of: area), let work = map.offline {
            guard map.transaction == nil else { throw inTransaction }
            await map.outbox.send(patience: .seconds(Limits.growthPatienceSeconds), isAsked: true)
            if case .failed(let reason) = await map.outbox.report.phase {
                throw CollectError(.notAllowed, "\(area.name) could not be synced: \(reason)")
            }
            unsent = await work.unsentCount()
        } else {
            guard try unfinishedEdits(of: area) == 0 else { throw inTransaction }
            let geodatabase = Geodatabase(fileURL: shelf.file(area.id))
            try await geodatabase.load()
            defer { geodatabase.close() }
            let work = OfflineWork(area: area, geodatabase: geodatabase)
            _ = try await work.sync()
            unsent = await work.unsentCount()
        }
        guard unsent == 0 else {
            throw CollectError(
                .notAllowed,
                "\(FieldText.count(unsent, "edit")) of \(area.name) \(unsent == 1 ? "was" : "were") not taken by the server.",
                nextStep: "Mend or undo what was refused; Changes lists it.")
        }
    }

    /// Takes the files away that are no longer used, and tells the service that it needn't keep their replicas.
    func tidyAreas() async {
        for id in shelf.leftovers() {
            guard let area = shelf.area(id) else { continue }
            let file = shelf.ownFile(id)
            if FileManager.default.fileExists(atPath: file.path) {
                guard await isSent(file, of: area) else { continue }
                let geodatabase = Geodatabase(fileURL: file)
                do {
                    try await GeodatabaseSyncTask(url: area.service).unregisterGeodatabase(geodatabase)
                } catch ServiceError.connectionFailed {
                    // The next start tries again.
                    geodatabase.close()
                    continue
                } catch {
                    // The service has forgotten it by itself.
                }
                geodatabase.close()
            }
            try? shelf.removeLeftover(id)
        }
    }

    /// Whether nothing in a file that is no longer used waits to be sent: another program may have had it open until now. What
    /// does is sent; while it can't be, the file stays.
    private func isSent(_ file: URL, of area: OfflineArea) async -> Bool {
        let geodatabase = Geodatabase(fileURL: file)
        defer { geodatabase.close() }
        guard (try? await geodatabase.load()) != nil else { return false }
        let work = OfflineWork(area: area, geodatabase: geodatabase)
        if await work.unsentCount() > 0 { _ = try? await work.sync() }
        return await work.unsentCount() == 0
    }

    /// Ends an extension: the area stays as it is.
    func cancelGrowth(_ growth: OfflineArea) async throws {
        try await oneByOne {
            guard growth.extends.flatMap(shelf.area)?.holder != growth.id else { return }
            await areaBasemaps.forget(growth.id)
            if shelf.isHere(growth.id) {
                let geodatabase = Geodatabase(fileURL: shelf.ownFile(growth.id))
                try? await GeodatabaseSyncTask(url: growth.service).unregisterGeodatabase(geodatabase)
                geodatabase.close()
                await downloads.forget(growth.id)
                try shelf.remove(growth.id)
            } else {
                try await downloads.cancel(growth.id)
            }
        }
    }
}
