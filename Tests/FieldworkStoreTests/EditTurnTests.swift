import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Turns of edits", .fewAtATime, .everyStore)
struct EditTurnTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore
    private let sender = UUID()

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.anyStore(in: folder)
    }

    private func batch(_ species: String, _ number: Int64, of sender: UUID? = nil) -> EditBatch {
        var batch = Samples.batch(adds: [Samples.tree(species)])
        batch.turn = EditTurn(sender: sender ?? self.sender, number: number)
        return batch
    }

    private func isTaken(_ batch: EditBatch, _ store: (any FeatureStore)? = nil) async throws -> Bool {
        do {
            _ = try await (store ?? self.store).apply(batch, to: Samples.name)
            return true
        } catch let error as StoreError {
            #expect(error.code == .turnPassed)
            return false
        }
    }

    private func species() async throws -> [AttributeValue?] {
        try await store.records(FeatureQuery(), in: Samples.trees).map { $0.attributes["species"] }
    }

    @Test("A batch is taken once, and not after a later one of its sender")
    func rising() async throws {
        #expect(try await isTaken(batch("Acer", 2)))
        #expect(try await !isTaken(batch("Acer", 2)))
        #expect(try await !isTaken(batch("Betula", 1)))
        #expect(try await isTaken(batch("Carpinus", 5)))
        #expect(try await !isTaken(batch("Betula", 4)))
        #expect(try await isTaken(batch("Quercus", 1, of: UUID())), "each sender has turns of its own")
        #expect(try await species() == [.text("Acer"), .text("Carpinus"), .text("Quercus")])
        #expect(try await store.generation(of: Samples.name) == 3)
    }

    @Test("A turn without edits lets nothing pass that was sent before, and is no generation")
    func withoutEdits() async throws {
        var fence = batch("", 2)
        fence.layers = []
        #expect(try await isTaken(fence))
        #expect(try await !isTaken(batch("Acer", 1)))
        #expect(try await species().isEmpty)
        #expect(try await store.generation(of: Samples.name) == 0)
    }

    @Test("The turn of a batch that fails has passed all the same", arguments: [true, false])
    func failed(rollsBack: Bool) async throws {
        var failing = batch("Far too long a name for a species", 1)
        failing.rollsBackOnFailure = rollsBack
        let result = try await store.apply(failing, to: Samples.name)
        try #require(result.hasErrors)
        #expect(try await !isTaken(batch("Acer", 1)))
        #expect(try await species().isEmpty)
    }

    @Test("Of copies that arrive at once one is done, also where batches share a transaction")
    func crowd() async throws {
        let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<60 {
                group.addTask {
                    // Every third fails: its turn counts as well.
                    let species = index % 3 == 0 ? "Far too long a name for a species" : "Acer"
                    return try await isTaken(batch(species, Int64(1 + index % 6)))
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect((1...6).contains(taken), "\(taken)")
        #expect(try await species().count <= 4)
        #expect(try await !isTaken(batch("Acer", 6)))
        #expect(try await store.check() == [])
    }

    @Test("Turns are in the store: they are known after a restart, until the sender was silent for long")
    func kept() async throws {
        #expect(try await isTaken(batch("Acer", 3)))
        try await store.close()
        let again = try await StoreKind.current.again(in: folder)
        #expect(try await !isTaken(batch("Betula", 3), again))
        let compacted = try #require(again as? any ReplicaStore)
        let moment = Samples.moment
        _ = try await compacted.compactLog(of: Samples.name, silentSince: moment, olderThan: moment)
        #expect(try await !isTaken(batch("Betula", 3), again))
        let later = moment.addingTimeInterval(1)
        _ = try await compacted.compactLog(of: Samples.name, silentSince: moment, olderThan: later)
        #expect(try await isTaken(batch("Betula", 3), again))
        try await again.close()
    }
}
