import BenchResults
import Foundation

/// What 1,000 edits of one attribute weigh on the wire when crews sync, both ways, with everything that goes along.
struct Wire {
    private static let port: UInt16 = 18_490
    private static let size = 100_000

    var bench: Bench
    var folder: URL

    func run() throws {
        guard let ogr2ogr = Offline.tool("ogr2ogr") else {
            return print("bytes on the wire: not measured, GDAL's ogr2ogr, which edits, is not installed")
        }
        let store = folder.appending(path: "wire")
        try FileManager.default.copyItem(at: try bench.loadedStore(Self.size), to: store)
        try Offline.prepare(store, bench.executable)
        let server = try ServerProcess(executable: bench.executable, data: store, port: Self.port)
        defer { server.stop() }
        let relay = try Relay()
        relay.start(to: Self.port)
        defer { relay.stop() }
        let files = ["north", "south"].map { folder.appending(path: "\($0).gpkg") }
        for file in files {
            try Offline.take("http://\(Relay.host):\(relay.port)\(Offline.service)", to: file, bench.executable)
        }
        // What a sync weighs that has nothing to tell.
        for file in files { try sync(file) }
        _ = relay.take()
        try sync(files[0])
        let empty = relay.take()
        let statement = "UPDATE Trees SET height = 41 WHERE OBJECTID % \(Self.size / Changes.edits) = 1"
        try runToEnd(ogr2ogr, ["-update", "-sql", statement, "-f", "GPKG", files[0].path, files[0].path])
        try sync(files[0])
        let handed = relay.take()
        try sync(files[1])
        let fetched = relay.take()
        print("bytes on the wire for \(Changes.edits) edits of one attribute, with HTTP's own:")
        print("  handed in: \(handed.up / Changes.edits) an edit up, \(handed.down / Changes.edits) down")
        print("  fetched: \(fetched.down / Changes.edits) an edit down, \(fetched.up / Changes.edits) up")
        print("  a sync with nothing to tell: \(empty.up) up, \(empty.down) down")
        let figures = [
            (Figure.wireHandedIn, handed.up / Changes.edits), (.wireFetched, fetched.down / Changes.edits),
            (.wireIdle, empty.up + empty.down),
        ]
        for (figure, bytes) in figures { bench.record(figure, Rounds([Double(bytes)]), rows: Self.size) }
    }

    private func sync(_ file: URL) throws { try runToEnd(bench.executable, ["sync", file.path]) }
}
