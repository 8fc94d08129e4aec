import BenchResults
import Foundation

/// Measures `fieldwork serve` beside plain SQLite in one run, interleaved, and prints figures and ratios.
@main
struct Bench {
    static let usage = """
        usage: bench [--features N] [--rounds N] [--seconds S] [--data DIR] [--fieldwork PATH] [--record]
               bench history [FIGURE] [--results DIR]
          --features  points to load (1000000)
          --rounds    how often each measurement is taken, in turn (5)
          --seconds   length of one measurement (3)
          --data      where to keep the loaded data between runs (.build/bench-data)
          --parts     what to measure: service, offline, changes, wire, related, sdk; and app (all but that)
          --sizes     rows of the layers whose changes are measured, and that apps fetch (100000,1000000)
          --fieldwork the executable to measure (.build/release/fieldwork); bench-sdk is expected beside it
          --peers     what to ask for the same boxes, where it is installed: mapserver, tipg; or none (mapserver,tipg)
          --python    the Python that has tipg (.build/peers/bin/python, or python3)
          --record    keep the figures as a file of --results
          --results   where earlier results are, with which this one is compared (Benchmarks/results)
          --commit    the commit that the executable was built from (the one of the working copy)
        "history" prints what was recorded of a figure, or the names of all figures.
        """

    var features = 1_000_000
    var rounds = 5
    var seconds = 3.0
    var data = URL(filePath: ".build/bench-data")
    var executable = URL(filePath: ".build/release/fieldwork")
    var parts = ["service", "offline", "changes", "wire", "related", "sdk"]
    var sizes = [100_000, 1_000_000]
    var peers = "mapserver,tipg"
    var python = Bench.tipgPython
    var isRecorded = false
    var results = URL(filePath: "Benchmarks/results")
    var commit: String?
    let recorder = Recorder()

    private static var tipgPython: String {
        let own = ".build/peers/bin/python"
        return FileManager.default.isExecutableFile(atPath: own) ? own : "python3"
    }

