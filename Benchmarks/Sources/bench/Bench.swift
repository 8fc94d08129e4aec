import Foundation

/// Measures `fieldwork serve` beside plain SQLite in one run, interleaved, and prints figures and ratios.
@main
struct Bench {
    static let usage = """
        usage: bench [--features N] [--rounds N] [--seconds S] [--data DIR] [--fieldwork PATH]
          --features  points to load (1000000)
          --rounds    how often each measurement is taken, in turn (5)
          --seconds   length of one measurement (3)
          --data      where to keep the loaded data between runs (.build/bench-data)
          --parts     what to measure: service, offline (both)
          --fieldwork the executable to measure (.build/release/fieldwork)
        """

    var features = 1_000_000
    var rounds = 5
    var seconds = 3.0
    var data = URL(filePath: ".build/bench-data")
    var executable = URL(filePath: ".build/release/fieldwork")
    var parts = ["service", "offline"]

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
        while let name = arguments.first {
            guard arguments.count > 1, bench.set(name, to: arguments[1]) else {
                print(usage)
                exit(64)
            }
            arguments.removeFirst(2)
        }
        try bench.run()
    }

    private mutating func set(_ name: String, to value: String) -> Bool {
        switch name {
        case "--features": features = Int(value) ?? features
        case "--rounds": rounds = Int(value) ?? rounds
        case "--seconds": seconds = Double(value) ?? seconds
        case "--data": data = URL(filePath: value)
        case "--parts": parts = value.split(separator: ",").map(String.init)
        case "--fieldwork": executable = URL(filePath: value)
        default: return false
        }
        return true
    }

    private var loadedFloor: URL { data.appending(path: "floor-\(features).sqlite") }
    private var loadedStore: URL { data.appending(path: "store-\(features)") }

    private func run() throws {
        try prepare()
        // Each run edits copies: the loaded data serve the next run as they are.
        let copies = data.appending(path: "run-\(ProcessInfo.processInfo.processIdentifier)")
        defer { try? FileManager.default.removeItem(at: copies) }
        try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
        let (floorPath, storePath) = (copies.appending(path: "floor.sqlite").path, copies.appending(path: "store"))
        try FileManager.default.copyItem(at: loadedFloor, to: URL(filePath: floorPath))
        try FileManager.default.copyItem(at: loadedStore, to: storePath)
        if parts.contains("offline") { try Offline.prepare(storePath, executable) }
        let server = try ServerProcess(executable: executable, data: storePath, port: 18_473)
        defer { server.stop() }
        if parts.contains("offline") {
            try Offline(bench: self, folder: copies, store: storePath, server: server).run()
        }
        guard parts.contains("service") else { return }
        let idle = server.memory()
        print("memory idle: \(idle.text)")
        try Reads(bench: self, server: server, floorPath: floorPath).run()
        print("memory after reads: \(server.memory().text)")
        try Queries(bench: self, server: server, floorPath: floorPath).run()
        print("memory after queries: \(server.memory().text)")
        try Edits(bench: self, server: server, floorPath: floorPath).run()
        print("memory after edits: \(server.memory().text)")
    }

    /// Loads both sides once; later runs find the data.
    private func prepare() throws {
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        if !FileManager.default.fileExists(atPath: loadedFloor.path) {
            print("Loading \(features) points into the floor")
            let partial = loadedFloor.appendingPathExtension("partial")
            try? FileManager.default.removeItem(at: partial)
            try { try Floor(path: partial.path).load(count: features) }()
            try FileManager.default.moveItem(at: partial, to: loadedFloor)
        }
        if !FileManager.default.fileExists(atPath: loadedStore.path) {
            let csv = data.appending(path: "trees-\(features).csv")
            try TreeData.writeCSV(count: features, to: csv)
            let partial = loadedStore.appendingPathExtension("partial")
            try? FileManager.default.removeItem(at: partial)
            let started = ContinuousClock.now
            try runToEnd(
                executable,
                [
                    "publish", csv.path, "--service", "Trees", "--layer", "Trees", "--x", "x", "--y", "y", "--wkid",
                    "3857",
                    "--data", partial.path,
                ])
            let seconds = started.duration(to: .now) / .seconds(1)
            print("fieldwork publish: \(Int(Double(features) / seconds)) features a second")
            try FileManager.default.moveItem(at: partial, to: loadedStore)
            try FileManager.default.removeItem(at: csv)
        }
    }
}
