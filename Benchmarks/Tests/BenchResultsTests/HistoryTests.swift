import BenchResults
import Foundation
import Testing

@Suite struct HistoryTests {
    private func result(at seconds: Double, _ figures: [Measured?]) -> BenchResult {
        BenchResult(
            date: Date(timeIntervalSince1970: seconds), commit: "abc-dirty", machine: ComparisonTests.machine,
            loadBefore: [1.5, 1, 0.5], loadAfter: [2.25, 1, 0.5], rows: 1_000, rounds: 3, seconds: 3,
            peers: [PeerProgram(name: "mapserver", version: "8.0.0", reads: "a GeoPackage")],
            figures: figures.compactMap(\.self))
    }

    private func measured() -> Measured? {
        Measured(
            .extentsCurveGeoJSON, rows: 1_000, Rounds([300, 100, 200]), floor: Rounds([100, 100, 100]),
            peers: ["mapserver": Rounds([100, 50, 40])])
    }

    private func inFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test("A ratio is the median of each round's ratio, with the least and the most")
    func roundsRatio() throws {
        let figure = try #require(measured())
        #expect(figure.value == Spread(median: 200, least: 100, most: 300))
        #expect(figure.timesFloor == Spread(median: 2, least: 1, most: 3))
        #expect(figure.timesPeers == ["mapserver": Spread(median: 3, least: 2, most: 5)])
    }

    @Test("What is recorded is read again as it was, the oldest first")
    func recordAndRead() throws {
        try inFolder { folder in
            let (older, newer) = (result(at: 86_400, [measured()]), result(at: 172_800, [measured()]))
            for result in [newer, older] { _ = try History.record(result, in: folder) }
            #expect(try History(folder: folder).results == [older, newer])
        }
    }

    @Test("An earlier result is never replaced")
    func noOverwriting() throws {
        try inFolder { folder in
            let file = try History.record(result(at: 86_400, [measured()]), in: folder)
            let before = try Data(contentsOf: file)
            #expect(throws: (any Error).self) { try History.record(result(at: 86_400, []), in: folder) }
            #expect(try Data(contentsOf: file) == before)
        }
    }

    @Test("A file that is no result is named; a folder that is not there has no results; other files are left alone")
    func otherFiles() throws {
        try inFolder { folder in
            #expect(try History(folder: folder).results.isEmpty)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("# Results".utf8).write(to: folder.appending(path: "README.md"))
            #expect(try History(folder: folder).results.isEmpty)
            try Data("{}".utf8).write(to: folder.appending(path: "broken.json"))
            let error = #expect(throws: HistoryError.self) { try History(folder: folder) }
            #expect(error?.message.hasPrefix("broken.json is no result") == true)
        }
    }

    @Test("The table of a figure has a line for each result that has it")
    func table() {
        let history = History([result(at: 172_800, [measured()]), result(at: 86_400, [measured()]), result(at: 0, [])])
        let lines = history.table(of: .extentsCurveGeoJSON).split(separator: "\n").dropFirst(3)
        #expect(lines.count == 2)
        #expect(
            lines.first == """
                | 1970-01-02 | abc-dirty | Some Processor, 2 cores | 1.5 to 2.2 | 1000 | 200 (100 to 300) \
                | 2.00 times (1.00 to 3.00) | mapserver 3.00 times (2.00 to 5.00) |
                """)
        #expect(history.table(of: .single) == "single feature by id: no result was recorded")
    }

    @Test("A figure that has no rounds, or that is no number, is not recorded")
    func noNumber() {
        #expect(Measured(.single, rows: 1, Rounds()) == nil)
        #expect(Measured(.single, rows: 1, Rounds([1, .nan])) == nil)
        #expect(Measured(.single, rows: 1, Rounds([1, 2]), floor: Rounds([0, 1]))?.timesFloor == nil)
    }

    @Test("No two figures have the same title")
    func titles() {
        #expect(Set(Figure.allCases.map(\.title)).count == Figure.allCases.count)
    }
}
