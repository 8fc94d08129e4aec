import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation

/// Makes the demo's services where they are missing.
enum DemoStore {
    /// Each service is made whole under another name and then put in its place, so that an interruption leaves none
    /// half-made and a service that a user has edited is never made again.
    static func prepare(at folder: URL) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for demo in DemoServices.all {
            let name = demo.definition.name
            let place = folder.appending(path: "\(name.name).gpkg", directoryHint: .notDirectory)
            guard !FileManager.default.fileExists(atPath: place.path) else { continue }
            try Task.checkCancellation()
            try await make(demo, at: place)
        }
        try await PortlandAddresses.prepare(in: folder)
        try DemoBasemap.prepare(in: folder)
    }

    private static func make(_ demo: any DemoService, at place: URL) async throws {
        // A name of its own: two demos that start at once in one folder don't take each other's work away.
        let workshop = place.deletingLastPathComponent()
            .appending(path: ".\(demo.definition.name.name).\(UUID().uuidString).making", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: workshop) }
        let store = try await GeoPackageStore.open(at: workshop)
        do {
            try await store.createService(demo.definition)
            try await load(demo, into: store)
            try await store.close()
        } catch {
            try? await store.close()
            throw error
        }
        let made = workshop.appending(path: place.lastPathComponent, directoryHint: .notDirectory)
        try DurableFile.requireNoLog(beside: made)
        try DurableFile.place(made, at: place)
    }

    private static func load(_ demo: any DemoService, into store: GeoPackageStore) async throws {
        let name = demo.definition.name
        var bar = ProgressBar("Making \(name.name)")
        var count = 0
        for edits in demo.batches() {
            try Task.checkCancellation()
            let batch = EditBatch(
                layers: [edits], usesGlobalIDs: true, editor: "demo",
                moment: Date(timeIntervalSince1970: 1_767_225_600),
                origin: .load)
            let result = try await store.apply(batch, to: name)
            if let error = result.layers.flatMap(\.adds).compactMap(\.error).first {
                throw CommandFailure(
                    .software, "The demo data does not keep the rules of \(name.name): \(error.description)")
            }
            count += edits.adds.count
            bar.advance(to: count)
        }
        bar.finish("Made \(name.name): \(Counted.features(count))")
    }
}
