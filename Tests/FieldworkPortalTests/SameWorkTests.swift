import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkPortal

@Suite("The time of a refused sign-in", .fewAtATime)
struct SameWorkTests {
    /// A hash whose time stands out against everything else that a sign-in does.
    private static let cost = 13

    @Test("A name that is not there, a wrong password and a disabled account take the same time")
    func sameTime() async throws {
        try await TemporaryPortal.with(cost: Self.cost) { portal in
            try await portal.add("ana", .administrator)
            try await portal.add("ben", .editor)
            try await portal.portal.setDisabled(true, "ben", by: TemporaryPortal.author)
            var times: [String: [Double]] = [:]
            let clock = ContinuousClock()
            // In turns, so that what else the machine does falls on all of them.
            for round in 0..<15 {
                for name in ["ana", "ben", "nobody\(round)"] {
                    let time = await clock.measure {
                        _ = try? await portal.portal.signIn(name, password: "wrong horse", from: "192.0.2.\(round)")
                    }
                    times[name.hasPrefix("nobody") ? "nobody" : name, default: []].append(time / .seconds(1))
                    // No account is to wait for its next turn.
                    portal.pass(seconds: 3_600)
                }
            }
            let medians = times.mapValues { $0.sorted()[$0.count / 2] }
            let known = try #require(medians["ana"])
            for (name, time) in medians {
                #expect((0.5...2).contains(time / known), "\(name): \(time) s, ana: \(known) s")
            }
            let hash = clock.measure {
                _ = try? PasswordHash(of: "wrong horse", cost: Self.cost, salt: Data(count: 16))
            }
            #expect(known > 0.3 * (hash / .seconds(1)), "the hash is what takes the time")
        }
    }
}
