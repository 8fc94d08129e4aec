import BenchResults
import Foundation

/// What a crew sees first: an area taken offline.
struct Offline {
    var bench: Bench
    var folder: URL
    var store: URL
    var server: ServerProcess

    static let service = "/arcgis/rest/services/Trees/FeatureServer"

    /// The service as one that can be taken offline.
    static func prepare(_ store: URL, _ executable: URL) throws {
        let document = store.deletingLastPathComponent().appending(path: "sync.json")
        try Data(#"{"capabilities":"Query,Create,Update,Delete,Editing,Sync,ChangeTracking"}"#.utf8).write(to: document)
        try runToEnd(
            executable, ["service", "edit", "Trees", "--merge", "--file", document.path, "--data", store.path])
    }

    /// All of a service's points.
    static func take(_ service: String, to file: URL, _ executable: URL) throws {
        try runToEnd(
            executable,
            [
                "offline", "create", service, "--extent", "-20000000,-20000000,20000000,20000000", "--wkid", "3857",
                "--out", file.path,
            ])
    }

    /// Beside GDAL's copy of the same rows from GeoPackage to GeoPackage.
    func run() throws {
        guard let ogr2ogr = Self.tool("ogr2ogr") else {
            return print("taking offline: not measured, GDAL's ogr2ogr is not installed")
        }
        var floor = Rounds()
        var taken = Rounds()
        for round in 0..<bench.rounds {
            let (copy, area) = (file("copy-\(round).gpkg"), file("area-\(round).gpkg"))
            floor.add(
                try seconds {
                    try runToEnd(ogr2ogr, ["-f", "GPKG", copy.path, store.appending(path: "Trees.gpkg").path, "Trees"])
                })
            taken.add(
                try seconds {
                    try Self.take("http://127.0.0.1:\(server.port)\(Self.service)", to: area, bench.executable)
                })
            for file in [copy, area] { try FileManager.default.removeItem(at: file) }
        }
        print("\(bench.features) points offline; floor: ogr2ogr, GeoPackage to GeoPackage")
        bench.report(.offline, taken, floor: floor)
    }

    // MARK: Support

    private func file(_ name: String) -> URL { folder.appending(path: name) }

    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        let started = ContinuousClock.now
        try body()
        return started.duration(to: .now) / .seconds(1)
    }

    static func tool(_ name: String) -> URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map { URL(filePath: String($0)).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
