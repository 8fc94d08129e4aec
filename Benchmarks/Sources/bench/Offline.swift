import Foundation

/// What a crew sees: an area taken offline, and the changes of others fetched.
struct Offline {
    var bench: Bench
    var folder: URL
    var store: URL
    var server: ServerProcess

    private var service: String { "http://127.0.0.1:\(server.port)/arcgis/rest/services/Trees/FeatureServer" }

    /// The service as one that can be taken offline.
    static func prepare(_ store: URL, _ executable: URL) throws {
        let document = store.deletingLastPathComponent().appending(path: "sync.json")
        try Data(#"{"capabilities":"Query,Create,Update,Delete,Editing,Sync,ChangeTracking"}"#.utf8).write(to: document)
        try runToEnd(
            executable, ["service", "edit", "Trees", "--merge", "--file", document.path, "--data", store.path])
    }

    func run() throws {
        try takeOffline()
        try changes()
    }

    // MARK: Taking offline

    /// Beside GDAL's copy of the same rows from GeoPackage to GeoPackage.
    private func takeOffline() throws {
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
                    try runToEnd(
                        bench.executable,
                        [
                            "offline", "create", service, "--extent", "-20000000,-20000000,20000000,20000000", "--wkid",
                            "3857", "--out", area.path,
                        ])
                })
            for file in [copy, area] { try FileManager.default.removeItem(at: file) }
        }
        print("\(bench.features) points offline, seconds:")
        print("  ogr2ogr, GeoPackage to GeoPackage: \(floor.text)")
        print("  fieldwork offline create: \(taken.text), \(ratio(taken, floor)) times ogr2ogr")
    }

    // MARK: Changes

    private static let edits = 1_000

    /// 1,000 edits of attributes among all the rows, and what it takes to be told of them.
    private func changes() throws {
        let connection = try Connection(port: server.port)
        let root = "/arcgis/rest/services/Trees/FeatureServer"
        func form(_ fields: [(String, String)]) -> [UInt8] {
            let allowed = CharacterSet.alphanumerics
            return Array(
                fields.map { "\($0.0)=\($0.1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }
                    .joined(separator: "&").utf8)
        }
        let before = try generation(connection, root)
        let step = bench.features / Self.edits
        let updates = (0..<Self.edits).map { #"{"attributes":{"OBJECTID":\#(1 + $0 * step),"height":7}}"# }
        let answer = try connection.post(
            "\(root)/0/updateFeatures",
            form: form([("f", "json"), ("features", "[\(updates.joined(separator: ","))]")]))
        let text = String(decoding: answer, as: UTF8.self)
        guard text.contains(#""success":true"#), !text.contains(#""success":false"#) else {
            throw ConnectionError(message: String(text.prefix(500)))
        }
        let request = form([
            ("f", "json"), ("layers", "[0]"), ("serverGens", "[\(before)]"), ("returnUpdates", "true"),
            ("transportType", "esriTransportTypeEmbedded"),
        ])
        var times = Rounds()
        var bytes = 0
        for _ in 0..<max(bench.rounds, 5) * 4 {
            times.add(
                try seconds { bytes = try connection.post("\(root)/extractChanges", form: request).count } * 1_000)
        }
        print("the changes of \(Self.edits) edits on \(bench.features) rows, milliseconds: \(times.text)")
        print("  \(bytes / Self.edits) bytes an edit before compression, whole features as the protocol gives them")
        try compare(times)
    }

    private func generation(_ connection: Connection, _ root: String) throws -> Int64 {
        let json = try JSONSerialization.jsonObject(with: Data(connection.get("\(root)?f=json"))) as? [String: Any]
        let info = json?["changeTrackingInfo"] as? [String: Any]
        let layers = info?["layerServerGens"] as? [[String: Any]]
        guard let generation = layers?.first?["serverGen"] as? Int else {
            throw ConnectionError(message: "the service does not track changes")
        }
        return Int64(generation)
    }

    /// pygeodiff compares two copies of the file; it has no log to look into.
    private func compare(_ times: Rounds) throws {
        guard let python = Self.tool("python3"), let ogr2ogr = Self.tool("ogr2ogr") else { return }
        let (base, modified) = (file("base.gpkg"), file("modified.gpkg"))
        try runToEnd(ogr2ogr, ["-f", "GPKG", base.path, store.appending(path: "Trees.gpkg").path, "Trees"])
        try FileManager.default.copyItem(at: base, to: modified)
        let step = bench.features / Self.edits
        try runToEnd(
            ogr2ogr,
            [
                "-update", "-sql", "UPDATE Trees SET height = 8 WHERE OBJECTID % \(step) = 1", "-f", "GPKG",
                modified.path,
                modified.path,
            ])
        let script = """
            import sys, time
            try:
                import pygeodiff
            except ImportError:
                sys.exit("not measured: the Python package pygeodiff is not installed")
            times = []
            for _ in range(5):
                begun = time.perf_counter()
                pygeodiff.GeoDiff().create_changeset(sys.argv[1], sys.argv[2], sys.argv[3])
                times.append(time.perf_counter() - begun)
            print("  pygeodiff on two copies: %.0f ms" % (sorted(times)[2] * 1000))
            """
        try? runToEnd(python, ["-c", script, base.path, modified.path, file("changes.diff").path])
    }

    // MARK: Support

    private func file(_ name: String) -> URL { folder.appending(path: name) }

    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        let started = ContinuousClock.now
        try body()
        return started.duration(to: .now) / .seconds(1)
    }

    private func ratio(_ one: Rounds, _ other: Rounds) -> String { String(format: "%.2f", one.median / other.median) }

    private static func tool(_ name: String) -> URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map { URL(filePath: String($0)).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