    static func main() {
        do {
            try start()
        } catch {
            FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func start() throws {
        var bench = Bench()
        var arguments = Array(CommandLine.arguments.dropFirst())
        let isHistory = arguments.first == "history"
        var figure: String?
        if isHistory {
            arguments.removeFirst()
            if let name = arguments.first, !name.hasPrefix("--") { figure = arguments.removeFirst() }
        }
        while let name = arguments.first {
            if name == "--record" {
                bench.isRecorded = true
                arguments.removeFirst()
                continue
            }
            guard arguments.count > 1, bench.set(name, to: arguments[1]) else {
                print(usage)
                exit(64)
            }
            arguments.removeFirst(2)
        }
        if isHistory { try bench.printHistory(of: figure) } else { try bench.run() }
    }

    private func printHistory(of name: String?) throws {
        guard let name else {
            for figure in Figure.allCases { print("\(figure.rawValue): \(figure.title), \(figure.unit.rawValue)") }
            return
        }
        guard let figure = Figure(rawValue: name) else {
            throw ConnectionError(message: "\(name) is no figure; \"bench history\" lists them")
        }
        print(try History(folder: results).table(of: figure))
    }

    private mutating func set(_ name: String, to value: String) -> Bool {
        switch name {
        case "--features": features = Int(value) ?? features
        case "--rounds": rounds = Int(value) ?? rounds
        case "--seconds": seconds = Double(value) ?? seconds
        case "--data": data = URL(filePath: value)
        case "--parts": parts = value.split(separator: ",").map(String.init)
        case "--sizes": sizes = value.split(separator: ",").compactMap { Int($0) }
        case "--fieldwork": executable = URL(filePath: value)
        case "--peers": peers = value
        case "--python": python = value
        case "--results": results = URL(filePath: value)
        case "--commit": commit = value
        default: return false
        }
        return true
    }

    private func run() throws {
        let load = Machine.load()
        print("load of the machine at the start: \(load)")
        try measureParts()
        print("load of the machine at the end: \(Machine.load())")
        try conclude(loadBefore: load)
    }

    private func measureParts() throws {
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        // Each run edits copies: the loaded data serve the next run as they are.
        let copies = data.appending(path: "run-\(ProcessInfo.processInfo.processIdentifier)")
        defer { try? FileManager.default.removeItem(at: copies) }
        try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
        if !Set(parts).isDisjoint(with: ["service", "offline", "app"]) { try measureServer(copies) }
        if parts.contains("changes") { try Changes(bench: self, folder: copies).run() }
        if parts.contains("wire") { try Wire(bench: self, folder: copies).run() }
        if parts.contains("related") { try Related(bench: self, folder: copies).run() }
        if parts.contains("sdk") { try SDK(bench: self, folder: copies).run() }
    }

    /// What one server does with all the points.
    private func measureServer(_ copies: URL) throws {
        let (floorPath, storePath) = (copies.appending(path: "floor.sqlite").path, copies.appending(path: "store"))
        try FileManager.default.copyItem(at: try loadedStore(features), to: storePath)
        if parts.contains("offline") { try Offline.prepare(storePath, executable) }
        let server = try ServerProcess(executable: executable, data: storePath, port: 18_473)
        defer { server.stop() }
        if parts.contains("offline") {
            try Offline(bench: self, folder: copies, store: storePath, server: server).run()
        }
        if parts.contains("app") { try App(bench: self, folder: copies, server: server).run() }
        guard parts.contains("service") else { return }
        try FileManager.default.copyItem(at: try loadedFloor(features), to: URL(filePath: floorPath))
        reportMemory(.memoryIdle, server)
        let hasKeptOrder = FileManager.default.fileExists(atPath: storePath.appending(path: "TreesKept.gpkg").path)
        let rows = data.appending(path: "stores-\(features)/Trees.gpkg")
        let peers = try Peers(bench: self, rows: rows, table: "Trees", clients: Reads.clients)
        defer { peers.stop() }
        try Reads(bench: self, server: server, floorPath: floorPath, hasKeptOrder: hasKeptOrder, peers: peers).run()
        peers.stop()
        reportMemory(.memoryAfterReads, server)
        try Queries(bench: self, server: server, floorPath: floorPath).run()
        reportMemory(.memoryAfterQueries, server)
        try Edits(bench: self, server: server, floorPath: floorPath).run()
        reportMemory(.memoryAfterEdits, server)
    }

    private func reportMemory(_ figure: Figure, _ server: ServerProcess) {
        let memory = server.memory()
        record(figure, Rounds([memory.own]))
        print("\(figure.title): \(memory.text)")
    }

    // MARK: Data, loaded once; later runs find them.

    /// SQLite's file with so many points.
    func loadedFloor(_ count: Int) throws -> URL {
        let loaded = data.appending(path: "floors-\(count).sqlite")
        guard !FileManager.default.fileExists(atPath: loaded.path) else { return loaded }
        print("Loading \(count) points into the floor")
        let partial = loaded.appendingPathExtension("partial")
        try? FileManager.default.removeItem(at: partial)
        try { try Floor(path: partial.path).load(count: count) }()
        try FileManager.default.moveItem(at: partial, to: loaded)
        return loaded
    }

    /// The same points as a GeoPackage with ids, which its service keeps, so that its rows stay in the order of the table.
    private func publishKept(_ csv: URL, into store: URL) throws {
        guard let ogr2ogr = Offline.tool("ogr2ogr") else { return }
        let file = csv.deletingPathExtension().appendingPathExtension("gpkg")
        try? FileManager.default.removeItem(at: file)
        try runToEnd(
            ogr2ogr,
            [
                "-f", "GPKG", file.path, csv.path, "-nln", "Trees", "-a_srs", "EPSG:3857", "-oo", "AUTODETECT_TYPE=YES",
                "-oo", "X_POSSIBLE_NAMES=x", "-oo", "Y_POSSIBLE_NAMES=y", "-oo", "KEEP_GEOM_COLUMNS=NO",
            ])
        let started = ContinuousClock.now
        try runToEnd(executable, ["publish", file.path, "--service", "TreesKept", "--data", store.path])
        let seconds = started.duration(to: .now) / .seconds(1)
        print("fieldwork publish of a GeoPackage: \(Int(Double(features) / seconds)) features a second")
        try FileManager.default.removeItem(at: file)
    }

    /// The folder of a server with the points, in both orders of their rows where GDAL is installed.
    func loadedStore(_ count: Int) throws -> URL {
        let loaded = data.appending(path: "stores-\(count)")
        guard !FileManager.default.fileExists(atPath: loaded.path) else { return loaded }
        let csv = data.appending(path: "trees-\(count).csv")
        try TreeData.writeCSV(count: count, to: csv)
        let partial = loaded.appendingPathExtension("partial")
        try? FileManager.default.removeItem(at: partial)
        let started = ContinuousClock.now
        try runToEnd(
            executable,
            [
                "publish", csv.path, "--service", "Trees", "--layer", "Trees", "--x", "x", "--y", "y", "--wkid", "3857",
                "--data", partial.path,
            ])
        let seconds = started.duration(to: .now) / .seconds(1)
        print("fieldwork publish: \(Int(Double(count) / seconds)) features a second")
        try publishKept(csv, into: partial)
        try FileManager.default.moveItem(at: partial, to: loaded)
        try FileManager.default.removeItem(at: csv)
        return loaded
    }
}
