import Dispatch
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

/// Makes a service of a file: under another name first, then put in its place whole.
struct Publisher {
    var folder: URL
    var service: ServiceName
    var layerName: String
    var skipsBadRows: Bool

    /// Features of one transaction of the load. The store sorts within it, so that neighbours on the map become
    /// neighbours in the file: the larger, the better, within memory.
    private static let batchSize = 250_000

    func place() throws -> URL {
        let parent = service.folder.map { folder.appending(path: $0, directoryHint: .isDirectory) } ?? folder
        let place = parent.appending(path: "\(service.name).gpkg", directoryHint: .notDirectory)
        guard !FileManager.default.fileExists(atPath: place.path) else {
            throw CommandFailure(.cannotCreate, "There is a service \(service.path) already. Choose another --service.")
        }
        return place
    }

    /// Gives the number of features.
    func publish(_ source: any FeatureSource) async throws -> Int {
        let place = try place()
        var reading = ProgressBar("Reading")
        let schema = try source.schema { reading.advance(to: $0) }
        reading.finish("Read \(schema.featureCount) features with \(schema.fields.count) fields")
        return try await inWorkshop(beside: place) { workshop in
            let store = try await GeoPackageStore.open(at: workshop)
            do {
                let own = ServiceName(name: service.name)
                var definition = definition(schema)
                definition.name = own
                try await store.createService(definition)
                let count = try await load(source, schema, into: store, own)
                try await store.close()
                return count
            } catch {
                try? await store.close()
                throw error
            }
        }
    }

    /// Copies a GeoPackage and publishes the copy.
    func publish(geoPackage url: URL) async throws -> Int {
        guard FileManager.default.isReadableFile(atPath: url.path) else {
            throw CommandFailure(.noInput, "\(url.path) is not there, or can't be read.")
        }
        // What another program has written and not yet put into the file would be missing from a copy of it.
        let log = try? FileManager.default.attributesOfItem(atPath: url.path + "-wal")[.size] as? Int
        guard (log ?? 0) == 0 else {
            throw CommandFailure(
                .badData,
                "Another program has \(url.lastPathComponent) open, or left changes beside it. Close it there first.")
        }
        return try await inWorkshop(beside: try place()) { workshop in
            let copy = workshop.appending(path: "\(service.name).gpkg", directoryHint: .notDirectory)
            try FileManager.default.copyItem(at: url, to: copy)
            try await GeoPackageFile.prepare(at: copy, as: ServiceName(name: service.name))
            let file = try await GeoPackageStore.openFile(at: copy)
            var count = 0
            for layer in file.definition.layers { count += try await file.count(FeatureQuery(), in: layer.id) }
            try await file.checkpoint()
            await file.close()
            return count
        }
    }

