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
          --fieldwork the executable to measure (.build/release/fieldwork)
        """

    var features = 1_000_000
    var rounds = 5
    var seconds = 3.0
    var data = URL(filePath: ".build/bench-data")
    var executable = URL(filePath: ".build/release/fieldwork")

    static func main() throws {
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
        case "--fieldwork": executable = URL(filePath: value)
        default: return false
        }
        return true
    }

    private var floorPath: String { data.appending(path: "floor-\(features).sqlite").path }
    private var storePath: URL { data.appending(path: "store-\(features)") }

    private func run() throws {
        try prepare()
        let server = try ServerProcess(executable: executable, data: storePath, port: 18_473)
        defer { server.stop() }
        let idle = server.memory()
        print("memory idle: \(String(format: "%.0f MB", idle.now))")
        try Reads(bench: self, server: server, floorPath: floorPath).run()
        print(
            "memory after reads: \(String(format: "%.0f MB, at its highest %.0f MB", server.memory().now, server.memory().highest))"
        )
        try Edits(bench: self, server: server, floorPath: floorPath).run()
        print("memory at its highest: \(String(format: "%.0f MB", server.memory().highest))")
    }

    /// Loads both sides once; later runs find the data.
    private func prepare() throws {
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        if !FileManager.default.fileExists(atPath: floorPath) {
            print("Loading \(features) points into the floor")
            let partial = floorPath + ".partial"
            try? FileManager.default.removeItem(atPath: partial)
            try { try Floor(path: partial).load(count: features) }()
            try FileManager.default.moveItem(atPath: partial, toPath: floorPath)
        }
        if !FileManager.default.fileExists(atPath: storePath.path) {
            let csv = data.appending(path: "trees-\(features).csv")
            try TreeData.writeCSV(count: features, to: csv)
            let partial = storePath.appendingPathExtension("partial")
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
            try FileManager.default.moveItem(at: partial, to: storePath)
            try FileManager.default.removeItem(at: csv)
        }
    }
}
