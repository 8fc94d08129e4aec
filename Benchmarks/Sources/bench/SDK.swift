import BenchResults
import Foundation

/// What an app author sees: a table filled from its service through the SDK and queried on the device, by a program of its own
/// (`bench-sdk`). Beside it `curl` fetches the same pages, and SQLite inserts and reads the same rows.
struct SDK {
    private static let port: UInt16 = 18_492
    private static let pageSize = 2_000
    private static let boxes = 200
    private static let featuresPerBox = 1_000
    private static var layer: String { "http://127.0.0.1:\(port)\(Offline.service)/0" }

    var bench: Bench
    var folder: URL

    private var client: URL { bench.executable.deletingLastPathComponent().appending(path: "bench-sdk") }

    /// The figures of one size of the layer.
    private struct Figures {
        var fetched = Rounds()
        var inserted = Rounds()
        var populated = Rounds()
        var memory = Rounds()
        var read = Rounds()
        var queried = Rounds()
        var queryMemory = Rounds()
        /// What of the processors the program took and SQLite took: it depends less on what else runs.
        var populatedProcessor = Rounds()
        var insertedProcessor = Rounds()
        var queriedProcessor = Rounds()
        var readProcessor = Rounds()
    }

    func run() throws {
        guard let curl = Offline.tool("curl") else { return print("the SDK: not measured, curl is not installed") }
        guard FileManager.default.isExecutableFile(atPath: client.path) else {
            return print("the SDK: not measured, \(client.lastPathComponent) was not built")
        }
        for size in bench.sizes { report(try measure(size, curl), size) }
    }

    private func measure(_ size: Int, _ curl: URL) throws -> Figures {
        let store = folder.appending(path: "sdk-\(size)")
        try FileManager.default.copyItem(at: try bench.loadedStore(size), to: store)
        defer { try? FileManager.default.removeItem(at: store) }
        let floor = try bench.loadedFloor(size)
        let server = try ServerProcess(executable: bench.executable, data: store, port: Self.port)
        defer { server.stop() }
        var figures = Figures()
        for round in 0..<bench.rounds {
            figures.fetched.add(try fetch(size, curl))
            let insertion = try insert(size)
            figures.inserted.add(insertion.seconds)
            figures.insertedProcessor.add(insertion.processor)
            let device = folder.appending(path: "device-\(size)-\(round)")
            defer { try? FileManager.default.removeItem(at: device) }
            let population = try outcome(of: ["populate", Self.layer, device.path])
            guard population.features == size else {
                throw ConnectionError(message: "\(population.features) features arrived, not \(size)")
            }
            figures.populated.add(population.seconds)
            figures.populatedProcessor.add(population.processor)
            figures.memory.add(population.memory)
            let boxes = Self.boxes(round, of: size)
            let (rows, cost) = try read(boxes, floor)
            figures.read.add(Double(rows) / cost.seconds)
            figures.readProcessor.add(Double(rows) / cost.processor)
            let query = try outcome(
                of: ["query", Self.layer, device.path]
                    + boxes.map { "\($0.minX),\($0.minY),\($0.maxX),\($0.maxY)" })
            // Coordinates came to the server as decimal text: at an edge one may lie on the other side.
            guard abs(query.features - rows) <= rows / 1_000 else {
                throw ConnectionError(message: "SQLite found \(rows) features, the SDK \(query.features)")
            }
            figures.queried.add(Double(query.features) / query.seconds)
            figures.queriedProcessor.add(Double(query.features) / query.processor)
            figures.queryMemory.add(query.memory)
        }
        return figures
    }

