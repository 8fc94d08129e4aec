import Fieldwork
import FieldworkTiles
import Foundation
import Logging

/// Takes the basemap along with an area, beside the features, by the SDK's jobs: the map is then drawn without a network. An area is
/// complete without it: its work begins as soon as the features are here.
actor AreaBasemaps {
    let shelf: AreaShelf
    let logger: Logger
    let source: @Sendable (AreaShelf.BasemapWish.Layer) -> any TileSource
    private var running: [UUID: Task<Void, Never>] = [:]
    private var arrivals: [UUID: GenerateGeodatabaseJob.Arrival] = [:]
    private var obstacles: [UUID: String] = [:]
    /// When it was looked last whether an area's services have newer tiles.
    var looked: [UUID: Date] = [:]
    private var listener: (@Sendable (OfflineArea) async -> Void)?

    /// - Parameter source: where the tiles of a layer come from.
    init(
        shelf: AreaShelf, logger: Logger,
        source: @escaping @Sendable (AreaShelf.BasemapWish.Layer) -> any TileSource = { ServiceTileSource($0) }
    ) {
        self.shelf = shelf
        self.logger = logger
        self.source = source
    }

    /// Called when a basemap has come further.
    func listen(_ listener: @escaping @Sendable (OfflineArea) async -> Void) { self.listener = listener }

    /// Tells who listens that something has changed.
    func heard(_ area: OfflineArea) async { await listener?(area) }

    /// Begins to fetch a basemap. When the process ends before, the next start goes on.
    func take(_ basemap: Basemap, along area: OfflineArea) {
        var wish = AreaShelf.wish(basemap)
        guard !wish.layers.isEmpty else { return }
        let extent = area.extent
        wish.edges = [extent.xMin, extent.yMin, extent.xMax, extent.yMax]
        do {
            try shelf.setBasemapWish(wish, of: area.id)
        } catch {
            return logger.warning("the wish for a basemap could not be kept", metadata: ["error": "\(error)"])
        }
        run(area)
    }

    /// Goes on with what an earlier process had begun.
    func goOn() async {
        await tidy()
        for area in shelf.all() where running[area.id] == nil && shelf.awaitsBasemap(area.id) { run(area) }
    }

    /// How much of the file that is coming now is here; nil while none comes.
    func arrived(_ id: UUID) -> GenerateGeodatabaseJob.Arrival? { arrivals[id] }

    /// Ends the fetching for an area that is taken away.
    func forget(_ id: UUID) async {
        guard let task = running[id] else { return }
        task.cancel()
        await task.value
    }

    /// Stops all work; the next start goes on with it.
    func stop() { for task in running.values { task.cancel() } }

    /// Begins, or lets the work that is under way go on with what is asked for now.
    func run(_ area: OfflineArea) {
        guard running[area.id] == nil else { return }
        running[area.id] = Task {
            defer {
                running[area.id] = nil
                arrivals[area.id] = nil
                obstacles[area.id] = nil
            }
            while !Task.isCancelled {
                await fetchAll(area)
                guard shelf.awaitsBasemap(area.id), !Task.isCancelled else { return }
                // The line broke, or there is no room: both may change.
                try? await Task.sleep(for: .seconds(Limits.basemapRetrySeconds))
            }
        }
    }

    /// Fetches what is still to come, once.
    func fetchAll(_ area: OfflineArea) async {
        // A larger area may have taken its place, also while this one's was on its way.
        defer { if shelf.isBasemapOutdone(area.id) { shelf.dropBasemap(of: area.id) } }
        guard !shelf.isBasemapOutdone(area.id) else { return }
        for layer in shelf.basemapWish(area.id)?.all ?? [] {
            guard !Task.isCancelled, let wish = shelf.basemapWish(area.id) else { return }
            guard !wish.settled.contains(layer.file) else { continue }
            do {
                try await fetch(layer, of: area)
                obstacles[area.id] = nil
            } catch is CancellationError {
                return
            } catch ServiceError.connectionFailed {
                continue
            } catch let error where Self.isWithoutRoom(error) {
                obstacles[area.id] = "There is no room on this device for the basemap."
                await listener?(area)
                continue
            } catch  where shelf.isBasemapOutdone(area.id) {
                return
            } catch {
                logger.info("a layer of a basemap didn't come with an area", metadata: ["reason": "\(error)"])
                if wish.isRenewal(layer.file) { dropParts(of: layer, area) }
            }
            guard !Task.isCancelled else { return }
            try? shelf.changeBasemapWish(of: area.id) { $0.settle(layer.file) }
            await listener?(area)
        }
        await tidy()
    }

    /// Deletes what has come of a layer that is given up.
    private func dropParts(of layer: Wish.Layer, _ area: OfflineArea) {
        let part = shelf.basemapFile(layer, of: area.id).path
        for end in ["", ".job", ".download"] { try? FileManager.default.removeItem(atPath: part + end) }
    }

    private static func isWithoutRoom(_ error: any Error) -> Bool {
        switch error {
        case let error as TileError: return error.code == .unwritable
        default:
            let error = error as NSError
            return error.domain == NSCocoaErrorDomain && error.code == CocoaError.Code.fileWriteOutOfSpace.rawValue
        }
    }

    /// Why a basemap waits; nil where nothing keeps it back.
    func obstacle(_ id: UUID) -> String? { obstacles[id] }

    /// Takes out what no area uses any more. What can't be taken out now is at the next start.
    func tidy() async {
        do {
            try await shelf.tidyTiles()
        } catch {
            logger.warning("tiles that no area uses could not be taken out", metadata: ["error": "\(error)"])
        }
    }

    private typealias Wish = AreaShelf.BasemapWish

    private func note(_ tiles: Wish.Tiles?, of layer: Wish.Layer, _ area: OfflineArea) throws {
        try shelf.changeBasemapWish(of: area.id) { $0.change(layer.file) { $0.tiles = tiles } }
    }

    /// Brings the tiles of a layer: those that no area has yet.
    private func fetch(_ layer: Wish.Layer, of area: OfflineArea) async throws {
        let part = shelf.basemapFile(layer, of: area.id)
        var tiles = layer.tiles
        if let state = try? Data(contentsOf: URL(filePath: "\(part.path).job")) {
            do {
                try await finish(try source(layer).job(begunAs: state, to: part), area)
            } catch let error as ServiceError {
                if case .connectionFailed = error { throw error }
                // The service keeps what it has made for some time only.
                for end in [".job", ".download"] { try? FileManager.default.removeItem(atPath: part.path + end) }
                tiles = try await bring(layer, of: area)
            }
        } else if !FileManager.default.fileExists(atPath: part.path) {
            tiles = try await bring(layer, of: area)
        }
        // An earlier version left the file of the area where it is, and so it stays.
        guard var tiles else { return }
        let hasCome = FileManager.default.fileExists(atPath: part.path)
        if hasCome {
            let version = try await source(layer).version()
            // The service has other tiles since it was looked what is missing: which of them came is not known.
            guard SharedTiles.isFile(tiles.file, of: layer.service, version: version) else {
                return try await startOver(layer, of: area)
            }
            if !tiles.isPart {
                // What is whole needs nothing that others have. A process may have ended before it was noted.
                try await shelf.tiles.reserve(tiles.file, for: area.id, shelf.basemapExtent(of: area))
            } else if try await !shelf.tiles.isNoted(area.id, in: tiles.file) {
                return try await startOver(layer, of: area)
            }
        }
        while true {
            do {
                tiles.bytes = try await shelf.tiles.complete(tiles.file, for: area.id, with: hasCome ? part : nil)
                break
            } catch let error as TileError where error.code == .otherVersion {
                // A service that tells no version has others now. They go into a file of their own.
                let isPart = tiles.isPart
                // First of all: a part must never be taken for the whole.
                if isPart { try FileManager.default.removeItem(at: part) }
                tiles = Wish.Tiles(file: shelf.tiles.next(after: tiles.file), isPart: false)
                try note(tiles, of: layer, area)
                try await shelf.tiles.reserve(tiles.file, for: area.id, shelf.basemapExtent(of: area))
                if isPart { return try await fetch(layer, of: area) }
            }
        }
        try note(tiles, of: layer, area)
        try? FileManager.default.removeItem(at: part)
    }

    /// Looks again what is missing, and brings that instead of what has come.
    private func startOver(_ layer: Wish.Layer, of area: OfflineArea) async throws {
        try FileManager.default.removeItem(at: shelf.basemapFile(layer, of: area.id))
        try await fetch(layer, of: area)
    }

    /// Downloads what is missing.
    private func bring(_ layer: Wish.Layer, of area: OfflineArea) async throws -> Wish.Tiles {
        let (source, shelf, extent) = (source(layer), shelf, shelf.basemapExtent(of: area))
        let version = try await source.version()
        let plan = try await shelf.tiles.begin(area.id, extent, service: layer.service, version: version) {
            plan in
            try shelf.changeBasemapWish(of: area.id) {
                $0.change(layer.file) { $0.tiles = .init(file: plan.file, isPart: plan.isPart) }
            }
        }
        let tiles = Wish.Tiles(file: plan.file, isPart: plan.isPart)
        guard let missing = plan.missing else { return tiles }
        let part = shelf.basemapFile(layer, of: area.id)
        do {
            try await finish(try await source.job(missing, to: part), area)
            return tiles
        } catch let error as ServiceError where plan.isPart {
            if case .connectionFailed = error { throw error }
            // A part may lie where the service has no tiles, which it refuses.
            logger.info("a part of a basemap was refused; all of it is asked for", metadata: ["reason": "\(error)"])
        }
        let all = Wish.Tiles(file: plan.file, isPart: false)
        try note(all, of: layer, area)
        try await finish(try await source.job(extent, to: part), area)
        return all
    }

    private func finish(_ job: Job, _ area: OfflineArea) async throws {
        switch job {
        case let job as ExportVectorTilesJob: _ = try await finish(job, area) { job.arrived }
        case let job as ExportTileCacheJob: _ = try await finish(job, area) { job.arrived }
        default: throw CollectError(.notFound, "The download of the basemap is none of tiles.")
        }
    }

    private func finish<J: JobProtocol>(
        _ job: J, _ area: OfflineArea, arrived: @escaping @Sendable () -> GenerateGeodatabaseJob.Arrival?
    ) async throws -> J.Output {
        job.start()
        let watch = Task { [weak self] in
            while !Task.isCancelled {
                await self?.note(arrived(), of: area)
                try? await Task.sleep(for: .milliseconds(Limits.jobLookMilliseconds))
            }
        }
        defer { watch.cancel() }
        return try await withTaskCancellationHandler {
            try await job.output
        } onCancel: {
            job.pause()
        }
    }

    private func note(_ arrival: GenerateGeodatabaseJob.Arrival?, of area: OfflineArea) async {
        guard arrivals[area.id] != arrival else { return }
        arrivals[area.id] = arrival
        await listener?(area)
    }

    /// About how many bytes of a basemap come along with an area, without what other areas have already; nil where its services don't
    /// tell in time.
    nonisolated func estimate(_ basemap: Basemap, area: Envelope) async -> Int64? {
        let layers = AreaShelf.wish(basemap).layers
        guard !layers.isEmpty else { return nil }
        return try? await withDeadline(.seconds(Limits.basemapEstimateSeconds)) { [shelf, makeSource = source] in
            var sum: Int64 = 0
            for layer in layers {
                let source = makeSource(layer)
                let version = try await source.version()
                let plan = try await shelf.tiles.plan(area, service: layer.service, version: version)
                if let missing = plan.missing { sum += try await source.estimate(missing) }
            }
            return sum
        }
    }
}

extension Workspace {
    /// The basemap under a map that can come along with an area of it; nil where there is none.
    func movableBasemap(of map: OpenMap) async -> Basemap? {
        guard let offer = await map.basemaps.chosen(settings.basemap(of: map.key)),
            !AreaShelf.wish(offer.basemap).layers.isEmpty
        else { return nil }
        return offer.basemap
    }

    /// Takes the basemap along that lies under the map now.
    func takeBasemap(along area: OfflineArea, of map: OpenMap) async {
        guard let basemap = await movableBasemap(of: map) else { return }
        await areaBasemaps.take(basemap, along: area)
    }
}
