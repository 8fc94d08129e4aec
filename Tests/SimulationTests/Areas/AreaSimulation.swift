import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import Foundation
import Logging
import TestSupport

@testable import Fieldwork
@testable import FieldworkCollect

/// One story of a device and the basemaps of its offline areas, told by its seed: areas are taken, extended and deleted, also while
/// tiles are on their way; the basemap of the service changes; the line breaks, the disk is full, and the process dies.
actor AreaSimulation: SimulatedLine {
    struct Plan {
        var tellsVersion: Bool
        /// Whether newer tiles are asked for.
        var renews = false
        var changesTiles: Bool
        var steps: Int
        var faultsPerMille: Int
        var crashesPerMille: Int
        var fullPerMille: Int

        init(using generator: inout SeededGenerator) {
            tellsVersion = Int.random(in: 0..<4, using: &generator) > 0
            changesTiles = Bool.random(using: &generator)
            steps = Int.random(in: 6...24, using: &generator)
            faultsPerMille = [0, 30, 100].randomElement(using: &generator) ?? 0
            crashesPerMille = [0, 50, 200].randomElement(using: &generator) ?? 0
            fullPerMille = [0, 0, 100].randomElement(using: &generator) ?? 0
        }
    }

    struct Outcome: Sendable {
        var seed: UInt64
        var problems: [AreaProblem]
        var story: [String]
        /// How many areas had their basemap at the end, and how many tiles were looked at.
        var areas = 0
        var tiles = 0

        var report: String {
            """
            Seed \(seed): \(problems.prefix(5).map(\.description).joined(separator: "; "))
            Replay: FIELDWORK_SIMULATION_SEED=\(seed) swift test --filter AreaSimulationTests.stories
            \(story.suffix(60).joined(separator: "\n"))
            """
        }
    }

    let sabotage: AreaSabotage?
    let plan: Plan
    private let seed: UInt64
    private let folder: URL
    private let server: SimulatedServer
    private let town: BasemapFolder
    private let ids: SeededIDs
    private var generator: SeededGenerator
    private var process: SimulatedProcess
    var shelf: AreaShelf
    private var basemaps: AreaBasemaps
    /// The version that the service has.
    private(set) var version = 1
    /// Areas whose tiles are being fetched, with what stops that.
    private var busy: [UUID: Task<Void, Never>] = [:]
    /// Those of them that are to be taken away.
    private var stopped: Set<UUID> = []
    /// Requests that are on their way.
    private var carried = 0
    private var depth = 0
    private var isQuiet = false
    private(set) var isAtRest = false
    private let log = StoryLog.Lines()
    private var story: [String] = []
    private(set) var problems: [AreaProblem] = []
    /// Areas that had a basemap.
    var drawn: Set<UUID> = []
    /// The oldest version that an area may have at rest, by the area or stage whose newer tiles were asked for.
    private(set) var asked: [UUID: Int] = [:]
    private(set) var looked = (areas: 0, tiles: 0)

    // MARK: A whole story

    static func tell(seed: UInt64, sabotage: AreaSabotage? = nil) async throws -> Outcome {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let base =
            FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
        let folder = base.appending(
            path: "fieldwork-areas-\(seed)-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await AreaSimulation(seed, sabotage, folder).tell()
    }

    private init(_ seed: UInt64, _ sabotage: AreaSabotage?, _ folder: URL) async throws {
        var generator = SeededGenerator(seed: seed &* 0x9E37_79B9_7F4A_7C15 | 1)
        (self.seed, self.sabotage, self.folder) = (seed, sabotage, folder)
        var plan = Plan(using: &generator)
        // The other stories stay as they are.
        plan.renews = seed % 4 == 0
        if sabotage != nil { plan.changesTiles = true }
        if sabotage == .tellsOneVersion { plan.tellsVersion = true }
        self.plan = plan
        ids = SeededIDs(seed: generator.next())
        self.generator = generator
        let place = folder.appending(path: "server.1", directoryHint: .isDirectory)
        town = BasemapFolder(data: place)
        try FileManager.default.createDirectory(at: town.url, withIntermediateDirectories: true)
        try TownTiles.serve(version: 1, in: town)
        let clock = SimulatedClock()
        server = try await SimulatedServer(
            SimulatedProcess(folder: place), database: nil, basemaps: town, now: { clock.now }, ids: ids)
        process = SimulatedProcess(folder: folder.appending(path: "crew.1", directoryHint: .isDirectory))
        shelf = try AreaShelf(directory: process.folder.appending(path: "areas"))
        basemaps = AreaBasemaps(shelf: shelf, logger: Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() })
        begin()
    }

    /// What the app writes into its log belongs to the story.
    private var logger: Logger {
        Logger(label: "simulation") { [log] _ in StoryLog(lines: log) }
    }

    /// A process of the device begins to work in its folder.
    private func begin() {
        let network = SimulatedNetwork(simulation: self, name: "crew", process: process, takesDocument: false)
        var environment = ServiceEnvironment(directory: process.folder, client: network, downloads: network)
        environment.makeID = { [ids] in ids.next() }
        basemaps = AreaBasemaps(shelf: shelf, logger: logger) { [environment] _ in
            SimulatedTileSource(environment: environment)
        }
    }

    private func tell() async throws -> Outcome {
        note("plan \(plan)")
        for _ in 0..<plan.steps {
            try await asDevice { try await happen() }
            if !problems.isEmpty { break }
            try checkAreas()
            if !problems.isEmpty { break }
        }
        if problems.isEmpty { try await comeToRest() }
        CrashingDisk.forget(process.watch)
        await server.end()
        CrashingDisk.forget(server.process.watch)
        return Outcome(seed: seed, problems: problems, story: story, areas: looked.areas, tiles: looked.tiles)
    }

    func note(_ line: @autoclosure () -> String) {
        story += log.take().map { String(repeating: "  ", count: depth) + $0 }
        story.append(String(repeating: "  ", count: depth) + line())
    }

    func complain(_ invariant: AreaInvariant, _ text: String) {
        let problem = AreaProblem(invariant: invariant, text: text)
        note("!! \(problem)")
        problems.append(problem)
    }

    private func chance(_ perMille: Int) -> Bool {
        !isQuiet && Int.random(in: 0..<1_000, using: &generator) < perMille
    }

    private func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    // MARK: What happens

    /// Lets the device do something, in whose midst its process may die; then the next one goes on.
    private func asDevice(_ body: () async throws -> Void) async throws {
        if chance(plan.crashesPerMille) { process.killLater(after: number(0...80)) }
        if chance(plan.fullPerMille) {
            note("the disk is full")
            process.watch.isFull = true
        }
        do {
            try await body()
        } catch  where process.isDead || process.watch.isFull {
            note("  \(process.isDead ? "dead" : "no room"): \(error)")
        }
        process.spare()
        process.watch.isFull = false
        guard let remains = process.remains else { return }
        note("the process died")
        process.bury()
        process = SimulatedProcess(folder: remains)
        shelf = try AreaShelf(directory: process.folder.appending(path: "areas"))
        begin()
        await basemaps.tidy()
    }

    private func happen() async throws {
        guard !process.isDead else { return }
        let areas = shelf.areas().filter { busy[$0.id] == nil }.sorted { $0.text < $1.text }
        let area = areas.randomElement(using: &generator)
        if plan.renews, number(0...5) == 0 {
            if plan.changesTiles, number(0...1) == 0 { try change() }
            if let area { try await renew(area) }
            return
        }
        switch number(0...99) {
        case 0..<35: try await take()
        case 35..<50: if let area { try await extend(area) }
        case 50..<68: if let area { try await delete(area) }
        case 68..<80: if plan.changesTiles { try change() }
        case 80..<90: try await goOn()
        case 90..<95: stopOne()
        default: await basemaps.tidy()
        }
    }

    private func name(_ id: UUID) -> String { String(id.uuidString.prefix(4)) }

    private func area(_ box: PlaneBox, extends: UUID? = nil, made: Date = Date(timeIntervalSince1970: 0)) -> OfflineArea
    {
        OfflineArea(
            id: ids.next(), name: "Area", mapKey: "map", mapTitle: "Map", service: URL(filePath: "/service"),
            west: WebMercator.longitude(x: box.xMin), south: WebMercator.latitude(y: box.yMin),
            east: WebMercator.longitude(x: box.xMax), north: WebMercator.latitude(y: box.yMax), made: made,
            extends: extends)
    }

    static func box(_ area: OfflineArea) -> PlaneBox {
        PlaneBox(
            xMin: area.extent.xMin, yMin: area.extent.yMin, xMax: area.extent.xMax, yMax: area.extent.yMax)
    }

    private func take() async throws {
        let box = TownTiles.box(
            x: number(0...18), y: number(0...18), width: number(1...12), height: number(1...12))
        let area = area(box)
        note("takes \(name(area.id))")
        try await begin(area)
    }

    private func begin(_ area: OfflineArea) async throws {
        guard let service = SimulatedTileSource.service else { return }
        try shelf.put(area, jobs: [])
        let box = Self.box(area)
        try shelf.setBasemapWish(
            .init(
                layers: [.init(service: service, isVector: true, isReference: false, file: "basemap-1.vtpk")],
                edges: [box.xMin, box.yMin, box.xMax, box.yMax]), of: area.id)
        try await fetch(area)
    }

    /// Fetches what is missing of an area, while other things may happen.
    private func fetch(_ area: OfflineArea) async throws {
        guard busy[area.id] == nil, shelf.awaitsBasemap(area.id) else { return }
        let before = carried
        let task = Task { [basemaps] in await basemaps.fetchAll(area) }
        busy[area.id] = task
        await task.value
        // Who was stopped doesn't wait for the answer: the story does, so that one thing happens after the other.
        while carried > before { await Task.yield() }
        busy[area.id] = nil
        // An area whose place is taken by the larger one can't be without it.
        guard stopped.remove(area.id) != nil, !process.isDead, shelf.area(area.id) != nil,
            !shelf.all().contains(where: { $0.holder == area.id })
        else { return }
        try await delete(area)
    }

    private func goOn() async throws {
        for area in shelf.all().sorted(by: { $0.text < $1.text }) where busy[area.id] == nil { try await fetch(area) }
    }

    /// Takes an area away whose tiles are on their way.
    private func stopOne() {
        guard let id = busy.keys.sorted(by: { $0.uuidString < $1.uuidString }).randomElement(using: &generator) else {
            return
        }
        note("stops \(name(id))")
        busy[id]?.cancel()
        stopped.insert(id)
    }

    private func extend(_ area: OfflineArea) async throws {
        guard shelf.growth(of: area) == nil else { return }
        let old = Self.box(area)
        let added = TownTiles.box(x: number(0...18), y: number(0...18), width: number(1...8), height: number(1...8))
        let made = (area.holder.flatMap(shelf.area) ?? area).made.addingTimeInterval(1)
        let larger = self.area(
            PlaneBox(
                xMin: min(old.xMin, added.xMin), yMin: min(old.yMin, added.yMin), xMax: max(old.xMax, added.xMax),
                yMax: max(old.yMax, added.yMax)), extends: area.id, made: made)
        note("extends \(name(area.id)) as \(name(larger.id))")
        let isBefore = number(0...3) == 0
        if isBefore { try shelf.put(larger, jobs: []) }
        if isBefore { try shelf.grow(area, into: larger) }
        try await begin(larger)
        guard !process.isDead, let now = shelf.area(area.id), shelf.area(larger.id) != nil else { return }
        if !isBefore { try shelf.grow(now, into: larger) }
        for id in shelf.leftovers() where busy[id] == nil { try shelf.removeLeftover(id) }
        await basemaps.tidy()
    }

    private func delete(_ area: OfflineArea) async throws {
        note("deletes \(name(area.id))")
        let others = shelf.all().filter { $0.extends == area.id }
        guard others.allSatisfy({ busy[$0.id] == nil }) else { return }
        try shelf.remove(area.id)
        for other in others { try shelf.remove(other.id) }
        if sabotage == .forgetsReservations { try await tidyForgetfully() }
        if sabotage != .keepsTiles { await basemaps.tidy() }
    }

    /// Looks for newer tiles, as a sync does, and asks for what was found, as the user does.
    private func renew(_ area: OfflineArea) async throws {
        note("looks for newer tiles of \(name(area.id))")
        let before = carried
        let told = version
        await basemaps.lookForNewer(area.id, seconds: 0)
        while carried > before { await Task.yield() }
        guard !process.isDead, let stage = shelf.basemapStage(of: area.id), busy[stage] == nil,
            shelf.basemapWish(stage)?.newer != nil, let holder = try await basemaps.wishNewer(area.id)
        else { return }
        note("asks for newer tiles of \(name(area.id))")
        if sabotage == .forgetsRenewals { try shelf.changeBasemapWish(of: stage) { $0.renewals = nil } }
        asked[stage] = told
        try await fetch(holder)
    }

    private func change() throws {
        version += 1
        note("the service has version \(version)")
        try TownTiles.serve(version: version, in: town)
    }

    /// Has the tiles of areas that are gone taken out as if nobody waited for some of them.
    private func tidyForgetfully() async throws {
        var kept: [(TileDatabase, [[TileDatabase.Value]])] = []
        for file in try sharedFiles() {
            let database = try TileDatabase(path: file.path, creates: true)
            // A file whose making was broken off by a death has no tables yet.
            guard let rows = try? database.run("SELECT * FROM fieldwork_areas WHERE is_whole = 0") else { continue }
            try database.run("DELETE FROM fieldwork_areas WHERE is_whole = 0")
            kept.append((database, rows))
        }
        await basemaps.tidy()
        for (database, rows) in kept {
            for row in rows {
                _ = try? database.run("INSERT INTO fieldwork_areas VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            }
        }
    }

    func sharedFiles() throws -> [URL] {
        let folder = shelf.tiles.directory
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".mbtiles") }.sorted().map { folder.appending(path: $0) }
    }

    // MARK: The line

    func cuts() -> Bool { chance(plan.faultsPerMille * 2) }

    func carry(_ order: SimulatedServer.Order, for process: SimulatedProcess) async throws -> SimulatedServer.Reply {
        guard !process.isDead else { throw SimulatedNetwork.lost }
        // Who was stopped asks for nothing any more.
        try Task.checkCancellation()
        carried += 1
        defer { carried -= 1 }
        let fate = chance(plan.faultsPerMille * 2) ? Fate.allCases.randomElement(using: &generator) : nil
        if chance(60) { await interlude() }
        if let fate { note("  \(order.address.split(separator: "/").last ?? ""): \(fate)") }
        var reply: SimulatedServer.Reply?
        switch fate {
        case .lost, .late: break
        case .answerLost: _ = try await server.answer(order)
        case .diesBefore: process.kill()
        case .diesAfter:
            _ = try await server.answer(order)
            process.kill()
        case .doubled, .echoed:
            _ = try await server.answer(order)
            reply = try await server.answer(order)
        case nil: reply = try await server.answer(order)
        }
        if chance(60) { await interlude() }
        guard var reply, !process.isDead else { throw SimulatedNetwork.lost }
        reply.bytes = changed(reply.bytes, of: order)
        return reply
    }

    private func interlude() async {
        guard depth < 2 else { return }
        depth += 1
        for _ in 0..<number(1...2) {
            do {
                try await happen()
            } catch  where process.isDead || process.watch.isFull {
                note("  dead or without room")
            } catch {
                complain(.workGoesOn, "\(error)")
            }
        }
        depth -= 1
    }

    private static var member: Regex<(Substring, Substring)> { #/,"tilesVersion":"([^"]*)"/# }
    private var firstVersion: String?

    /// What the service says of its tiles, as the story wants it.
    private func changed(_ bytes: [UInt8], of order: SimulatedServer.Order) -> [UInt8] {
        guard order.address.prefix(while: { $0 != "?" }).hasSuffix("VectorTileServer") else {
            return sabotage == .losesTiles ? lessened(bytes) : bytes
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let told = text.firstMatch(of: Self.member)?.1 else { return bytes }
        if firstVersion == nil { firstVersion = String(told) }
        if !plan.tellsVersion { return Array(text.replacing(Self.member, with: "").utf8) }
        guard sabotage == .tellsOneVersion, let firstVersion else { return bytes }
        return Array(text.replacing(Self.member, with: ",\"tilesVersion\":\"\(firstVersion)\"").utf8)
    }

    /// A package without the tiles of its deepest level; anything else as it is.
    private func lessened(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.starts(with: [0x50, 0x4B]) else { return bytes }
        let (whole, less) = (folder.appending(path: "whole.vtpk"), folder.appending(path: "less.vtpk"))
        guard (try? Data(bytes).write(to: whole)) != nil, let package = try? TilePackages.open(whole.path),
            (try? TileExport(
                of: package, title: TownTiles.name, coverage: nil, levels: Array(TownTiles.levels.dropLast())
            ).write(to: less)) != nil
        else { return bytes }
        return (try? Array(Data(contentsOf: less))) ?? bytes
    }

    // MARK: Rest

    private func comeToRest() async throws {
        isQuiet = true
        note("-- rest")
        for _ in 0..<4 { try await goOn() }
        for id in shelf.leftovers() { try shelf.removeLeftover(id) }
        if sabotage != .keepsTiles { await basemaps.tidy() }
        isAtRest = true
        try checkAreas()
        if problems.isEmpty { try checkRest() }
    }

    func looked(areas: Int = 0, tiles: Int = 0) {
        looked.areas += areas
        looked.tiles += tiles
    }
}
