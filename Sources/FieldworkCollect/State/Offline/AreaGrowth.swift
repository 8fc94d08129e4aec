import Fieldwork
import Foundation

/// Extending an area: the larger one is taken like any other, into files of its own, and takes the place of the smaller one
/// when it is whole and nothing of the smaller one waits to be sent. Until then the smaller one is in use. The area keeps its
/// name, its unfinished forms and what can be undone: only its files are others.
extension AreaShelf {
    /// The larger area that is on its way to take this one's place; nil where there is none.
    func growth(of area: OfflineArea) -> OfflineArea? {
        let since = area.holder.flatMap(self.area)?.made ?? area.made
        return all().filter { $0.extends == area.id && $0.id != area.holder && $0.made > since }
            .max { $0.made < $1.made }
    }

    /// From now on the files of the larger area are the area's, at once.
    func grow(_ area: OfflineArea, into growth: OfflineArea) throws {
        // It may have been given another name meanwhile.
        var grown = self.area(area.id) ?? area
        (grown.west, grown.south) = (growth.west, growth.south)
        (grown.east, grown.north) = (growth.east, growth.north)
        grown.holder = growth.id
        try put(grown)
    }

    /// The folders that the basemap and the locator of an area may be in, the newest first: of the area that is in use, of those whose
    /// place it took, and the area's own.
    func stages(of id: UUID) -> [UUID] {
        guard let holder = area(id)?.holder.flatMap(area) else { return [id] }
        let former = all().filter { $0.extends == id && $0.made < holder.made }
        return [holder.id] + former.map(\.id) + [id]
    }

    /// Whether an area has its basemap or its locator from this folder.
    private func isStageInUse(_ area: OfflineArea) -> Bool {
        guard let owner = area.extends, self.area(owner) != nil else { return false }
        return basemapStage(of: owner) == area.id || locatorStage(of: owner) == area.id
    }

    /// The folders whose files an area no longer uses, and those whose area is gone.
    func leftovers() -> [UUID] {
        all().flatMap { area -> [UUID] in
            if let extended = area.extends {
                guard let owner = self.area(extended) else { return [area.id] }
                return owner.holder == area.id || growth(of: owner)?.id == area.id ? [] : [area.id]
            }
            return area.holder != nil && ownFiles(area.id).contains(where: \.isHere) ? [area.id] : []
        }
    }

    /// Takes away files that are no longer used: of an area itself only those of its features, for the rest is still what it is, and so of
    /// one whose basemap or locator is in use until the larger one's has come.
    func removeLeftover(_ id: UUID) throws {
        guard let area = area(id), area.extends == nil || isStageInUse(area) else { return try remove(id) }
        for file in ownFiles(id) {
            for end in ["", "-wal", "-shm"] {
                let part = URL(filePath: file.url.path + end)
                if FileManager.default.fileExists(atPath: part.path) { try FileManager.default.removeItem(at: part) }
            }
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
        let larger = try await OfflineWork.open(growth, files: shelf.files(growth.id))
        do {
            try await larger.syncAll()
        } catch {
            larger.close()
            throw error
        }
        larger.close()
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
            let work = try await OfflineWork.open(area, files: shelf.files(area.id))
            defer { work.close() }
            try await work.syncAll()
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
            let files = shelf.ownFiles(id).filter(\.isHere)
            guard await areSent(files, of: area) else { continue }
            // A service that isn't reached is asked again at the next start.
            guard (try? await OfflineWork.unregister(files)) != nil else { continue }
            try? shelf.removeLeftover(id)
        }
        await areaBasemaps.tidy()
    }

    /// Whether nothing in files that are no longer used waits to be sent: another program may have had them open until now. What
    /// does is sent; while it can't be, the files stay.
    private func areSent(_ files: [AreaFile], of area: OfflineArea) async -> Bool {
        guard let work = try? await OfflineWork.open(area, files: files) else { return false }
        defer { work.close() }
        if await work.unsentCount() > 0 { try? await work.syncAll() }
        return await work.unsentCount() == 0
    }

    /// Ends an extension: the area stays as it is.
    func cancelGrowth(_ growth: OfflineArea) async throws {
        try await oneByOne {
            guard growth.extends.flatMap(shelf.area)?.holder != growth.id else { return }
            await areaBasemaps.forget(growth.id)
            if shelf.isHere(growth.id) {
                try? await OfflineWork.unregister(shelf.ownFiles(growth.id))
                await downloads.forget(growth.id)
                try shelf.remove(growth.id)
            } else {
                try await downloads.cancel(growth.id)
            }
            await areaBasemaps.tidy()
        }
    }
}
