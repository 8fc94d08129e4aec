import Foundation
import TestSupport

/// How much of an attack is run: a little with each test round, all of it by `make attack`.
enum AttackForm {
    static let isFull = ProcessInfo.processInfo.environment["FIELDWORK_ATTACK"] == "full"

    /// The seed of the generated requests; a number of its own makes others.
    static let seed =
        ProcessInfo.processInfo.environment["FIELDWORK_ATTACK_SEED"].flatMap(UInt64.init) ?? 1

    /// One request alone, by its number, to look at.
    static let onlyRequest = ProcessInfo.processInfo.environment["FIELDWORK_ATTACK_REQUEST"].flatMap(Int.init)

    /// No answer may take longer. The server's own limits are far below; beside the other tests the machine is slow.
    static let patience = Duration.seconds(isFull ? 30 : 300)
}

/// The random numbers of one request of an attack.
extension SeededGenerator {
    init(seed: UInt64, request: Int) {
        self.init(seed: seed &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(request) &* 0xD1B5_4A32_D192_ED03)
    }

    mutating func pick<Element>(_ list: [Element]) -> Element { list[Int(next() % UInt64(list.count))] }

    mutating func chance(_ percent: UInt64) -> Bool { next() % 100 < percent }

    mutating func number(_ range: Range<Int>) -> Int { range.lowerBound + Int(next() % UInt64(range.count)) }
}
