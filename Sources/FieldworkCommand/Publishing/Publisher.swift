import Dispatch
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

/// What became of the rows of a file.
struct Publication: Sendable, Equatable {
    var featureCount: Int
    /// Rows that could not become features and were left out, each with its own line on standard error.
    var skippedCount: Int
}

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
        let place = try GeoPackageStore.place(of: service, in: folder)
        guard !FileManager.default.fileExists(atPath: place.path) else {
            throw CommandFailure(.cannotCreate, "There is a service \(service.path) already. Choose another --service.")
        }
        return place
    }

    func publish(_ source: any FeatureSource) async throws -> Publication {
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
                let publication = try await load(source, schema, into: store, own)
                try await store.close()
                return publication
            } catch {
                try? await store.close()
                throw error
            }
        }
    }

    /// Copies a GeoPackage and publishes the copy.
    func publish(geoPackage url: URL) async throws -> Publication {
        guard FileManager.default.isReadableFile(atPath: url.path) else {
            throw CommandFailure(.noInput, "\(url.path) is not there, or can't be read.")
        }
        return try await inWorkshop(beside: try place()) { workshop in
            let copy = workshop.appending(path: "\(service.name).gpkg", directoryHint: .notDirectory)
            try await GeoPackageFile.copy(from: url, to: copy)
            try await GeoPackageFile.prepare(at: copy, as: ServiceName(name: service.name))
            return Publication(featureCount: try await count(copy), skippedCount: 0)
        }
    }

    private func count(_ url: URL) async throws -> Int {
        let file = try await GeoPackageStore.openFile(at: url)
        do {
            var count = 0
            for layer in file.definition.layers { count += try await file.count(FeatureQuery(), in: layer.id) }
            try await file.checkpoint()
            await file.close()
            return count
        } catch {
            await file.close()
            throw error
        }
    }

    private func inWorkshop(
        beside place: URL, _ work: (URL) async throws -> Publication
    ) async throws -> Publication {
        let parent = place.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        let workshop = parent.appending(
            path: ".\(service.name).\(UUID().uuidString).making", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: workshop, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workshop) }
        let publication = try await work(workshop)
        try Task.checkCancellation()
        let made = workshop.appending(path: place.lastPathComponent, directoryHint: .notDirectory)
        try DurableFile.requireNoLog(beside: made)
        try DurableFile.place(made, at: place)
        return publication
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

    /// Tells of a row that is left out, or ends the publishing.
    private func refuse(_ place: String, _ reason: String) throws {
        guard skipsBadRows else {
            throw CommandFailure(
                .badData,
                "\(place): \(reason) Nothing was published; --skip-bad-rows leaves such rows out.")
        }
        Terminal.error("Skipped \(place): \(reason)")
    }

    private func load(
        _ source: any FeatureSource, _ schema: SourceSchema, into store: GeoPackageStore, _ name: ServiceName
    ) async throws -> Publication {
        // The source reads on its own thread and hands over full batches: reading waits for writing.
        var bar = ProgressBar("Publishing", total: schema.featureCount)
        var loaded = 0
        var skipped = 0
        let gate = BatchGate()
        for try await batch in BatchReader.batches(of: source, schema, size: Self.batchSize, gate: gate) {
            gate.open()
            try Task.checkCancellation()
            for (place, bad) in batch.badRows { try refuse(source.name(of: place), bad.reason) }
            let result = try await store.apply(
                EditBatch(
                    layers: [LayerEdits(layerID: 0, adds: batch.adds)], rollsBackOnFailure: !skipsBadRows,
                    moment: Date(), origin: .load), to: name)
            var errors = 0
            for (place, item) in zip(batch.places, result.layers.flatMap(\.adds)) {
                guard let error = item.error, error != .rolledBack else { continue }
                errors += 1
                try refuse(source.name(of: place), error.description)
            }
            skipped += batch.badRows.count + errors
            loaded += batch.adds.count - errors
            bar.advance(to: loaded)
        }
        bar.finish("Wrote \(loaded) features" + (skipped > 0 ? ", skipped \(skipped)" : ""))
        // Nothing but bad rows is no layer with gaps, it is the wrong file.
        guard loaded > 0 || skipped == 0 else {
            throw CommandFailure(.badData, "None of the \(skipped) rows can become a feature. Nothing was published.")
        }
        return Publication(featureCount: loaded, skippedCount: skipped)
    }
}

/// A piece of a source, read ahead while the one before it is written.
private struct FeatureBatch: Sendable {
    var adds: [FeatureEdit] = []
    /// Where each of the adds stands in the source.
    var places: [Int] = []
    var badRows: [(place: Int, row: BadRow)] = []
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
                    try source.forEach(schema) { row, place in
                        switch row {
                        case .success(let feature):
                            batch.adds.append(feature)
                            batch.places.append(place)
                        case .failure(let bad): batch.badRows.append((place, bad))
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
