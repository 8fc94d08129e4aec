import Fieldwork
import FieldworkTiles
import Foundation
import Logging

/// Takes the basemap along with an area, beside the features, by the SDK's jobs: the map is then drawn without a network. An area is
/// complete without it: its work begins as soon as the features are here.
actor AreaBasemaps {
    private let shelf: AreaShelf
    private let logger: Logger
    private var running: [UUID: Task<Void, Never>] = [:]
    private var arrivals: [UUID: GenerateGeodatabaseJob.Arrival] = [:]
    private var obstacles: [UUID: String] = [:]
    private var listener: (@Sendable (OfflineArea) async -> Void)?

    init(shelf: AreaShelf, logger: Logger) {
        self.shelf = shelf
        self.logger = logger
    }

    /// Called when a basemap has come further.
    func listen(_ listener: @escaping @Sendable (OfflineArea) async -> Void) { self.listener = listener }

    /// Begins to fetch a basemap. When the process ends before, the next start goes on.
    func take(_ basemap: Basemap, along area: OfflineArea) {
        let wish = AreaShelf.wish(basemap)
        guard !wish.layers.isEmpty else { return }
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

    private func run(_ area: OfflineArea) {
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

    private func fetchAll(_ area: OfflineArea) async {
        for layer in shelf.basemapWish(area.id)?.layers ?? [] {
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
            } catch {
                logger.info("a layer of a basemap didn't come with an area", metadata: ["reason": "\(error)"])
            }
            guard !Task.isCancelled else { return }
            try? shelf.changeBasemapWish(of: area.id) { $0.settled.append(layer.file) }
            await listener?(area)
        }
        await tidy()
    }

    private static func isWithoutRoom(_ error: any Error) -> Bool {
        switch error {
        case let error as TileError: error.code == .unwritable
        case let error as CocoaError: error.code == .fileWriteOutOfSpace
        default: false
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

    /// Brings the tiles of a layer: those that no area has yet.
    private func fetch(_ layer: AreaShelf.BasemapWish.Layer, of area: OfflineArea) async throws {
        let part = shelf.basemapFile(layer, of: area.id)
        let begun = try (try? Data(contentsOf: URL(filePath: "\(part.path).job"))).flatMap { try Job.fromJSON($0) }
        var tiles = layer.tiles
        if let begun {
            try await finish(begun, area)
        } else if !FileManager.default.fileExists(atPath: part.path) {
            tiles = try await bring(layer, of: area)
        }
        // An earlier version left the file of the area where it is, and so it stays.
        guard let tiles else { return }
        let isHere = FileManager.default.fileExists(atPath: part.path)
        let bytes = try await takeOver(isHere ? part : nil, tiles, layer, area)
        try? FileManager.default.removeItem(at: part)
        try shelf.changeBasemapWish(of: area.id) { $0.change(layer.file) { $0.tiles?.bytes = bytes } }
    }

    /// Downloads what is missing.
    private func bring(
        _ layer: AreaShelf.BasemapWish.Layer, of area: OfflineArea
    ) async throws -> AreaShelf.BasemapWish.Tiles {
        let source = TileSource(layer)
        let shelf = shelf
        let plan = try await shelf.tiles.begin(area, service: layer.service, version: try await source.version()) { plan in
            try shelf.changeBasemapWish(of: area.id) {
                $0.change(layer.file) { $0.tiles = .init(file: plan.file, isPart: plan.isPart) }
            }
        }
        let tiles = AreaShelf.BasemapWish.Tiles(file: plan.file, isPart: plan.isPart)
        guard let missing = plan.missing else { return tiles }
        let part = shelf.basemapFile(layer, of: area.id)
        do {
            try await finish(try await source.job(missing, to: part), area)
            return tiles
        } catch let error as ServiceError where plan.isPart {
            if case .connectionFailed = error { throw error }
            // A part may lie where the service has no tiles, which it refuses.
            logger.info("a part of a basemap was refused; all of it is asked for", metadata: ["reason": "\(error)"])
            return try await bringAll(layer, of: area, into: plan.file)
        }
    }

    /// Downloads all of an area's tiles, whatever is here already.
    private func bringAll(
        _ layer: AreaShelf.BasemapWish.Layer, of area: OfflineArea, into file: String
    ) async throws -> AreaShelf.BasemapWish.Tiles {
        let tiles = AreaShelf.BasemapWish.Tiles(file: file, isPart: false)
        try shelf.changeBasemapWish(of: area.id) { $0.change(layer.file) { $0.tiles = tiles } }
        try await shelf.tiles.reserve(file, for: area)
        let part = shelf.basemapFile(layer, of: area.id)
        try? FileManager.default.removeItem(at: part)
        try await finish(try await TileSource(layer).job(area.extent, to: part), area)
        return tiles
    }

    /// Puts what came among the tiles of all areas. Tiles of a service that has others now go into a file of their own.
    private func takeOver(
        _ package: URL?, _ tiles: AreaShelf.BasemapWish.Tiles, _ layer: AreaShelf.BasemapWish.Layer, _ area: OfflineArea
    ) async throws -> Int64 {
        do {
            return try await shelf.tiles.complete(tiles.file, for: area, with: package)
        } catch let error as TileError where error.code == .otherVersion {
            let next = shelf.tiles.next(after: tiles.file)
            if tiles.isPart {
                _ = try await bringAll(layer, of: area, into: next)
            } else {
                try shelf.changeBasemapWish(of: area.id) {
                    $0.change(layer.file) { $0.tiles = .init(file: next, isPart: false) }
                }
                try await shelf.tiles.reserve(next, for: area)
            }
            return try await shelf.tiles.complete(next, for: area, with: shelf.basemapFile(layer, of: area.id))
        }
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
        return try? await withDeadline(.seconds(Limits.basemapEstimateSeconds)) { [shelf] in
            var sum: Int64 = 0
            for layer in layers {
                let source = TileSource(layer)
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