    private func report(_ figures: Figures, _ size: Int) {
        let floor = Rounds(zip(figures.fetched.values, figures.inserted.values).map { $0 + $1 })
        bench.record(.sdkPopulate, figures.populated, floor: floor, rows: size)
        bench.record(.sdkPopulateMemory, figures.memory, rows: size)
        bench.record(.sdkQuery, figures.queried, floor: figures.read, rows: size)
        bench.record(.sdkQueryMemory, figures.queryMemory, rows: size)
        print("\(size) features brought to a device through the SDK, seconds:")
        print("  curl, the same pages: \(figures.fetched.text)")
        print("  SQLite inserting the same rows: \(figures.inserted.text)")
        print("  populateFromService: \(figures.populated.text), \(figures.populated.times(floor)) both")
        print("  processor: SQLite \(figures.insertedProcessor.text), SDK \(figures.populatedProcessor.text)")
        print("  memory of the whole process at its highest, MB: \(figures.memory.text)")
        print("extents of about \(Self.featuresPerBox) features there, features a second:")
        print("  SQLite, R-tree and rows, every value read: \(figures.read.text)")
        print("  queryFeatures: \(figures.queried.text), \(figures.queried.times(figures.read)) SQLite")
        print("  a second of the processor: SQLite \(figures.readProcessor.text), SDK \(figures.queriedProcessor.text)")
        print("  memory of the whole process at its highest, MB: \(figures.queryMemory.text)")
    }

    private static func boxes(_ round: Int, of total: Int) -> [Box] {
        var numbers = SplitMix64(seed: UInt64(round))
        return (0..<boxes).map { _ in Box.random(holding: featuresPerBox, of: total, using: &numbers) }
    }

    // MARK: What it is measured by

    /// One process of curl over one connection.
    private func fetch(_ size: Int, _ curl: URL) throws -> Double {
        let config = folder.appending(path: "curl.txt")
        let query = "\(Self.layer)/query?f=json&outFields=*&returnGeometry=true&orderByFields=OBJECTID%20ASC&where="
        let lines = stride(from: 1, through: size, by: Self.pageSize).map { first in
            "url = \"\(query)OBJECTID%20BETWEEN%20\(first)%20AND%20\(first + Self.pageSize - 1)\"\noutput = /dev/null"
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: config)
        return try Self.cost { try runToEnd(curl, ["--silent", "--fail", "--config", config.path]) }.seconds
    }

    private func insert(_ size: Int) throws -> Cost {
        var data = TreeData()
        let trees = (0..<size).map { _ in data.next() }
        let path = folder.appending(path: "inserted.sqlite").path
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        let floor = try Floor(path: path)
        try floor.load(count: 0)
        return try Self.cost { try floor.add(trees) }
    }

    private func read(_ boxes: [Box], _ path: URL) throws -> (rows: Int, cost: Cost) {
        let floor = try Floor(path: path.path)
        var rows = 0
        let cost = try Self.cost {
            for box in boxes { rows += try floor.rows(box) }
        }
        return (rows, cost)
    }

    private struct Cost {
        var seconds: Double
        /// Of this process.
        var processor: Double
    }

    private static func cost(_ body: () throws -> Void) rethrows -> Cost {
        let (started, clock) = (ContinuousClock.now, clock())
        try body()
        return Cost(
            seconds: started.duration(to: .now) / .seconds(1),
            processor: Double(Self.clock() - clock) / Double(CLOCKS_PER_SEC))
    }

    private static func clock() -> Int { Foundation.clock() }

    // MARK: The client

    private struct Outcome {
        var seconds: Double
        /// Seconds that its threads ran.
        var processor: Double
        var features: Int
        /// The most of it, in MB.
        var memory: Double
    }

    /// Runs the SDK's program; what it prints goes through a file.
    private func outcome(of arguments: [String]) throws -> Outcome {
        let output = folder.appending(path: "outcome.txt")
        try Data().write(to: output)
        let process = Process()
        process.executableURL = client
        process.arguments = arguments
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        process.waitUntilExit()
        let words = try String(contentsOf: output, encoding: .utf8).split(whereSeparator: \.isWhitespace)
        guard process.terminationStatus == 0, words.count == 5, let seconds = Double(words[1]),
            let processor = Double(words[2]), let features = Int(words[3]), let memory = Double(words[4])
        else { throw ConnectionError(message: "bench-sdk \(arguments.first ?? "") failed") }
        return Outcome(seconds: seconds, processor: processor, features: features, memory: memory)
    }
}
