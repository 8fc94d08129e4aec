import BenchResults
import Foundation
import Testing

@Suite struct ComparisonTests {
    static let machine = Machine(processor: "Some Processor", cores: 2)

    /// A result with one figure whose floor is 100 in each round, so that its ratio is a hundredth of its values.
    private func result(
        _ values: [Double], day: Double = 0, figure: Figure = .extentsCurveJSON, rows: Int = 1_000,
        machine: Machine = machine, floor: Double? = 100
    ) throws -> BenchResult {
        let floors = floor.map { Rounds(Array(repeating: $0, count: values.count)) }
        let measured = try #require(Measured(figure, rows: rows, Rounds(values), floor: floors))
        return BenchResult(
            date: Date(timeIntervalSince1970: day * 86_400), commit: "c\(Int(day))", machine: machine,
            loadBefore: [1], loadAfter: [1], rows: rows, rounds: values.count, seconds: 3, figures: [measured])
    }

    @Test("A ratio that fell by more than the spread of both runs is named with the day of the earlier one")
    func fell() throws {
        let before = try result([200, 210, 220], day: 1)
        let slower = try result([150, 160, 170], day: 2).slower(than: History([before]))
        #expect(slower.map(\.commit) == ["c1"])
        let text = try #require(slower.first?.text)
        #expect(text.hasPrefix("slower than on 1970-01-02 (c1, load 1.0 to 1.0): extents"))
        #expect(text.hasSuffix("1.60 times (1.50 to 1.70) the floor; then 2.10 times (2.00 to 2.20)"))
    }

    @Test("A ratio is not named where the rounds of both runs overlap")
    func noise() throws {
        let before = History([try result([180, 210, 220], day: 1)])
        #expect(try result([170, 185, 190], day: 2).slower(than: before).isEmpty)
        #expect(try result([150, 170, 215], day: 2).slower(than: before).isEmpty)
        #expect(try result([250, 260, 270], day: 2).slower(than: before).isEmpty)
    }

    @Test("A loss of less than a twentieth is not named, however small the spread is")
    func smallLoss() throws {
        let before = History([try result([200, 200, 200], day: 1)])
        #expect(try result([192, 192, 192], day: 2).slower(than: before).isEmpty)
        #expect(try result([188, 188, 188], day: 2).slower(than: before).count == 1)
    }

    @Test("Where less is better, a ratio that rose is named")
    func seconds() throws {
        let before = History([try result([100, 101, 102], day: 1, figure: .offline)])
        #expect(try result([130, 131, 132], day: 2, figure: .offline).slower(than: before).count == 1)
        #expect(try result([70, 71, 72], day: 2, figure: .offline).slower(than: before).isEmpty)
    }

    @Test("Absolute figures are not compared: a slower machine makes the floor slower too")
    func ratios() throws {
        let before = History([try result([200, 210, 220], day: 1)])
        #expect(try result([100, 105, 110], day: 2, floor: 50).slower(than: before).isEmpty)
        #expect(try result([50, 50, 50], day: 2, floor: nil).slower(than: before).isEmpty)
    }

    @Test("Only results of the same kind of machine and of as many rows are compared")
    func kinds() throws {
        let now = try result([150, 160, 170], day: 2)
        let other = Machine(processor: "Another Processor", cores: 2)
        #expect(now.slower(than: History([try result([200, 210, 220], day: 1, machine: other)])).isEmpty)
        #expect(now.slower(than: History([try result([200, 210, 220], day: 1, rows: 2_000)])).isEmpty)
    }

    @Test("The latest earlier result that has the figure counts, not one that was recorded since")
    func latest() throws {
        let history = History([
            try result([150, 160, 170], day: 3), try result([400, 410, 420], day: 1),
            try result([200, 210, 220], day: 2), try result([900, 910, 920], day: 5),
            try result([900, 910, 920], day: 4, figure: .extentsCurvePBF),
        ])
        #expect(try result([100, 101, 102], day: 4.5).slower(than: history).map(\.commit) == ["c3"])
    }

    @Test("Fewer than three rounds say nothing of the noise, and are not compared")
    func fewRounds() throws {
        let before = try result([200, 210, 220], day: 1)
        #expect(try result([100, 101], day: 2).slower(than: History([before])).isEmpty)
        let short = try result([200, 210], day: 2)
        #expect(try result([100, 101, 102], day: 3).slower(than: History([short, before])).map(\.commit) == ["c1"])
    }
}
