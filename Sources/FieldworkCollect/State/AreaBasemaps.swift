import Fieldwork
import Foundation
import Logging

extension AreaShelf {
    private static let basemapName = "basemap-"

    /// The layers of tiles that are to come along with an area, by their order from below.
    struct BasemapWish: Codable, Sendable, Hashable {
        struct Layer: Codable, Sendable, Hashable {
            var service: URL
            var isVector: Bool
            /// Whether it lies over the features.
            var isReference: Bool
            var file: String
        }

        var layers: [Layer]
        /// Those that have come or can't come.
        var settled: [String] = []

        var isSettled: Bool { layers.allSatisfy { settled.contains($0.file) } }
    }

    private func basemapWishFile(_ id: UUID) -> URL { folder(id).appending(path: "basemap.json") }

    func basemapFile(_ layer: BasemapWish.Layer, of id: UUID) -> URL {
        folder(id).appending(path: layer.file, directoryHint: .notDirectory)
    }

    func basemapWish(_ id: UUID) -> BasemapWish? {
        (try? Data(contentsOf: basemapWishFile(id))).flatMap { try? JSONDecoder().decode(BasemapWish.self, from: $0) }
    }

    func setBasemapWish(_ wish: BasemapWish, of id: UUID) throws {
        try SafeFile.write(JSONEncoder().encode(wish), to: basemapWishFile(id))
    }

    /// The basemap that was taken along with an area, or with what it was extended by; nil where there is none.
    func basemap(_ id: UUID) -> Basemap? {
        for holder in [area(id)?.holder, id].compactMap({ $0 }) {
            guard let wish = basemapWish(holder) else { continue }
            let here = wish.layers.filter {
                FileManager.default.fileExists(atPath: basemapFile($0, of: holder).path)
            }
            guard !here.isEmpty else { continue }
            func layers(_ isReference: Bool) -> [Layer] {
                here.filter { $0.isReference == isReference }.map { layer in
                    let file = basemapFile(layer, of: holder)
                    return layer.isVector
                        ? ArcGISVectorTiledLayer(vectorTileCache: VectorTileCache(fileURL: file))
                        : ArcGISTiledLayer(tileCache: TileCache(fileURL: file))
                }
            }
            return Basemap(baseLayers: layers(false), referenceLayers: layers(true))
        }
        return nil
    }

    /// Bytes of the basemap that was taken along with an area.
    func basemapSize(_ id: UUID) -> Int64 {
        for holder in [area(id)?.holder, id].compactMap({ $0 }) {
            let sizes = (basemapWish(holder)?.layers ?? []).compactMap { layer -> Int64? in
                let path = basemapFile(layer, of: holder).path
                return ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.int64Value
            }
            if !sizes.isEmpty { return sizes.reduce(0, +) }
        }
        return 0
    }

    /// Whether the basemap of an area is still on its way.
    func awaitsBasemap(_ id: UUID) -> Bool { basemapWish(id)?.isSettled == false }

    /// The layers of a basemap that a service gives parts of, from below.
    static func wish(_ basemap: Basemap) -> BasemapWish {
        var layers: [BasemapWish.Layer] = []
        for (layer, isReference) in BasemapShelf.layers(basemap) {
            let number = layers.count + 1
            switch layer {
            case let layer as ArcGISVectorTiledLayer:
                guard let url = layer.url else { continue }
                layers.append(
                    .init(
                        service: url, isVector: true, isReference: isReference,
                        file: "\(basemapName)\(number).vtpk"))
            case let layer as ArcGISTiledLayer:
                guard let url = layer.url else { continue }
                layers.append(
                    .init(
                        service: url, isVector: false, isReference: isReference,
                        file: "\(basemapName)\(number).tpkx"))
            default: continue
            }
        }
        return BasemapWish(layers: layers)
    }
}

/// Takes the basemap along with an area, beside the features, by the SDK's jobs: the map is then drawn without a network. An area is
/// complete without it: its work begins as soon as the features are here.
actor AreaBasemaps {
    private let shelf: AreaShelf
    private let logger: Logger
    private var running: [UUID: Task<Void, Never>] = [:]
    private var arrivals: [UUID: GenerateGeodatabaseJob.Arrival] = [:]
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
    func goOn() {
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
            }
            for layer in shelf.basemapWish(area.id)?.layers ?? [] {
                guard !Task.isCancelled, var wish = shelf.basemapWish(area.id) else { return }
                guard !wish.settled.contains(layer.file) else { continue }
                do {
                    try await fetch(layer, of: area)
                } catch is CancellationError {
                    return
                } catch ServiceError.connectionFailed {
                    // It is asked again at the next start.
                    continue
                } catch {
                    logger.info("a layer of a basemap didn't come with an area", metadata: ["reason": "\(error)"])
                }
                wish.settled.append(layer.file)
                guard !Task.isCancelled else { return }
                try? shelf.setBasemapWish(wish, of: area.id)
                await listener?(area)
            }
        }
    }

    private func fetch(_ layer: AreaShelf.BasemapWish.Layer, of area: OfflineArea) async throws {
        let file = shelf.basemapFile(layer, of: area.id)
        let begun = try (try? Data(contentsOf: URL(filePath: "\(file.path).job"))).flatMap { try Job.fromJSON($0) }
        if begun == nil, FileManager.default.fileExists(atPath: file.path) { return }
        if layer.isVector {
            let job: ExportVectorTilesJob
            if let known = begun as? ExportVectorTilesJob {
                job = known
            } else {
                let task = ExportVectorTilesTask(url: layer.service)
                let parameters = try await task.makeDefaultExportVectorTilesParameters(areaOfInterest: area.extent)
                job = task.makeExportVectorTilesJob(parameters: parameters, downloadFileURL: file)
            }
            _ = try await finish(job, area) { job.arrived }
        } else {
            let job: ExportTileCacheJob
            if let known = begun as? ExportTileCacheJob {
                job = known
            } else {
                let task = ExportTileCacheTask(url: layer.service)
                let parameters = try await task.makeDefaultExportTileCacheParameters(
                    areaOfInterest: area.extent, minScale: 0, maxScale: 0)
                job = task.makeExportTileCacheJob(parameters: parameters, downloadFileURL: file)
            }
            _ = try await finish(job, area) { job.arrived }
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

    /// About how many bytes of a basemap an area takes; nil where its services don't tell in time.
    static func estimate(_ basemap: Basemap, area: Envelope) async -> Int64? {
        let layers = AreaShelf.wish(basemap).layers
        guard !layers.isEmpty else { return nil }
        return try? await withDeadline(.seconds(Limits.basemapEstimateSeconds)) {
            var sum: Int64 = 0
            for layer in layers {
                // The operation is the same for vector tiles.
                let url = layer.isVector ? ExportVectorTilesTask(url: layer.service).url : layer.service
                let task = ExportTileCacheTask(url: url)
                let job = task.makeEstimateTileCacheSizeJob(
                    parameters: try await task.makeDefaultExportTileCacheParameters(
                        areaOfInterest: area, minScale: 0, maxScale: 0))
                job.start()
                sum += try await job.output.fileSize
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
