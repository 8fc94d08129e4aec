import FieldworkGeometry
import FieldworkREST
import Foundation

@testable import Fieldwork
@testable import FieldworkCollect

/// A service of vector tiles at the end of a simulated line: the SDK's own tasks and jobs.
struct SimulatedTileSource: TileSource {
    let environment: ServiceEnvironment

    static let service = URL(
        string: "\(SimulatedServer.origin)/arcgis/rest/services/\(TownTiles.name)/VectorTileServer")

    private func task() throws -> ExportVectorTilesTask {
        guard let url = Self.service else { throw SimulatedNetwork.lost }
        return ExportVectorTilesTask(url: url, environment: environment)
    }

    func version() async throws -> String? {
        let task = try task()
        try await task.load()
        return task.tilesVersion
    }

    func job(_ part: Geometry, to file: URL) async throws -> Job {
        let task = try task()
        let parameters = try await task.makeDefaultExportVectorTilesParameters(areaOfInterest: part)
        return task.makeExportVectorTilesJob(parameters: parameters, downloadFileURL: file)
    }

    func job(begunAs state: Data, to file: URL) throws -> Job {
        var object = try JSONParser.parse(state).objectValue ?? JSONObject()
        // The folder has another name for every process.
        object["file"] = .string(file.path)
        return try ExportVectorTilesJob(snapshot: .object(object), environment: environment)
    }

    func estimate(_ part: Geometry) async throws -> Int64 { 0 }
}
