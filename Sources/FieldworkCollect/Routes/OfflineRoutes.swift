import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// Work mode and offline areas: which are here, working in one, going online again, taking one away.
struct OfflineRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("offline") { request, _ in try await list(request) }
        router.post("offline/mode") { request, _ in try await setMode(request) }
        router.post("offline/update") { _, _ in
            await workspace.updateAreas(of: try await workspace.map())
            return PageRenderer.redirect("/offline")
        }
        router.post("offline/update/stop") { _, _ in
            await workspace.updates.stop()
            return PageRenderer.redirect("/offline")
        }
        router.post("offline/automatic") { request, _ in
            await workspace.setSyncsAreasByItself(try await FormValues.read(request)["on"] == "yes")
            return PageRenderer.redirect("/offline")
        }
        router.post("offline/:area/basemap") { _, context in
            try await workspace.areaBasemaps.renew(try area(context).id)
            return PageRenderer.redirect("/offline")
        }
        router.post("offline/:area/name") { request, context in
            try await rename(try area(context), request: request)
        }
        router.get("offline/:area/delete") { request, context in
            try await askDelete(try area(context), request: request)
        }
        router.post("offline/:area/delete") { request, context in
            try await delete(try area(context), request: request)
        }
    }

    private func area(_ context: CollectContext) throws -> OfflineArea {
        guard let id = context.parameters.get("area").flatMap({ UUID(uuidString: $0) }),
            let area = workspace.shelf.area(id), area.extends == nil
        else { throw CollectError(.notFound, "This area isn't on this device.") }
        return area
    }

    // MARK: The list

    private func list(_ request: Request) async throws -> Response {
        let map = try await workspace.map()
        var rows: [OfflinePanel.Area] = []
        for area in await workspace.areas(of: map) { rows.append(await row(area, map: map)) }
        let hasSynced = await !workspace.syncedAreas(of: map).isEmpty
        let isUpdating = await workspace.updates.isRunning
        let problem = map.offline == nil ? Self.obstacle(map) : nil
        let name = map.offline.map { workspace.shelf.name(of: $0.area) }
        return try await pages.respond(
            PageRenderer.Panel(
                OfflinePanel(
                    online: map.offline == nil, areaName: map.isPlainFile ? nil : name,
                    plainFile: map.isPlainFile ? name : nil, inTransaction: map.transaction != nil, areas: rows,
                    hasAreas: !rows.isEmpty, nameLimit: Limits.areaName,
                    updates: hasSynced ? OfflinePanel.Updates(running: isUpdating) : nil,
                    automatic: workspace.settings.syncsAreasByItself, canTake: map.offline == nil && problem == nil,
                    problem: problem,
                    free: workspace.shelf.freeBytes.map { "\(ByteText.whole($0)) free on this device" }),
                kind: "side", tab: "offline", title: "Offline"),
            to: request, map: map)
    }

    /// Why a map can't be taken offline; nil where it can.
    static func obstacle(_ map: OpenMap) -> String? {
        let without = map.geodatabases.filter { $0.serviceInfo?.isSyncEnabled != true }
        guard let first = without.first else {
            return map.geodatabases.isEmpty ? "\(map.title) shows no features of a service." : nil
        }
        let names = without.compactMap { $0.url.map { OpenMap.title(of: ServiceDirectory.name(of: $0)) } }
        let subject = map.geodatabases.count == 1 || first.url == nil ? "its service" : names.joined(separator: ", ")
        let verb = without.count == 1 ? "doesn't" : "don't"
        return "\(map.title) can't be taken offline: \(subject) \(verb) have the capability Sync. "
            + "The owner can switch that on."
    }

    private func row(_ area: OfflineArea, map: OpenMap) async -> OfflinePanel.Area {
        let shelf = workspace.shelf
        let report = await workspace.downloads.report(area.id)
        let isHere = report?.phase == .done
        let open = await workspace.openMap(of: area)
        let isCurrent = map.offline?.area.id == area.id
        var about = area.isSynced ? [area.size] : []
        if isHere { about.append(ByteText.whole(shelf.size(area.id) + shelf.basemapSize(area.id))) }
        let stage = shelf.basemapStage(of: area.id)
        if area.held == nil, shelf.awaitsBasemap(area.id) || stage.map(shelf.awaitsBasemap) == true {
            let obstacle = await workspace.areaBasemaps.obstacle(area.id)
            let isRenewing = stage.flatMap(shelf.basemapWish)?.isRenewing == true
            let kind = isRenewing ? "newer basemap" : "basemap"
            about.append(obstacle == nil ? "\(kind) on its way" : "no room for its \(kind)")
        } else if shelf.basemapSize(area.id) > 0 {
            about.append("with basemap")
        }
        let date = FieldText.date(area.made, now: Date())
        about.append(area.held.map { "\($0.shown), opened \(date)" } ?? "taken \(date)")
        var (unsent, lastSync) = (0, open?.offline?.lastSync)
        if let open {
            unsent = await open.outbox.report.unsent
        } else if isHere, area.held == nil, let standing = await workspace.standing(of: area) {
            (unsent, lastSync) = standing
        }
        let synced = lastSync.map { "Last sync \(FieldText.date($0, now: Date()))" }
        let update = Self.text(await workspace.updates.phase(area), lastSync)
        let growth = shelf.growth(of: area)
        let growthReport =
            if let growth { await workspace.downloads.report(growth.id) } else { nil as AreaDownloads.Report? }
        return OfflinePanel.Area(
            id: area.text, name: area.name, about: about.joined(separator: " · "), current: isCurrent,
            usable: isHere && !isCurrent, unsent: unsent > 0 ? "\(unsent) not sent" : nil, synced: synced,
            update: update, job: isHere || area.held != nil ? nil : Self.progress(report),
            lost: area.held != nil && !isHere
                ? "The file isn't there any more. If it was moved, open it where it is now." : nil,
            growth: growth.map {
                OfflinePanel.Growth(id: $0.text, text: "Larger: \(Self.progress(growthReport).lowercasedFirst)")
            },
            newer: Self.newer(stage.flatMap(shelf.basemapWish)?.newer),
            extend: isHere && area.held == nil && growth == nil && map.offline == nil && Self.obstacle(map) == nil,
            removal: area.held == nil ? "Delete \(area.name)" : "Take \(area.name) off the list")
    }

    private static func newer(_ newer: AreaShelf.BasemapWish.Newer?) -> String? {
        guard let newer else { return nil }
        let size = newer.bytes.map { $0 > 0 ? ", about \(ByteText.whole($0))" : "" } ?? ""
        return "The server has a newer basemap\(size)."
    }

    /// What an update of all areas has come to with one of them; nil where there is nothing to say, also after a later sync.
    private static func text(_ phase: AreaUpdates.Phase?, _ lastSync: Date?) -> String? {
        switch phase {
        case .waiting: "Waits for its update"
        case .running: "Is being updated"
        case .failed(_, let date) where lastSync.map { $0 > date } == true: nil
        case .failed(let reason, _): "Not updated. \(reason)"
        case .done, nil: nil
        }
    }

    static func progress(_ report: AreaDownloads.Report?) -> String {
        guard let report else { return "This area is damaged. Delete it and take it again." }
        return switch report.phase {
        case .running:
            report.arrived.map { ByteText.part($0.there, of: $0.whole) } ?? "\(report.hundredths) % is here"
        case .paused: "Paused at \(report.hundredths) %"
        case .failed: "Stopped at \(report.hundredths) %"
        case .done: "All is here"
        }
    }

    // MARK: Work mode

    private func setMode(_ request: Request) async throws -> Response {
        let asked = try await FormValues.read(request)["area"] ?? ""
        guard !asked.isEmpty else {
            let map = try await workspace.map()
            if let area = map.offline?.area { _ = try await workspace.goOnline(from: area) }
            return PageRenderer.redirect("/offline")
        }
        guard let id = UUID(uuidString: asked), let area = workspace.shelf.area(id), area.extends == nil,
            workspace.shelf.isHere(id)
        else {
            throw CollectError(.notFound, "This area isn't on this device.")
        }
        let opened = try await workspace.open(area)
        if opened.journal.isTransactionUnfinished { return PageRenderer.redirect("/transaction") }
        return PageRenderer.redirect("/map")
    }

    /// Another name for an area. Its file and its way to the service stay as they are.
    private func rename(_ area: OfflineArea, request: Request) async throws -> Response {
        let name = (try await FormValues.read(request)["name"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !name.isEmpty, name.count <= Limits.areaName else {
            throw CollectError(
                .badForm, "An area's name has from 1 to \(Limits.areaName) characters.",
                nextStep: "\(area.name) keeps its name.")
        }
        try workspace.shelf.rename(area.id, to: name)
        let map = try await workspace.map()
        await workspace.tell(map)
        workspace.hub.send("stale", PanelsStale(panels: ["offline"], why: "rename"))
        return PageRenderer.redirect("/offline")
    }

    // MARK: Taking an area away

    /// What would be lost with an area, also with one of which a file is missing.
    func unsent(_ area: OfflineArea) async throws -> Int {
        if area.held != nil, !workspace.shelf.isHere(area.id) { return 0 }
        // What is in a file of the user's stays there. Only a transaction that is open isn't in it yet.
        if area.held != nil {
            return try await workspace.openMap(of: area)?.transaction?.count ?? workspace.unfinishedEdits(of: area)
        }
        if let open = await workspace.openMap(of: area) {
            return (await open.offline?.unsentCount() ?? 0) + (open.transaction?.count ?? 0)
        }
        // An area that isn't open is asked itself; a transaction that wasn't finished is in its journal.
        let work = try await OfflineWork.open(area, files: workspace.shelf.files(area.id).filter(\.isHere))
        defer { work.close() }
        return await work.unsentCount() + (try workspace.unfinishedEdits(of: area))
    }

    /// What stays unsent in a file that goes off the list; nil where nothing does, and where the file isn't open to be asked.
    private func waiting(_ area: OfflineArea) async throws -> String? {
        guard area.held != nil, let work = await workspace.openMap(of: area)?.offline else { return nil }
        let count = await work.unsentCount()
        return count > 0 ? FieldText.count(count, "edit") : nil
    }

    private func askDelete(_ area: OfflineArea, request: Request, isRefused: Bool = false) async throws -> Response {
        let map = try await workspace.map()
        let count = try await unsent(area)
        return try await pages.respond(
            PageRenderer.Panel(
                AreaDeletePanel(
                    id: area.text, name: area.name, about: area.held?.shown ?? area.size, held: area.held?.shown,
                    waiting: try await waiting(area), unsent: count > 0 ? FieldText.count(count, "edit") : nil,
                    verb: count == 1 ? "was" : "were", refused: isRefused),
                kind: "side", tab: "offline",
                title: area.held == nil ? "Delete \(area.name)" : "Take \(area.name) off the list",
                status: isRefused ? .conflict : .ok),
            to: request, map: map)
    }

    private func delete(_ area: OfflineArea, request: Request) async throws -> Response {
        let map = try await workspace.map()
        let form = try await FormValues.read(request)
        if try await unsent(area) > 0, form["lose"] != "yes" {
            return try await askDelete(area, request: request, isRefused: true)
        }
        if area.held != nil {
            try await workspace.oneByOne {
                await workspace.close(area)
                try workspace.shelf.remove(area.id)
            }
        } else if workspace.shelf.isHere(area.id) {
            try await forget(area)
        } else {
            await workspace.areaBasemaps.forget(area.id)
            try await workspace.downloads.cancel(area.id)
            if workspace.shelf.area(area.id) != nil { try workspace.shelf.remove(area.id) }
        }
        await workspace.areaBasemaps.tidy()
        if map.offline?.area.id == area.id { _ = try? await workspace.goOnline(from: area) }
        return PageRenderer.redirect("/offline")
    }

    private func forget(_ area: OfflineArea) async throws {
        await workspace.areaBasemaps.forget(area.id)
        if let growth = workspace.shelf.growth(of: area) { try await workspace.cancelGrowth(growth) }
        try await workspace.oneByOne {
            // A service that can't be asked ends the replica by itself when it was not used for long.
            let files = workspace.shelf.files(area.id)
            await workspace.close(area)
            try? await OfflineWork.unregister(files)
            let shelf = workspace.shelf
            let holder = shelf.area(area.id)?.holder
            // A former stage that is kept for its basemap goes too; one whose features are still to be sent stays until they are.
            let stages = shelf.stages(of: area.id).filter { stage in
                stage != area.id && (stage == holder || !shelf.ownFiles(stage).contains(where: \.isHere))
            }
            try shelf.remove(area.id)
            for stage in stages { try? shelf.remove(stage) }
        }
    }
}
