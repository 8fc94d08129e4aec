import Fieldwork
import Foundation

/// An app to begin with: it takes a layer offline, adds a feature there, and synchronises.
///
///     swift run Starter http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer area.gpkg
@main
struct Starter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let service = URL(string: arguments[1]) else {
            print("Give the address of a feature service and the file for the offline area.")
            exit(64)
        }
        let file = URL(filePath: arguments[2])
        let task = GeodatabaseSyncTask(url: service)
        if !FileManager.default.fileExists(atPath: file.path) { try await takeOffline(task, to: file) }

        let geodatabase = Geodatabase(fileURL: file)
        try await geodatabase.load()
        defer { geodatabase.close() }
        guard let table = geodatabase.featureTables.first else {
            print("The service has no layers.")
            return
        }
        print(
            "\(table.displayName): \(try await table.queryFeatureCount(using: QueryParameters())) features on this device"
        )

        // From here on a crash loses nothing.
        let place = Point(x: 0, y: 0, spatialReference: .wgs84)
        try await table.add(table.makeFeature(attributes: [:], geometry: table.geometryType == nil ? nil : place))

        let parameters = try await task.makeDefaultSyncGeodatabaseParameters(geodatabase: geodatabase)
        let job = task.makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase)
        job.start()
        let results = try await job.output
        print(results.isEmpty ? "Synchronised" : "Refused: \(results)")
    }

    private static func takeOffline(_ task: GeodatabaseSyncTask, to file: URL) async throws {
        let world = Envelope(xMin: -180, yMin: -90, xMax: 180, yMax: 90, spatialReference: .wgs84)
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: world)
        let job = task.makeGenerateGeodatabaseJob(parameters: parameters, downloadFileURL: file)
        job.start()
        try await job.output.close()
    }
}
