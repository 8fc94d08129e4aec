import FieldworkREST
import FieldworkStore
import Synchronization
import Testing

@testable import FieldworkServer

@Suite("Sizes of layers that tiles ask for")
struct LayerMeasureTests {
    /// A store that takes its time to count, and tells how often it had to.
    private final class Counts: Sendable {
        private let count = Mutex(0)
        private let fails: Int

        init(failing: Int = 0) { fails = failing }

        var number: Int { count.withLock { $0 } }

        func store() -> ScriptedStore {
            ScriptedStore(counted: { [self] in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                // Remembered for a hundred times as long: longer than the test takes.
                try await Task.sleep(for: .milliseconds(300))
                if number <= fails { throw StoreError(.busy, "not now") }
                return 100 + number
            })
        }
    }

    private static let layer = TreesService.definition.layers[0]

    @Test("Tiles that ask at the same time, and soon after each other, make the database count once")
    func once() async throws {
        let counts = Counts()
        let measures = LayerMeasures(store: counts.store())
        let totals = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { try await measures.measure(Self.layer, of: TreesService.name).total }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(totals == Array(repeating: 101, count: 8))
        #expect(try await measures.measure(Self.layer, of: TreesService.name).total == 101)
        #expect(counts.number == 1)
    }

    @Test("Whoever sees only some of the features is told of those, and a layer of that name elsewhere is another one")
    func subjects() async throws {
        let counts = Counts()
        let measures = LayerMeasures(store: counts.store())
        var own = Self.layer
        own.restriction = try SQLParser.parse(where: "Stems = 1")
        let all = try await measures.measure(Self.layer, of: TreesService.name).total
        let elsewhere = try await measures.measure(Self.layer, of: ServiceName(name: "Others")).total
        #expect(all == 101 && elsewhere == 102)
        #expect(try await measures.measure(own, of: TreesService.name).total == 103)
    }

    @Test("A count that failed is not remembered")
    func failure() async throws {
        let counts = Counts(failing: 1)
        let measures = LayerMeasures(store: counts.store())
        await #expect(throws: StoreError.self) { try await measures.measure(Self.layer, of: TreesService.name) }
        #expect(try await measures.measure(Self.layer, of: TreesService.name).total == 102)
    }
}
