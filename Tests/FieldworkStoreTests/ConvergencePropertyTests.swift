import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

/// Clients that edit at random, synchronise at random moments, lose answers and send again.
@Suite("Convergence of many clients", .fewAtATime, .everyStore)
struct ConvergencePropertyTests {
    private static let species = ["oak", "elm", "ash", "yew", "lime"]

    private struct Run {
        let store: any ReplicaStore
        var generator: SeededGenerator
        var clients: [FieldClient] = []
        /// Values that somebody saved and that the service acknowledged, by feature.
        var acknowledged: [UUID: Set<String>] = [:]
        let rule: ConflictRule

        mutating func edit(_ index: Int) {
            let ids = clients[index].trees.keys.sorted { $0.uuidString < $1.uuidString }
            let id = ids.randomElement(using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0...1:
                let tree = FieldClient.Tree(species: value(), note: nil, x: place())
                clients[index].trees[Self.uuid(&generator)] = tree
            case 2: if let id { clients[index].trees[id] = nil }
            case 3...5:
                let text = value()
                if let id { clients[index].trees[id]?.species = text }
            case 6...7:
                let text = value()
                if let id { clients[index].trees[id]?.note = text }
            default:
                let x = place()
                if let id { clients[index].trees[id]?.x = x }
            }
        }

        /// Each value is somebody's own, so that it can be found again.
        private mutating func value() -> String {
            "\(Int.random(in: 0..<1_000_000_000, using: &generator))"
        }

        private mutating func place() -> Double { Double(Int.random(in: 0..<100, using: &generator)) }

        private static func uuid(_ generator: inout SeededGenerator) -> UUID {
            var bytes = [UInt8](repeating: 0, count: 16)
            for index in bytes.indices { bytes[index] = UInt8.random(in: .min ... .max, using: &generator) }
            return UUID(
                uuid: (
                    bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9],
                    bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
                ))
        }

        mutating func synchronize(_ index: Int) async throws {
            let upload = clients[index].upload(rule: rule)
            let result = try await store.apply(upload, to: Samples.name)
            #expect(result.hasErrors == false)
            note(upload.layers[0])
            if Int.random(in: 0..<4, using: &generator) == 0 {
                // The answer is lost. Others may come in between; then the same upload is sent again.
                let other = Int.random(in: clients.indices, using: &generator)
                if other != index { try await plainSync(other) }
                let again = try await store.apply(upload, to: Samples.name)
                #expect(again.isRecorded)
                #expect(again.layers == result.layers)
            }
            let document = try await store.delta(for: clients[index], upload: upload.layers[0])
            #expect(document.generation >= clients[index].generation)
            clients[index].take(document)
        }

        private mutating func plainSync(_ index: Int) async throws {
            let upload = clients[index].upload(rule: rule)
            #expect(try await store.apply(upload, to: Samples.name).hasErrors == false)
            note(upload.layers[0])
            clients[index].take(try await store.delta(for: clients[index], upload: upload.layers[0]))
        }

        private mutating func note(_ upload: ReplicaLayerUpload) {
            for edit in upload.adds + upload.updates {
                guard let id = edit.globalID else { continue }
                for attribute in edit.attributes {
                    if let text = attribute.value.textValue { acknowledged[id, default: []].insert(text) }
                }
            }
        }
    }

    @Test("All clients and the service end equal, no feature twice, nothing acknowledged is lost", arguments: 1...30)
    func convergence(seed: Int) async throws {
        // A database takes longer over each of the many small transactions.
        guard StoreKind.current == .geoPackage || seed <= 6 else { return }
        let folder = try TemporaryFolder()
        let store = try await Samples.replicaStore(in: folder)
        let rules = ConflictRule.allCases
        var run = Run(store: store, generator: SeededGenerator(seed: UInt64(seed)), rule: rules[seed % rules.count])
        let trees = Self.species.map { Samples.tree($0, x: 1) }
        _ = try await store.apply(Samples.batch(adds: trees), to: Samples.name)
        for number in 0..<(2 + seed % 4) { run.clients.append(try await store.client("c\(number)")) }
        for _ in 0..<60 {
            let index = Int.random(in: run.clients.indices, using: &run.generator)
            if Int.random(in: 0..<4, using: &run.generator) == 0 {
                try await run.synchronize(index)
            } else {
                run.edit(index)
            }
        }
        // Quiescence: everybody hands in, then everybody fetches.
        for _ in 0..<2 {
            for index in run.clients.indices { try await run.synchronize(index) }
        }
        let current = try await store.currentTrees()
        for client in run.clients { #expect(client.trees == current, "seed \(seed), \(client.editor)") }
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == current.count)
        #expect(try await store.check() == [])
        try await expectNothingLost(run, current)
    }

    /// Each acknowledged value is the present one, in the history, or in a conflict.
    private func expectNothingLost(_ run: Run, _ current: [UUID: FieldClient.Tree]) async throws {
        let conflicts = try await run.store.conflicts(
            in: Set(MergeConflict.State.allCases), of: Samples.name, limit: 10_000)
        for (id, values) in run.acknowledged {
            var kept = Set([current[id]?.species, current[id]?.note].compactMap(\.self))
            for version in try await run.store.history(of: .globalID(id), in: Samples.trees) {
                for value in version.record.attributes.map(\.value) {
                    if let text = value.textValue { kept.insert(text) }
                }
            }
            for conflict in conflicts where conflict.globalID == id {
                for value in conflict.lost.attributes?.values ?? [:].values {
                    if let text = value.textValue { kept.insert(text) }
                }
            }
            #expect(values.isSubset(of: kept), "lost: \(values.subtracting(kept))")
        }
    }
}
