import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Clients that others wrote, against the running server.
@Suite("Foreign clients", .fewAtATime)
struct ForeignClientTests {
    private static let hasGDAL = Tool.isInstalled("ogrinfo") && Tool.isInstalled("ogr2ogr")
    private static let query = "query?where=1%3D1&outFields=*&orderByFields=OBJECTID"

    @Test(
        "ogrinfo reads the schema, and counts and bounds all features over the pages",
        .enabled(if: hasGDAL, "GDAL is not installed"))
    func ogrinfo() async throws {
        try await TemporaryStore.serve(trees: 2_345) { server, _ in
            let address = "ESRIJSON:\(server.running.servicesAddress)/Trees/FeatureServer/0/\(Self.query)&f=json"
            let output = try await Tool.run("ogrinfo", ["-ro", "-al", "-so", address])
            #expect(output.status == 0, "\(output.standardError)")
            #expect(output.standardError.isEmpty)
            #expect(output.text.contains("Feature Count: 2345"))
            #expect(output.text.contains("Geometry: Point"))
            #expect(output.text.contains("(0.000000, 0.000000) - (990.000000, 230.000000)"))
            #expect(output.text.contains("Name: String (20.0)"))
            #expect(output.text.contains("Height: Real"))
        }
    }

    @Test(
        "ogr2ogr copies every feature, page by page", .enabled(if: hasGDAL, "GDAL is not installed"),
        arguments: ["json", "geojson"])
    func ogr2ogr(format: String) async throws {
        try await TemporaryStore.serve(trees: 2_345) { server, _ in
            let copy = FileManager.default.temporaryDirectory.appending(path: "fieldwork-copy-\(UUID().uuidString).csv")
            defer { try? FileManager.default.removeItem(at: copy) }
            let prefix = format == "json" ? "ESRIJSON:" : ""
            let address = "\(prefix)\(server.running.servicesAddress)/Trees/FeatureServer/0/\(Self.query)&f=\(format)"
            let output = try await Tool.run("ogr2ogr", ["-f", "CSV", copy.path, address, "-lco", "GEOMETRY=AS_XY"])
            #expect(output.status == 0, "\(output.standardError)")
            let lines = try String(contentsOf: copy, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 2_346)
            let header = try #require(lines.first).split(separator: ",")
            let column = try #require(header.firstIndex(of: "Stems"))
            let stems = lines.dropFirst().compactMap { line in
                // GDAL quotes whole numbers, so that spreadsheets keep them whole.
                Int(line.split(separator: ",", omittingEmptySubsequences: false)[column].filter { $0 != "\"" })
            }
            #expect(stems.count == 2_345, "\(lines.prefix(3))")
            #expect(stems.sorted().elementsEqual(1...2_345))
        }
    }
}
