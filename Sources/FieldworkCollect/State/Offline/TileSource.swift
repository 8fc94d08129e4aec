import Fieldwork
import Foundation

/// A service that gives parts of its tiles to be taken along, of vector tiles or of images.
struct TileSource: Sendable {
    private let service: URL
    private let isVector: Bool

    init(_ layer: AreaShelf.BasemapWish.Layer) {
        service = layer.service
        isVector = layer.isVector
    }

    /// Which version of its tiles the service has; nil where it doesn't tell.
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

    /// A job that brings a part; it is not started.
    func job(_ part: Geometry, to file: URL) async throws -> Job {
        if isVector {
            let task = ExportVectorTilesTask(url: service)
            let parameters = try await task.makeDefaultExportVectorTilesParameters(areaOfInterest: part)
            return task.makeExportVectorTilesJob(parameters: parameters, downloadFileURL: file)
        }
        let task = ExportTileCacheTask(url: service)
        return task.makeExportTileCacheJob(parameters: try await Self.images(task, part), downloadFileURL: file)
    }

    /// About how many bytes a part has.
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
