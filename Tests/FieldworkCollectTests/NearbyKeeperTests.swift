import Foundation
import Testing

@testable import FieldworkCollect

/// What is in view is looked for once, and a page that can't wait goes without it.
@Suite struct NearbyKeeperTests {
    private static func key(unsent: Int = 0) -> NearbyKeeper.Key {
        NearbyKeeper.Key(layer: 0, generation: 1, unsent: unsent, view: nil)
    }

    /// A search that ends when the test says so.
    private actor Slow {
        private(set) var begun = 0
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private var isOpen = false

        func find() async -> FoundFeatures {
            begun += 1
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
            return FoundFeatures(features: [], count: 7)
        }

        func end() {
            isOpen = true
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
    }

    @Test func thePageGoesWithoutItAndTheNextRequestHasIt() async throws {
        let (keeper, slow) = (NearbyKeeper(), Slow())
        let early = try await keeper.found(Self.key(), patience: .milliseconds(1)) { await slow.find() }
        #expect(early == nil)
        await slow.end()
        let later = try await keeper.found(Self.key(), patience: .seconds(60)) { await slow.find() }
        #expect(later?.count == 7)
        #expect(await slow.begun == 1, "it was looked for once")
        // After an edit it is looked for again.
        _ = try await keeper.found(Self.key(unsent: 1), patience: .seconds(60)) { await slow.find() }
        #expect(await slow.begun == 2)
    }

    @Test func whatFailsIsToldAndNotKept() async throws {
        let keeper = NearbyKeeper()
        await #expect(throws: CollectError.self) {
            try await keeper.found(Self.key(), patience: .seconds(60)) { throw CollectError(.notFound, "Silent.") }
        }
        let slow = Slow()
        await slow.end()
        #expect(try await keeper.found(Self.key(), patience: nil) { await slow.find() }?.count == 7)
    }
}
