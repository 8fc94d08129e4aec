import Foundation
import Synchronization
import TestSupport

/// Ids for those who make some on their own, the same in each run of a seed.
final class SeededIDs: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

    func next() -> UUID { generator.withLock { $0.uuid() } }
}

/// The time of a story: it goes on with its events, and every process reads it from a clock that is wrong in its own way.
final class SimulatedClock: Sendable {
    private let moment = Mutex(Date(timeIntervalSince1970: 1_767_323_045))

    var now: Date { moment.withLock { $0 } }

    func advance(by seconds: TimeInterval) { moment.withLock { $0 += seconds } }

    func skewed(by seconds: TimeInterval) -> @Sendable () -> Date { { [self] in now + seconds } }
}
