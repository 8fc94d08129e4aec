import BrowserSupport
import Fieldwork
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkCollect

/// Files of the user's, as other programs leave them on a device.
enum FileField {
    /// What `fieldwork offline create` makes: the four points in the south-west, or more.
    static func takeAlong(_ field: DamageField, to file: URL) async throws {
        let task = GeodatabaseSyncTask(
            url: field.services.root.appending(path: "\(DamageField.service.name)/FeatureServer"))
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(
            extent: Envelope(xMin: -98.05, yMin: 37.95, xMax: -97.85, yMax: 38.15, spatialReference: .wgs84))
        let job = task.makeGenerateGeodatabaseJob(parameters: parameters, downloadFileURL: file)
        job.start()
        try await job.output.close()
    }

    static let gdal = ["/usr/bin/ogr2ogr", "/usr/local/bin/ogr2ogr"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// What GDAL makes of two benches, which belong to no service.
    static func makeBenches(at file: URL) async throws {
        let program = try #require(gdal)
        let source = file.deletingPathExtension().appendingPathExtension("geojson")
        let features = [(1, "Bench by the pond"), (2, "Bench at the gate")].map { number, name in
            """
            {"type":"Feature","properties":{"name":"\(name)","seats":\(number + 1)},
            "geometry":{"type":"Point","coordinates":[-97.9\(number),38.0\(number)]}}
            """
        }
        try Data(#"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#.utf8).write(
            to: source)
        let ended = try await ChildProcess.runAside(
            program, ["-f", "GPKG", file.path, source.path, "-nln", "benches"])
        guard ended.status == 0 else { throw CollectError(.notFound, "ogr2ogr failed") }
        try FileManager.default.removeItem(at: source)
    }

    /// The id that the app gave to the file's area, read from the page that takes it off the list.
    static func area(_ visitor: PlainClient) async throws -> String {
        let page = try await visitor.get("/offline").text
        return String(try #require(page.firstMatch(of: /\/offline\/([0-9a-f-]{36})\/delete/)).1)
    }
}
