import Fieldwork
import Foundation

/// Where the tiles of an area come from.
protocol TileSource: Sendable {
    /// Which version of its tiles there is; nil where that isn't told.
    func version() async throws -> String?
    /// A job that brings a part; it is not started.
    func job(_ part: Geometry, to file: URL) async throws -> Job
    /// A job that an earlier process had begun.
    /// - Parameters:
    ///   - state: as it was kept.
    ///   - file: where the part comes.
    func job(begunAs state: Data, to file: URL) throws -> Job
    /// About how many bytes a part has.
    func estimate(_ part: Geometry) async throws -> Int64
}

/// A service that gives parts of its tiles to be taken along, of vector tiles or of images.
struct ServiceTileSource: TileSource {
    private let service: URL
    private let isVector: Bool

    init(_ layer: AreaShelf.BasemapWish.Layer) {
        service = layer.service
        isVector = layer.isVector
    }

    func version() async throws -> String? {
        if isVector {
            let task = ExportVectorTilesTask(url: service)
            try await task.load()
            return task.tilesVersion
        }
        let task = ExportTileCacheTask(url: service)
        try await task.load()
        return task.tilesVersion
    }

    func job(begunAs state: Data, to file: URL) throws -> Job {
        guard let job = try Job.fromJSON(state) else {
            throw CollectError(.notFound, "\(file.lastPathComponent).job is the state of no job.")
        }
        return job
    }

    func job(_ part: Geometry, to file: URL) async throws -> Job {
        if isVector {
            let task = ExportVectorTilesTask(url: service)
            let parameters = try await task.makeDefaultExportVectorTilesParameters(areaOfInterest: part)
            return task.makeExportVectorTilesJob(parameters: parameters, downloadFileURL: file)
        }
        let task = ExportTileCacheTask(url: service)
        return task.makeExportTileCacheJob(parameters: try await Self.images(task, part), downloadFileURL: file)
    }

    func estimate(_ part: Geometry) async throws -> Int64 {
        // The operation is the same for vector tiles.
        let task = ExportTileCacheTask(url: isVector ? ExportVectorTilesTask(url: service).url : service)
        let job = task.makeEstimateTileCacheSizeJob(parameters: try await Self.images(task, part))
        job.start()
        return try await job.output.fileSize
    }

    private static func images(
        _ task: ExportTileCacheTask, _ part: Geometry
    ) async throws -> ExportTileCacheParameters {
        try await task.makeDefaultExportTileCacheParameters(areaOfInterest: part, minScale: 0, maxScale: 0)
    }
}