    private func inWorkshop(beside place: URL, _ work: (URL) async throws -> Int) async throws -> Int {
        let parent = place.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        let workshop = parent.appending(
            path: ".\(service.name).\(UUID().uuidString).making", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: workshop, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workshop) }
        let count = try await work(workshop)
        try Task.checkCancellation()
        try DurableFile.move(workshop.appending(path: place.lastPathComponent, directoryHint: .notDirectory), to: place)
        return count
    }

    private func definition(_ schema: SourceSchema) -> ServiceDefinition {
        let objectID = FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false)
        let globalID = FieldDefinition(name: "GlobalID", type: .globalID, isNullable: false, isEditable: false)
        let layer = LayerDefinition(
            id: 0, name: layerName, geometryType: schema.geometryType, hasZ: schema.hasZ,
            spatialReference: schema.spatialReference, fields: [objectID, globalID] + schema.fields,
            globalIDField: "GlobalID", displayField: schema.fields.first { $0.type == .string }?.name,
            templates: [
                FeatureTemplateDefinition(name: layerName, drawingTool: Self.drawingTool(schema.geometryType))
            ], drawingInfo: Self.drawingInfo(schema.geometryType))
        return ServiceDefinition(
            name: ServiceName(name: service.name), spatialReference: schema.spatialReference, layers: [layer])
    }

    private static func drawingTool(_ type: LayerGeometryType?) -> String? {
        switch type {
        case .point?, .multipoint?: "esriFeatureEditToolPoint"
        case .polyline?: "esriFeatureEditToolLine"
        case .polygon?: "esriFeatureEditToolPolygon"
        default: nil
        }
    }

    private static func drawingInfo(_ type: LayerGeometryType?) -> JSONValue? {
        switch type {
        case .point?, .multipoint?: DemoSymbols.simple(DemoSymbols.marker("Circle", [30, 122, 76], size: 8))
        case .polyline?:
            DemoSymbols.simple(
                ["type": "esriSLS", "style": "esriSLSSolid", "color": [52, 110, 160, 255], "width": 2])
        case .polygon?: DemoSymbols.simple(DemoSymbols.fill([52, 110, 160, 60], outline: [52, 110, 160]))
        default: nil
        }
    }

    private func load(
        _ source: any FeatureSource, _ schema: SourceSchema, into store: GeoPackageStore, _ name: ServiceName
    ) async throws -> Int {
        // The source reads on its own thread and hands over full batches: reading waits for writing.
        var bar = ProgressBar("Publishing", total: schema.featureCount)
        var loaded = 0
        var skipped = 0
        let gate = BatchGate()
        for try await batch in BatchReader.batches(of: source, schema, size: Self.batchSize, gate: gate) {
            gate.open()
            try Task.checkCancellation()
            for bad in batch.badRows {
                guard skipsBadRows else {
                    throw CommandFailure(
                        .badData,
                        "\(bad.place): \(bad.reason). Nothing was published; --skip-bad-rows leaves such rows out.")
                }
                Terminal.error("Skipped \(bad.place): \(bad.reason)")
                skipped += 1
            }
            let result = try await store.apply(
                EditBatch(
                    layers: [LayerEdits(layerID: 0, adds: batch.adds)], rollsBackOnFailure: !skipsBadRows,
                    moment: Date(),
                    origin: .load), to: name)
            let errors = result.layers.flatMap(\.adds).compactMap(\.error).filter { $0 != .rolledBack }
            if let error = errors.first, !skipsBadRows {
                throw CommandFailure(.badData, "\(error.description) Nothing was published.")
            }
            for error in errors { Terminal.error("Skipped: \(error.description)") }
            skipped += errors.count
            loaded += batch.adds.count - errors.count
            bar.advance(to: loaded)
        }
        bar.finish("Wrote \(loaded) features" + (skipped > 0 ? ", skipped \(skipped)" : ""))
        return loaded
    }
}

/// A piece of a source, read ahead while the one before it is written.
private struct FeatureBatch: Sendable {
    var adds: [FeatureEdit] = []
    var badRows: [BadRow] = []
}

/// Turns a source's callback into batches that are taken one after the other.
private enum BatchReader {
    static func batches(
        of source: any FeatureSource, _ schema: SourceSchema, size: Int, gate: BatchGate
    ) -> AsyncThrowingStream<FeatureBatch, any Error> {
        AsyncThrowingStream { continuation in
            continuation.onTermination = { _ in gate.stop() }
            Thread {
                do {
                    var batch = FeatureBatch()
                    try source.forEach(schema) { row in
                        switch row {
                        case .success(let feature): batch.adds.append(feature)
                        case .failure(let bad): batch.badRows.append(bad)
                        }
                        if batch.adds.count + batch.badRows.count >= size {
                            guard gate.waitForTurn() else { throw CancellationError() }
                            continuation.yield(batch)
                            batch = FeatureBatch()
                        }
                    }
                    if !batch.adds.isEmpty || !batch.badRows.isEmpty { continuation.yield(batch) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }.start()
        }
    }
}

/// Lets a reader be one batch ahead of the writer, no more: memory stays bounded.
private final class BatchGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 1)
    private let isStopped = Atomic(false)

    /// The writer has taken a batch.
    func open() { semaphore.signal() }

    /// Waits until another batch may be handed over; false when nobody wants it any longer.
    func waitForTurn() -> Bool {
        semaphore.wait()
        return !isStopped.load(ordering: .acquiring)
    }

    func stop() {
        isStopped.store(true, ordering: .releasing)
        semaphore.signal()
    }
}
