import Fieldwork
import Testing

@testable import FieldworkCollect

/// How long a download still takes, and in which words.
@Suite struct DownloadPaceTests {
    private static let start = ContinuousClock.now

    /// - Parameter looks: how many bytes were there after how many seconds.
    private static func left(_ looks: [(seconds: Double, there: Int64)], whole: Int64) -> Double? {
        var pace = DownloadPace()
        for look in looks { pace.note(look.there, at: start + .seconds(look.seconds)) }
        return pace.secondsLeft(of: .init(there: looks.last?.there ?? 0, whole: whole))
    }

    @Test func anEvenLineIsToldAsItGoes() {
        let looks = (0...40).map { (seconds: Double($0) / 4, there: Int64($0) * 25_000) }
        #expect(Self.left(looks, whole: 3_000_000) == 20)
    }

    @Test func onlyTheLastSecondsCount() {
        let fast = (0...10).map { (seconds: Double($0), there: Int64($0) * 1_000_000) }
        let slow = (1...12).map { (seconds: 10 + Double($0), there: 10_000_000 + Int64($0) * 1_000) }
        #expect(Self.left(fast + slow, whole: 10_022_000) == 10)
    }

    @Test func nothingIsToldTooSoonOrOfALineThatStandsStill() {
        #expect(Self.left([(0, 0), (1, 500)], whole: 1_000) == nil)
        #expect(Self.left((0...20).map { (seconds: Double($0), there: 700) }, whole: 1_000) == nil)
    }

    @Test func whatGoesOnceMoreFromTheStartHasItsOwnPace() {
        #expect(Self.left([(0, 0), (5, 900), (6, 0), (9, 300)], whole: 1_000) == 7)
    }

    @Test(arguments: [
        (3.0, "a few seconds left"), (12, "about 20 seconds left"), (54, "about 60 seconds left"),
        (80, "about 1 minute left"), (190, "about 3 minutes left"), (7_000, "about 2 hours left"),
        (1e12, "about 48 hours left"),
    ])
    func timeIsToldCoarsely(seconds: Double, text: String) { #expect(TimeText.left(seconds) == text) }

    @Test func bytesAreToldInTheUnitOfTheWhole() {
        #expect(ByteText.part(1_234_000, of: 4_800_000) == "1.2 of 4.8 MB")
        #expect(ByteText.part(60_400_000, of: 138_000_000) == "60 of 138 MB")
        #expect(ByteText.part(3, of: 12) == "3 of 12 bytes")
        #expect(ByteText.whole(18_200_000_000) == "18 GB" && ByteText.whole(940_000) == "940 kB")
    }
}
