import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("A killed process", .fewAtATime)
struct KilledProcessTests {
    @Test("What add, update and delete returned from is there after SIGKILL")
    func killed() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-killed-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let layer = DamageService.damage
            let store = try await LocalStore.open(in: URL(filePath: path), definition: DamageService.definition)
            let new = (0..<20).map { index in
                FeatureRecord(
                    objectID: 0, globalID: UUID(), attributes: ["primcause": .text("Cause \(index)")],
                    geometry: DamageService.place)
            }
            let added = try await store.add(new, to: layer, isCached: false)
            let base = FeatureRecord(
                objectID: 7, globalID: UUID(), attributes: ["primcause": .text("Before")], geometry: DamageService.place
            )
            try await store.update(
                [
                    LocalStore.Update(
                        objectID: 7, base: base, attributes: [("primcause", .text("After"))], geometry: .unchanged)
                ], in: layer)
            try await store.delete([added[0]], in: layer)
            kill(getpid(), SIGKILL)
        }
        let store = try await LocalStore.open(in: folder, definition: DamageService.definition)
        let edits = store.edits()
        #expect(edits.count { $0.operation == .add } == 19)
        let update = try #require(edits.first { $0.operation == .update })
        #expect(update.base?.attributes["primcause"] == .text("Before"))
        #expect(update.current?.attributes["primcause"] == .text("After"))
        #expect(try await store.count(FeatureQuery(), in: 0) == 20)
        #expect(Set(edits.compactMap(\.globalID)).count == 20)
    }
}
