import Foundation
import Testing

/// Programs that others wrote take whole layers of the demo away, and have what the GeoPackage has.
@Suite("Strangers", .serialized)
struct StrangerTests {
    /// What `scripts/setup test` installs of the Python registry.
    private static let python = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: ".fieldwork/python")
    private static let hasDumper =
        FileManager.default.fileExists(atPath: python.appending(path: "esridump").path) || isCI
    private static let hasGDAL = Shell.has("ogr2ogr") || isCI
    /// Where nothing may be missing.
    private static let isCI = ProcessInfo.processInfo.environment["CI"] != nil

    struct Layer: Sendable, CustomTestStringConvertible {
        var service: String
        var id: Int
        var name: String
        var count: Int
        var testDescription: String { "\(service)/\(name)" }
    }

    private static let layers = [
        Layer(service: "DamageAssessment", id: 0, name: "Damage reports", count: 5_000),
        Layer(service: "SaveTheBaySync", id: 0, name: "Birds", count: 100),
        Layer(service: "SaveTheBaySync", id: 1, name: "Marine", count: 100),
        Layer(service: "TreesOfPortland", id: 0, name: "Trees", count: 60_000),
        Layer(service: "TreesOfPortland", id: 1, name: "Neighborhoods", count: 10),
    ]

    private static let tables = [
        Layer(service: "TreesOfPortland", id: 2, name: "Species", count: 20),
        Layer(service: "TreesOfPortland", id: 3, name: "Inspections", count: 20_000),
    ]

    /// A feature as two sources can both tell it: moments in seconds, the corners of its geometry without their order.
    struct Feature: Hashable {
        var attributes: [String: String]
        var corners: Set<[Int]>
    }

    @Test(
        "GDAL pages through every layer and table, and has what the GeoPackage has",
        .enabled(if: hasGDAL, "GDAL is not installed"))
    func gdal() async throws {
        let folder = try TemporaryFolder()
        let demo = try FieldworkProcess.start(["demo", "--data", folder.url.path, "--port", "0"])
        _ = try await demo.readyLine()
        for layer in Self.layers + Self.tables {
            let address = "\(demo.services)/\(layer.service)/FeatureServer/\(layer.id)/query"
            let query = "where=1%3D1&outFields=*&orderByFields=OBJECTID&f=json"
            let served = try await Self.converted(
                "'ESRIJSON:\(address)?\(query)'", in: folder.url, digits: 6)
            let stored = try await Self.converted(
                "'\(folder.url.path)/\(layer.service).gpkg' '\(layer.name)'", in: folder.url, digits: 6)
            #expect(stored.count >= layer.count, "\(layer)")
            try Self.compare(served, stored, layer)
        }
        #expect(await demo.interrupt() == 0)
    }

    @Test(
        "The dumper of the Python registry has what the GeoPackage has",
        .enabled(if: hasDumper && hasGDAL, "esridump or GDAL is not installed"))
    func dumper() async throws {
        let folder = try TemporaryFolder()
        let demo = try FieldworkProcess.start(["demo", "--data", folder.url.path, "--port", "0"])
        _ = try await demo.readyLine()
        // It rests ten seconds after every five requests: the 60,000 trees would take minutes.
        for layer in Self.layers where layer.name != "Trees" {
            let file = folder.url.appending(path: "dump.json")
            let address = "\(demo.services)/\(layer.service)/FeatureServer/\(layer.id)"
            let status = try await Shell.run(
                "PYTHONPATH='\(Self.python.path)' python3 -m esridump.cli '\(address)' '\(file.path)' >/dev/null 2>&1")
            #expect(status == 0)
            let stored = try await Self.converted(
                "'\(folder.url.path)/\(layer.service).gpkg' '\(layer.name)' -t_srs EPSG:4326", in: folder.url, digits: 5
            )
            try Self.compare(try Self.features(at: file, digits: 5), stored, layer)
        }
        #expect(await demo.interrupt() == 0)
    }

    private static func compare(_ served: [String: Feature], _ stored: [String: Feature], _ layer: Layer) throws {
        #expect(served.count == stored.count, "\(layer)")
        for (id, feature) in stored {
            let other = try #require(served[id], "\(layer): \(id) is missing")
            guard isSame(other.corners, feature.corners) else {
                Issue.record("\(layer): \(id) lies elsewhere: \(other.corners) instead of \(feature.corners)")
                return
            }
            // The object id is no column of a GeoPackage's layer for GDAL.
            for (name, value) in feature.attributes where other.attributes[name] != value {
                Issue.record(
                    "\(layer): \(id) has \(other.attributes[name] ?? "nothing") instead of \(value) in \(name)")
                return
            }
        }
    }

    /// Whether each corner of one has one of the other in its cell or beside it: a digit may round either way.
    private static func isSame(_ one: Set<[Int]>, _ other: Set<[Int]>) -> Bool {
        func holds(_ corners: Set<[Int]>, _ corner: [Int]) -> Bool {
            if corners.contains(corner) { return true }
            return corners.contains { $0.count == corner.count && zip($0, corner).allSatisfy { abs($0 - $1) <= 1 } }
        }
        return one.allSatisfy { holds(other, $0) } && other.allSatisfy { holds(one, $0) }
    }

    /// The features of what GDAL opens, by global id.
    private static func converted(_ source: String, in folder: URL, digits: Int) async throws -> [String: Feature] {
        let file = folder.appending(path: "converted-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let status = try await Shell.run(
            "ogr2ogr -f GeoJSON -lco RFC7946=NO -lco COORDINATE_PRECISION=9 '\(file.path)' \(source) 2>/dev/null")
        try #require(status == 0, "\(source)")
        return try features(at: file, digits: digits)
    }

    private static func features(at file: URL, digits: Int) throws -> [String: Feature] {
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        var features: [String: Feature] = [:]
        for feature in try #require(json?["features"] as? [[String: Any]]) {
            let properties = try #require(feature["properties"] as? [String: Any])
            let id = try #require(properties["GlobalID"] as? String)
            #expect(features[id] == nil, "\(id) came twice")
            var corners: Set<[Int]> = []
            let scale = pow(10, Double(digits - 2))
            collect((feature["geometry"] as? [String: Any])?["coordinates"], scale, &corners)
            features[id] = Feature(attributes: properties.compactMapValues(text), corners: corners)
        }
        return features
    }

    /// Nulls are left out: one source lists them, another doesn't.
    private static func text(_ value: Any) -> String? {
        if value is NSNull { return nil }
        if let number = value as? NSNumber { return text(ofNumber: number.doubleValue) }
        guard let text = value as? String else { return nil }
        if let moment = try? Date(text, strategy: .iso8601) { return Self.text(ofNumber: moment.timeIntervalSince1970) }
        if let number = Double(text) { return Self.text(ofNumber: number) }
        return text
    }

    /// Milliseconds and seconds since 1970 are the same moment.
    private static func text(ofNumber number: Double) -> String {
        number > 1e11 ? "\((number / 1_000).rounded(.down))" : "\(number)"
    }

    private static func collect(_ coordinates: Any?, _ scale: Double, _ corners: inout Set<[Int]>) {
        if let numbers = coordinates as? [NSNumber] {
            corners.insert(numbers.map { Int(($0.doubleValue * scale).rounded()) })
        } else {
            for part in coordinates as? [Any] ?? [] { collect(part, scale, &corners) }
        }
    }
}
