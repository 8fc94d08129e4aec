import Fieldwork
import Foundation

/// One measurement of the SDK in a process of its own, so that its memory is its own. Prints one line:
/// what was measured, seconds, seconds of the processors, features, and the most memory in MB.
@main
struct BenchSDK {
    static func main() async {
        do {
            let arguments = CommandLine.arguments
            guard arguments.count >= 4, let layer = URL(string: arguments[2]) else { throw Usage() }
            ArcGISEnvironment.localEditsDirectory = URL(filePath: arguments[3])
            let table = ServiceFeatureTable(url: layer)
            table.featureRequestMode = .manualCache
            try await table.load()
            switch arguments[1] {
            case "populate": try await populate(table)
            case "query": try await query(table, boxes: arguments.dropFirst(4).map(Box.init))
            default: throw Usage()
            }
        } catch {
            FileHandle.standardError.write(Data("bench-sdk: \(error)\n".utf8))
            exit(1)
        }
    }

    private struct Usage: Error, CustomStringConvertible {
        var description: String { "usage: bench-sdk populate|query LAYER FOLDER [XMIN,YMIN,XMAX,YMAX…]" }
    }

    private static func populate(_ table: ServiceFeatureTable) async throws {
        let start = Start()
        _ = try await table.populateFromService(using: nil, clearCache: true, outFields: ["*"])
        let cost = start.cost
        report("populate", cost, try await table.queryFeatureCount(using: QueryParameters()))
    }

    /// The features of each box, with all their attributes and their place, as values that an app reads.
    private static func query(_ table: ServiceFeatureTable, boxes: [Box]) async throws {
        var features = 0
        var sum = 0.0
        let start = Start()
        for box in boxes {
            let parameters = QueryParameters()
            parameters.geometry = Envelope(
                xMin: box.minX, yMin: box.minY, xMax: box.maxX, yMax: box.maxY, spatialReference: .webMercator)
            for feature in try await table.queryFeatures(using: parameters).features() {
                sum += (feature.geometry as? Point)?.x ?? 0
                features += 1
            }
        }
        let cost = start.cost
        guard sum != 0 else { throw Usage() }
        report("query", cost, features)
    }

    private static func report(_ name: String, _ cost: (seconds: Double, processor: Double), _ features: Int) {
        print("\(name) \(cost.seconds) \(cost.processor) \(features) \(memory())")
    }

    /// The most memory that this process had, in MB.
    private static func memory() -> Double {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
            .flatMap { Double($0) }.map { $0 / 1_024 } ?? .nan
    }
}

/// When a measurement began.
private struct Start {
    private let moment = ContinuousClock.now
    private let clock = Foundation.clock()

    var cost: (seconds: Double, processor: Double) {
        (moment.duration(to: .now) / .seconds(1), Double(Foundation.clock() - clock) / Double(CLOCKS_PER_SEC))
    }
}

private struct Box {
    var minX = 0.0
    var minY = 0.0
    var maxX = 0.0
    var maxY = 0.0

    init(_ text: String) {
        let numbers = text.split(separator: ",").compactMap { Double($0) }
        guard numbers.count == 4 else { return }
        (minX, minY, maxX, maxY) = (numbers[0], numbers[1], numbers[2], numbers[3])
    }
}
