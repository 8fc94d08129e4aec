package import FieldworkGeometry
package import FieldworkREST
package import FieldworkStore
package import Foundation

/// What became of the rows of a file.
package struct Publication: Sendable, Equatable {
    package var featureCount: Int
    /// Rows that could not become features and were left out, each with its own line on standard error.
    package var skippedCount: Int

    package init(featureCount: Int, skippedCount: Int) {
        self.featureCount = featureCount
        self.skippedCount = skippedCount
    }

    package func json(of service: ServiceName) -> JSONValue {
        [
            "service": .string(service.path), "features": JSONValue(featureCount), "skipped": JSONValue(skippedCount),
        ]
    }
}

/// Makes a service of a file: under another name first, then put in its place whole.
package struct Publisher {
    package var folder: URL
    package var service: ServiceName
    package var layerName: String
    package var skipsBadRows: Bool
    package var listener: PublishingListener

    package init(
        folder: URL, service: ServiceName, layerName: String, skipsBadRows: Bool, listener: PublishingListener
    ) {
        self.folder = folder
        self.service = service
        self.layerName = layerName
        self.skipsBadRows = skipsBadRows
        self.listener = listener
    }

    /// Features of one transaction of the load. The store sorts within it, so that neighbours on the map become
    /// neighbours in the file: the larger, the better, within memory.
    private static let batchSize = 250_000

    package func place() throws -> URL {
        let place = try GeoPackageStore.place(of: service, in: folder)
        guard try !GeoPackageStore.isUnpublished(service, in: folder) else {
            throw PublishingError(
                .cannotCreate,
                "There is an unpublished service \(service.path).",
                hint: "fieldwork unpublish \(service.path) --restore serves it again, --delete removes it for good.")
        }
        guard !FileManager.default.fileExists(atPath: place.path) else {
            throw PublishingError(
                .cannotCreate, "There is a service \(service.path) already.", hint: "Choose another --service.")
        }
        return place
    }

    package func publish(_ source: any FeatureSource) async throws -> Publication {
        let place = try place()
        let schema = try await Self.schema(of: source, listener)
        listener.finish(
            .reading, "Read \(Counted.features(schema.featureCount)) with \(Counted.text(schema.fields.count, "field"))"
        )
        for note in schema.notes { listener.note(note) }
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

    /// Reads a source for the first time, on a thread of its own: it may take long, and other work goes on meanwhile.
    package static func schema(
        of source: any FeatureSource, _ listener: PublishingListener
    ) async throws -> SourceSchema {
        try await withCheckedThrowingContinuation { continuation in
            Thread {
                continuation.resume(with: Result { try source.schema { listener.advance(.reading, $0) } })
            }.start()
        }
    }

    /// Copies a GeoPackage and publishes the copy. What had to be changed in it is said.
    package func publish(geoPackage url: URL, _ options: ForeignImportOptions) async throws -> Publication {
        guard FileManager.default.isReadableFile(atPath: url.path) else {
            throw PublishingError(.noInput, "\(url.path) is not there, or can't be read.")
        }
        return try await inWorkshop(beside: try place()) { workshop in
            let copy = workshop.appending(path: "\(service.name).gpkg", directoryHint: .notDirectory)
            let notices: [ForeignImportNotice]
            do {
                try await GeoPackageFile.copy(from: url, to: copy)
                notices = try await GeoPackageFile.adapt(copy: copy, options)
                for notice in notices { listener.note(notice.text) }
                // Layers that were split off have names of their own.
                try await GeoPackageFile.prepare(
                    at: copy, as: ServiceName(name: service.name),
                    layerName: notices.contains(where: \.isSplit) ? nil : options.layerName)
            } catch let error as StoreError {
                // The error names the temporary copy; the user knows the file by the name that was given.
                throw StoreError(
                    error.code, error.message.replacing(copy.lastPathComponent, with: url.lastPathComponent))
            }
            return Publication(
                featureCount: try await count(copy, layerName: options.layerName),
                skippedCount: notices.map(\.skippedCount).reduce(0, +))
        }
    }

    /// - Parameter layerName: the name that was asked for; nil for any.
    private func count(_ url: URL, layerName: String?) async throws -> Int {
        let file = try await GeoPackageStore.openFile(at: url)
        do {
            if let layerName { try requireName(layerName, in: file) }
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

    /// The layers of a file that Fieldwork made keep their names.
    private func requireName(_ name: String, in file: GeoPackageFile) throws {
        let names = file.definition.layers.map(\.name)
        guard !names.contains(where: { $0.hasPrefix(name) }) else { return }
        throw PublishingError(
            .badData,
            "--layer can't rename the layers of a file that Fieldwork made (\(names.joined(separator: ", "))): leave it out."
        )
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

    /// One layer for each kind of geometry.
    package func definition(_ schema: SourceSchema) -> ServiceDefinition {
        let kinds: [LayerGeometryType?] = schema.kinds.isEmpty ? [nil] : schema.kinds
        let layers = kinds.enumerated().map { id, kind in
            let suffix = kinds.count > 1 ? kind.map { "_\($0.layerSuffix)" } ?? "" : ""
            return layer(id, layerName + suffix, kind, schema)
        }
        return ServiceDefinition(
            name: ServiceName(name: service.name), spatialReference: schema.spatialReference, layers: layers)
    }

    private func layer(
        _ id: Int, _ name: String, _ kind: LayerGeometryType?, _ schema: SourceSchema
    ) -> LayerDefinition {
        let objectID = FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false)
        let globalID = FieldDefinition(name: "GlobalID", type: .globalID, isNullable: false, isEditable: false)
        return LayerDefinition(
            id: id, name: name, geometryType: kind, hasZ: schema.hasZ, spatialReference: schema.spatialReference,
            fields: [objectID, globalID] + schema.fields, globalIDField: "GlobalID",
            displayField: schema.fields.first { $0.type == .string }?.name,
            templates: [FeatureTemplateDefinition(name: name, drawingTool: Self.drawingTool(kind))],
            drawingInfo: Self.drawingInfo(kind))
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
        case .point?, .multipoint?: PlainSymbols.simple(PlainSymbols.marker("Circle", [30, 122, 76], size: 8))
        case .polyline?:
            PlainSymbols.simple(
                ["type": "esriSLS", "style": "esriSLSSolid", "color": [52, 110, 160, 255], "width": 2])
        case .polygon?: PlainSymbols.simple(PlainSymbols.fill([52, 110, 160, 60], outline: [52, 110, 160]))
        default: nil
        }
    }

    /// Tells of rows that are left out, or ends the publishing.
    private func refuse(_ rows: [(place: String, reason: String)]) throws {
        guard let first = rows.first else { return }
        guard skipsBadRows else {
            let more = rows.count > 1 ? " \(Self.more(rows.count - 1))" : ""
            throw PublishingError(
                .badData,
                "\(first.place): \(first.reason)\(more) Nothing was published.",
                hint: "--skip-bad-rows leaves such rows out.")
        }
        for row in rows { listener.note("Skipped \(row.place): \(row.reason)") }
    }

    private static func more(_ count: Int) -> String {
        count == 1 ? "There is 1 more bad row." : "There are \(count) more bad rows."
    }

    private func load(
        _ source: any FeatureSource, _ schema: SourceSchema, into store: GeoPackageStore, _ name: ServiceName
    ) async throws -> Publication {
        // The source reads on its own thread and hands over full batches: reading waits for writing.
        var loaded = 0
        var skipped = 0
        let gate = BatchGate()
        let file = try await store.file(name)
        try await file.beginLoad(bringsGlobalIDs: schema.identity.globalID != nil)
        for try await batch in BatchReader.batches(of: source, schema, size: Self.batchSize, gate: gate) {
            gate.open()
            try Task.checkCancellation()
            try refuse(batch.badRows.map { (source.name(of: $0.place), $0.row.reason) })
            let parts = Self.parts(batch, schema.kinds)
            let result = try await store.apply(
                EditBatch(
                    layers: parts.enumerated().map { LayerEdits(layerID: $0.offset, adds: $0.element.adds) },
                    usesGlobalIDs: schema.identity.globalID != nil, rollsBackOnFailure: !skipsBadRows, moment: Date(),
                    origin: .load), to: name)
            let outcomes = zip(parts.flatMap(\.places), result.layers.flatMap(\.adds))
            let errors = outcomes.compactMap { place, item -> (place: String, reason: String)? in
                guard let error = item.error, error != .rolledBack else { return nil }
                return (source.name(of: place), error.description)
            }
            try refuse(errors)
            skipped += batch.badRows.count + errors.count
            loaded += batch.adds.count - errors.count
            listener.advance(.writing(schema.featureCount), loaded)
        }
        try await file.endLoad()
        listener.finish(
            .writing(schema.featureCount),
            "Wrote \(Counted.features(loaded))" + (skipped > 0 ? ", skipped \(skipped)" : ""))
        // Nothing but bad rows is no layer with gaps, it is the wrong file.
        guard loaded > 0 || skipped == 0 else {
            throw PublishingError(.badData, "None of the \(skipped) rows can become a feature. Nothing was published.")
        }
        if schema.kinds.count > 1 {
            let names = schema.kinds.map { "\(layerName)_\($0.layerSuffix)" }
            listener.note(ForeignImportNotice.split(table: source.fileName, into: names).text)
        }
        return Publication(featureCount: loaded, skippedCount: skipped)
    }

    /// The features of each layer. One without a geometry goes to the first.
    private static func parts(_ batch: FeatureBatch, _ kinds: [LayerGeometryType]) -> [FeatureBatch] {
        guard kinds.count > 1 else { return [batch] }
        var parts = kinds.map { _ in FeatureBatch() }
        for (add, place) in zip(batch.adds, batch.places) {
            var kind: LayerGeometryType?
            if case .geometry(let geometry) = add.geometry { kind = Self.kind(of: geometry) }
            let index = kind.flatMap { kinds.firstIndex(of: $0) } ?? 0
            parts[index].adds.append(add)
            parts[index].places.append(place)
        }
        return parts
    }

    private static func kind(of geometry: Geometry) -> LayerGeometryType? {
        switch geometry {
        case is Point: .point
        case is Multipoint: .multipoint
        case is Polyline: .polyline
        case is Polygon: .polygon
        default: nil
        }
    }
}
