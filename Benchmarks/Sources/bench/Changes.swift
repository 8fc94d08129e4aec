import BenchResults
import Foundation

/// What it takes to be told of 1,000 edits among layers of different sizes, measured in turn.
struct Changes {
    /// One layer that is served, and the edits that are asked for.
    private struct Subject {
        var size: Int
        var store: URL
        var server: ServerProcess
        var connection: Connection
        var request: [UInt8]
        var times = Rounds()
        var bytes = 0
    }

    static let edits = 1_000
    private static let root = "/arcgis/rest/services/Trees/FeatureServer"
    private static let firstPort: UInt16 = 18_480

    var bench: Bench
    var folder: URL

    func run() throws {
        var subjects: [Subject] = []
        defer { for subject in subjects { subject.server.stop() } }
        for (index, size) in bench.sizes.enumerated() {
            subjects.append(try subject(size, port: Self.firstPort + UInt16(index)))
        }
        for _ in 0..<max(bench.rounds, 3) * 10 {
            for index in subjects.indices { try ask(&subjects[index]) }
        }
        guard let first = subjects.first else { return }
        print("the changes of \(Self.edits) edits, milliseconds:")
        for subject in subjects {
            print(
                "  on \(subject.size) rows: \(subject.times.text), \(subject.times.times(first.times)) those on \(first.size)"
            )
            bench.record(.changes, subject.times, rows: subject.size)
        }
        print(
            "  \(first.bytes / Self.edits) bytes an edit before compression, whole features as the protocol gives them")
        for subject in subjects where subject.size <= 1_000_000 { try compare(subject) }
    }

    private func subject(_ size: Int, port: UInt16) throws -> Subject {
        let store = folder.appending(path: "changes-\(size)")
        try FileManager.default.copyItem(at: try bench.loadedStore(size), to: store)
        try Offline.prepare(store, bench.executable)
        let server = try ServerProcess(executable: bench.executable, data: store, port: port)
        let connection = try Connection(port: port)
        let before = try generation(connection)
        let step = size / Self.edits
        let updates = (0..<Self.edits).map { #"{"attributes":{"OBJECTID":\#(1 + $0 * step),"height":7}}"# }
        let answer = try connection.post(
            "\(Self.root)/0/updateFeatures",
            form: Self.form([("f", "json"), ("features", "[\(updates.joined(separator: ","))]")]))
        let text = String(decoding: answer, as: UTF8.self)
        guard text.contains(#""success":true"#), !text.contains(#""success":false"#) else {
            throw ConnectionError(message: String(text.prefix(500)))
        }
        let request = Self.form([
            ("f", "json"), ("layers", "[0]"), ("serverGens", "[\(before)]"), ("returnUpdates", "true"),
            ("transportType", "esriTransportTypeEmbedded"),
        ])
        return Subject(size: size, store: store, server: server, connection: connection, request: request)
    }

    private func ask(_ subject: inout Subject) throws {
        let started = ContinuousClock.now
        let answer = try subject.connection.post("\(Self.root)/extractChanges", form: subject.request)
        subject.times.add(started.duration(to: .now) / .milliseconds(1))
        subject.bytes = answer.count
    }

    private static func form(_ fields: [(String, String)]) -> [UInt8] {
        Array(
            fields.map { "\($0.0)=\($0.1.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
                .joined(separator: "&").utf8)
    }

    private func generation(_ connection: Connection) throws -> Int64 {
        let json =
            try JSONSerialization.jsonObject(with: Data(connection.get("\(Self.root)?f=json"))) as? [String: Any]
        let info = json?["changeTrackingInfo"] as? [String: Any]
        let layers = info?["layerServerGens"] as? [[String: Any]]
        guard let generation = layers?.first?["serverGen"] as? Int else {
            throw ConnectionError(message: "the service does not track changes")
        }
        return Int64(generation)
    }

    /// pygeodiff compares two copies of the file; it has no log to look into.
    private func compare(_ subject: Subject) throws {
        guard let python = Offline.tool("python3"), let ogr2ogr = Offline.tool("ogr2ogr") else { return }
        let (base, modified) = (folder.appending(path: "base.gpkg"), folder.appending(path: "modified.gpkg"))
        let difference = folder.appending(path: "changes.diff")
        for file in [base, modified, difference] { try? FileManager.default.removeItem(at: file) }
        try runToEnd(ogr2ogr, ["-f", "GPKG", base.path, subject.store.appending(path: "Trees.gpkg").path, "Trees"])
        try FileManager.default.copyItem(at: base, to: modified)
        let step = subject.size / Self.edits
        let statement = "UPDATE Trees SET height = 8 WHERE OBJECTID % \(step) = 1"
        try runToEnd(ogr2ogr, ["-update", "-sql", statement, "-f", "GPKG", modified.path, modified.path])
        let script = """
            import sys, time
            try:
                import pygeodiff
            except ImportError:
                sys.exit("  pygeodiff: not measured, the Python package is not installed")
            times = []
            for _ in range(5):
                begun = time.perf_counter()
                pygeodiff.GeoDiff().create_changeset(sys.argv[1], sys.argv[2], sys.argv[3])
                times.append(time.perf_counter() - begun)
            print("  pygeodiff on two copies of \(subject.size) rows: %.0f ms" % (sorted(times)[2] * 1000), flush=True)
            """
        try? runToEnd(python, ["-c", script, base.path, modified.path, difference.path])
    }
}
