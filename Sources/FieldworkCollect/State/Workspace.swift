import Fieldwork
import Foundation
import Logging

/// What the process holds: the open map, the maps opened before whose edits are still on their way, the settings.
actor Workspace {
    nonisolated let settings: DeviceSettings
    nonisolated let hub: EventHub
    nonisolated let configuration: CollectConfiguration
    private let logger: Logger
    private var maps: [String: OpenMap] = [:]
    private var current: OpenMap?
    /// The map that is being opened, by its key: a second window that wants the same one waits for it.
    private var opening: (key: String, task: Task<OpenMap, any Error>)?
    private var unreachable = false
    private var hasOpenedFile = false
    /// The file that was to be opened at the start; the page says why it wasn't.
    private(set) var fileOfStart: String?
    private var lastUnsent: [String: Int] = [:]
    /// The quarter of a sending that was said last.
    private var saidQuarter: [String: Int] = [:]
    /// Why larger areas that have arrived aren't in use yet.
    private var growthNotes: [UUID: String] = [:]
    private let edits = SerialLine()
    nonisolated let shelf: AreaShelf
    nonisolated let downloads: AreaDownloads
    nonisolated let locators: MapLocators
    nonisolated let addresses = AddressFills()
    nonisolated let areaLocators: AreaLocators
    nonisolated let areaBasemaps: AreaBasemaps
    nonisolated let updates = AreaUpdates()
    /// Outboxes to run, handed to `run`.
    private let outboxes: AsyncStream<OpenMap>
    private let newOutbox: AsyncStream<OpenMap>.Continuation
    /// Maps whose services are asked for conflicts, and for locators and basemaps that are out of date, when they were opened.
    private let unaskedMaps: AsyncStream<OpenMap>
    private let newConflicts: AsyncStream<OpenMap>.Continuation
    private var broadcaster: (@Sendable (OpenMap) async -> Void)?
    /// The tiles under the open area, as the windows were told last.
    private var toldTiles: [String]?

    init(configuration: CollectConfiguration, hub: EventHub, logger: Logger) throws {
        self.configuration = configuration
        self.hub = hub
        self.logger = logger
        settings = try DeviceSettings(directory: configuration.dataDirectory)
        shelf = try AreaShelf(directory: configuration.dataDirectory.appending(path: "areas"))
        downloads = AreaDownloads(shelf: shelf)
        locators = MapLocators(shelf: shelf)
        areaLocators = AreaLocators(shelf: shelf, logger: logger)
        areaBasemaps = AreaBasemaps(shelf: shelf, logger: logger)
        (outboxes, newOutbox) = AsyncStream.makeStream(of: OpenMap.self)
        (unaskedMaps, newConflicts) = AsyncStream.makeStream(of: OpenMap.self)
    }

    /// Called when the state line of a map has changed.
    func whenChanged(_ body: @escaping @Sendable (OpenMap) async -> Void) { broadcaster = body }

    /// Runs the sending of all opened maps until the task is cancelled.
    func run() async {
        await downloads.listen { [weak self] in await self?.heard($0, $1) }
        await downloads.goOn()
        await areaLocators.goOn()
        await areaBasemaps.listen { [weak self] _ in await self?.heardOfBasemap() }
        await areaBasemaps.goOn()
        await updates.listen { [weak self] in await self?.heardOfUpdate() }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.settleGrowths() }
            group.addTask { [unaskedMaps] in
                for await map in unaskedMaps where !map.isPlainFile {
                    await self.lookAtConflicts(of: map)
                    await self.renewLocators(of: map)
                    await self.lookForNewerBasemaps(of: map)
                }
            }
            for await map in outboxes {
                group.addTask { await map.outbox.run() }
            }
        }
        await updates.stop()
        await downloads.stop()
        await areaLocators.stop()
        await areaBasemaps.stop()
        for map in maps.values { map.offline?.close() }
    }

    nonisolated func stop() {
        newOutbox.finish()
        newConflicts.finish()
    }

    // MARK: The open map

    /// The open map; opens the last one, or the default one, at the first call.
    func map() async throws -> OpenMap {
        if let current { return current }
        if let file = configuration.file, !hasOpenedFile {
            // Whoever asks meanwhile waits for the same file.
            defer { hasOpenedFile = true }
            return try await openAtStart(file.path)
        }
        if let held = settings.service.flatMap(OfflineArea.id).flatMap(shelf.area)?.held, configuration.webMap == nil {
            return try await openAtStart(held.path)
        }
        if let area = lastArea() { return try await open(area) }
        if let webMap = configuration.webMap { return try await open(webMap) }
        guard let url = await firstService() else {
            throw CollectError(.noMapOpen, "No map is open.", nextStep: "Choose one.")
        }
        return try await open(url)
    }

    /// Opens the file that the command names, or that of last time. Who names a file agrees that Fieldwork works in it.
    private func openAtStart(_ path: String) async throws -> OpenMap {
        fileOfStart = path
        guard case .opened(let map) = try await openFile(path, isAgreed: true) else {
            throw CollectError(.noMapOpen, "No map is open.")
        }
        return map
    }

    /// Where somebody works, to go on there after a change of who is signed in.
    struct OpenPlace: Sendable {
        let url: URL
        let view: DeviceSettings.View?
    }

    /// The service of the map that is open, or else where the map lies; nil for no map, and one of this device.
    func openAddress() -> URL? {
        let address = current?.geodatabases.first?.url ?? current?.url
        return address.flatMap { $0.isFileURL ? nil : $0 }
    }

    /// nil where no map of a server is open.
    func place() -> OpenPlace? {
        guard let current, current.offline == nil else { return nil }
        return OpenPlace(url: current.url, view: settings.view(of: current.key))
    }

    /// Opens the map that was open for whoever worked before. One that doesn't open leaves the choice to the first page.
    func goOn(at place: OpenPlace) async {
        guard let map = try? await open(place.url) else { return }
        if settings.view(of: map.key) == nil { settings.setView(place.view, of: map.key) }
    }

    func open(_ url: URL) async throws -> OpenMap {
        let url = try Self.mapURL(url)
        let address = MapAddress(url, ownRoot: configuration.ownRoot)
        return try await openOnce(address.key) {
            let (directory, ownRoot) = (self.configuration.dataDirectory, self.configuration.ownRoot)
            let map = try await OpenMap.open(address, ownRoot: ownRoot, dataDirectory: directory)
            _ = await self.adopt(map)
            return map
        }
    }

    /// Opens a map unless it is open. One map is opened at a time: whoever wants the same one gets it, whoever wants
    /// another one waits until the first is open.
    private func openOnce(
        _ key: String, isShown: Bool = true, _ open: @escaping @Sendable () async throws -> OpenMap
    ) async throws -> OpenMap {
        while true {
            if let known = maps[key] {
                if isShown { select(known) }
                return known
            }
            guard let opening else { break }
            if opening.key == key {
                let map = try await opening.task.value
                // Whoever opens it may not show it.
                if isShown { select(map) }
                return map
            }
            // Whether it could be opened is for the window that wanted it.
            _ = await opening.task.result
        }
        let task = Task {
            // Before the task has a result: those that wait for it find the place free.
            defer { opening = nil }
            return try await open()
        }
        opening = (key, task)
        return try await task.value
    }

    /// - Parameters:
    ///   - files: those of an area; none for a map of a server.
    ///   - isShown: whether it is the open map from now on.
    /// - Returns: false for the map of an area whose files aren't the area's any more: edits in them would be in no area.
    private func adopt(_ map: OpenMap, files: [AreaFile] = [], isShown: Bool = true) async -> Bool {
        // What an area holds unsent is known before it is shown: there is nobody to ask for it.
        if let offline = map.offline {
            await map.outbox.count()
            for geodatabase in offline.geodatabases { geodatabase.syncID.map(settings.rememberReplica) }
        }
        if let offline = map.offline, shelf.files(offline.area.id) != files {
            offline.close()
            return false
        }
        maps[map.key] = map
        if isShown { select(map) }
        await map.outbox.syncByItself { [settings] in settings.syncsAreasByItself }
        await map.outbox.listen { [weak self] change in await self?.heard(change, from: map) }
        await map.outbox.accompanySync { [weak self, weak map] in
            guard let map else { return }
            await self?.lookAtConflicts(of: map)
            // The server answers: what it could not be asked for when the map was opened.
            await self?.renewLocators(of: map)
            // Edits don't wait for what a service of tiles says.
            Task { await self?.lookForNewerBasemaps(of: map) }
        }
        newOutbox.yield(map)
        newConflicts.yield(map)
        logger.info("map opened", metadata: ["layers": "\(map.layers.count)"])
        return true
    }

    /// Counts the conflicts that wait for the state line, and says once what a rule has settled.
    func lookAtConflicts(of map: OpenMap) async {
        let before = (map.conflictSources.openCount, map.conflictNotice(in: settings).text)
        guard (try? await map.noteSettledConflicts(in: settings)) != nil else { return }
        let notice = map.conflictNotice(in: settings).text
        if let notice, notice != before.1 {
            hub.send("announce", Announcement(text: notice, urgent: false))
            hub.send("stale", PanelsStale(panels: ["changes"], why: "conflicts"))
        }
        if map.conflictSources.openCount != before.0 { await broadcaster?(map) }
    }

    // MARK: Offline areas

    /// The area in which was worked last, when it is one of the map that is to be opened.
    private func lastArea() -> OfflineArea? {
        guard let id = settings.service.flatMap(OfflineArea.id), shelf.isHere(id), let area = shelf.area(id) else {
            return nil
        }
        guard let webMap = configuration.webMap else { return area }
        return area.mapKey == MapAddress(webMap, ownRoot: configuration.ownRoot).key ? area : nil
    }

    /// Works offline, in an area that is on this device.
    /// - Parameter isShown: false to work with it beside the map that is open.
    func open(_ area: OfflineArea, isShown: Bool = true) async throws -> OpenMap {
        // The map is given to no window before it is certain that its file is the area's.
        let map = try await openOnce(area.key, isShown: isShown) { try await self.openFile(of: area, isShown: isShown) }
        if settings.view(of: area.key) == nil { settings.setView(firstView(of: area), of: area.key) }
        return map
    }

    /// Where an area is looked at first: where its map was looked at, as far as that is in the area.
    private func firstView(of area: OfflineArea) -> DeviceSettings.View? {
        if let view = settings.view(of: area.mapKey), area.holds(longitude: view.lon, latitude: view.lat) {
            return view
        }
        return area.edges.flatMap { _ in OpenMap.view(of: Viewpoint(boundingGeometry: area.extent)) }
    }

    private func openFile(of area: OfflineArea, isShown: Bool) async throws -> OpenMap {
        while true {
            let area = shelf.area(area.id) ?? area
            let files = shelf.files(area.id)
            let map = try await OpenMap.open(
                area, files: files, webMap: shelf.webMap(area.id), basemap: { [shelf] in shelf.basemap(area.id) },
                dataDirectory: configuration.dataDirectory)
            if await adopt(map, files: files, isShown: isShown) { return map }
        }
    }

    /// Works online again with the map that an area was taken from; the area stays.
    func goOnline(from area: OfflineArea) async throws -> OpenMap {
        guard area.isSynced else {
            throw CollectError(.notAllowed, "\(area.name) is a file of no service.", nextStep: "Open another map.")
        }
        guard let address = MapAddress(key: area.mapKey, ownRoot: configuration.ownRoot) else {
            return try await open(area.service)
        }
        return try await open(address.url)
    }

    /// The map of an area that is open in this process, whether it is on show or not.
    func openMap(of area: OfflineArea) -> OpenMap? { maps[area.key] }

    /// Closes an area's file, before it is taken away.
    func close(_ area: OfflineArea) async {
        guard let map = maps.removeValue(forKey: area.key) else { return }
        map.offline?.close()
        try? FileManager.default.removeItem(at: map.folder)
        if current === map { current = nil }
        if settings.service == area.key { settings.service = area.isSynced ? area.mapKey : nil }
    }

    /// Closes an area's file before another one takes its place: what this device keeps of the work in it stays.
    /// - Returns: whether it was on show.
    func release(_ area: OfflineArea) -> Bool {
        guard let map = maps.removeValue(forKey: area.key) else { return false }
        map.offline?.close()
        guard current === map else { return false }
        current = nil
        return true
    }

    /// Why a larger area that has arrived isn't in use yet; nil where nothing keeps it back.
    func note(on growth: OfflineArea) -> String? { growthNotes[growth.id] }

    func note(_ reason: String?, on growth: OfflineArea) { growthNotes[growth.id] = reason }

    /// The edits of a transaction that an earlier process left open in an area that isn't open now.
    nonisolated func unfinishedEdits(of area: OfflineArea) throws -> Int {
        let folder = configuration.dataDirectory.appending(path: "maps/\(MapAddress(area).folderName)")
        let file = folder.appending(path: "edits.jsonl")
        guard FileManager.default.fileExists(atPath: file.path) else { return 0 }
        let journal = try EditJournal(fileURL: file)
        return journal.openTransaction.map { id in journal.entries.count { $0.transaction == id } } ?? 0
    }

    /// The areas that were taken from the open map.
    func areas(of map: OpenMap) -> [OfflineArea] {
        let key = map.offline?.area.mapKey ?? map.key
        return shelf.areas().filter { $0.mapKey == key }
    }

    private func heard(_ area: OfflineArea, _ report: AreaDownloads.Report) {
        hub.send("stale", PanelsStale(panels: ["job", "offline"], why: "download"))
        if report.phase == .done, area.extends != nil {
            Task { await finish(area) }
            return
        }
        switch report.phase {
        case .done: hub.send("announce", Announcement(text: "\(area.name) is on this device.", urgent: false))
        case .failed: hub.send("announce", Announcement(text: "\(area.name) did not arrive.", urgent: true))
        case .running, .paused: break
        }
    }

    private func heardOfUpdate() {
        hub.send("stale", PanelsStale(panels: ["offline"], why: "update"))
    }

    /// Areas are synced by themselves from now on, or only when the user asks for it.
    func setSyncsAreasByItself(_ isOn: Bool) async {
        settings.syncsAreasByItself = isOn
        for map in maps.values { await map.outbox.look() }
    }

    private func heardOfBasemap() {
        hub.send("stale", PanelsStale(panels: ["job", "offline"], why: "basemap"))
        // The map is drawn anew when other tiles lie under it.
        guard let map = current, let area = map.offline?.area, let tiles = shelf.basemap(area.id)?.mark,
            tiles != toldTiles
        else { return }
        toldTiles = tiles
        hub.send("map", MapChanged(layers: map.layers.map(\.id)))
    }

    /// Tells every window anew where the edits are.
    func tell(_ map: OpenMap) async { await broadcaster?(map) }

    private func select(_ map: OpenMap) {
        current = map
        settings.service = map.key
    }

    private func firstService() async -> URL? {
        if let stored = settings.service, let address = MapAddress(key: stored, ownRoot: configuration.ownRoot) {
            return address.url
        }
        let services = (try? await self.services()) ?? []
        return services.first { $0.name == configuration.defaultServiceName }?.url ?? services.first?.url
    }

    /// The maps to choose from: web maps of this device, then the feature services that none of them shows, by name.
    func services() async throws -> [ServiceDirectory.Entry] {
        let maps = configuration.offeredMaps.filter { FileManager.default.fileExists(atPath: $0.file.path) }
        var entries = maps.map {
            ServiceDirectory.Entry(name: $0.serviceName, url: $0.file, title: $0.title, about: $0.about)
        }
        entries += configuration.serviceURLs.map {
            ServiceDirectory.Entry(name: ServiceDirectory.name(of: $0), url: $0)
        }
        if let root = configuration.servicesRoot {
            for entry in try await ServiceDirectory.list(root)
            where !entries.contains(where: { $0.url == entry.url })
                && !maps.contains(where: { $0.serviceName == entry.name })
            {
                entries.append(entry)
            }
        }
        return Array(entries.prefix(Limits.services))
    }

    /// An address of a feature service, or of a web map's document: over HTTP or a file of this device.
    static func mapURL(_ url: URL) throws -> URL {
        if url.isFileURL { return url.standardizedFileURL }
        let isWeb = ["http", "https"].contains(url.scheme?.lowercased() ?? "") && url.host()?.isEmpty == false
        guard isWeb, !url.path().contains("/FeatureServer"), !url.path().isEmpty, url.path() != "/" else {
            return try serviceURL(url)
        }
        return url
    }

    /// An address of a feature service over HTTP, without a layer at its end.
    static func serviceURL(_ url: URL) throws -> URL {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: false),
            let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", parts.host?.isEmpty == false,
            let range = parts.path.range(of: "/FeatureServer")
        else {
            throw CollectError(
                .notAFeatureService, "That is not the address of a map.",
                nextStep: "A feature service ends in FeatureServer; a web map is the address of its document.")
        }
        parts.path = String(parts.path[..<range.upperBound])
        parts.query = nil
        parts.fragment = nil
        guard let url = parts.url else {
            throw CollectError(.notAFeatureService, "That is not the address of a feature service.")
        }
        return url
    }

    // MARK: State

    /// Remembers whether the server answered the last read, for the state line.
    func noteReachable(_ reachable: Bool) async {
        guard unreachable == reachable else { return }
        unreachable = !reachable
        if let current { await broadcaster?(current) }
    }

    var isUnreachable: Bool { unreachable }

    nonisolated var framePatience: Duration { configuration.framePatience }

    var initialView: CollectConfiguration.InitialView? { configuration.initialView }

    private func heard(_ change: Outbox.Change, from map: OpenMap) async {
        if case .sent(let layers) = change {
            unreachable = false
            await map.tiles.invalidate(layers)
            if current === map {
                hub.send("map", MapChanged(layers: layers.sorted()))
                hub.send("stale", PanelsStale(panels: ["changes", "feature"], why: "sent"))
            }
        }
        let report = await map.outbox.report
        let unsent = report.unsent
        if case .progress = change { say(report, of: map) }
        if report.phase != .sending { saidQuarter[map.key] = nil }
        if unsent == 0, let before = lastUnsent[map.key], before > 0 {
            hub.send("announce", Announcement(text: "All sent.", urgent: false))
        }
        lastUnsent[map.key] = unsent
        // Windows show the state of the open map. Other maps may be sending as well.
        if current === map { await broadcaster?(map) }
    }

    /// A sending that takes its time is said at its start and at each quarter; "All sent." is its end.
    private func say(_ report: Outbox.Report, of map: OpenMap) {
        guard let view = SendingView(report), view.isUnderWay else { return }
        let quarter = view.hundredths / 25
        guard saidQuarter[map.key].map({ $0 < quarter }) ?? true else { return }
        let isFirst = saidQuarter[map.key] == nil
        saidQuarter[map.key] = quarter
        hub.send("announce", Announcement(text: isFirst ? view.beginning : view.spoken, urgent: false))
    }

    /// Edits one after the other, so that an undo never crosses the edit it takes back.
    nonisolated func oneByOne<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        await edits.enter()
        do {
            let result = try await body()
            await edits.leave()
            return result
        } catch {
            await edits.leave()
            throw error
        }
    }
}

struct MapChanged: Encodable, Sendable {
    let layers: [Int]
}

/// A sentence for screen readers.
struct Announcement: Encodable, Sendable {
    let text: String
    let urgent: Bool
}

struct PanelsStale: Encodable, Sendable {
    let panels: [String]
    let why: String
}
