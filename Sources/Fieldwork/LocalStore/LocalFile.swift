import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// The files of one service on this device: a GeoPackage with cached rows and the journal of unsent edits, and the
/// service's definition as it was seen last, so that the edits can be read without the service.
struct LocalFile: Sendable {
    let folder: URL

    private var packageURL: URL { folder.appending(path: "edits.gpkg") }
    private var definitionURL: URL { folder.appending(path: "service.json") }

    /// The definition as it was seen last; nil when the service was never loaded here.
    func definition() throws -> ServiceDefinition? {
        guard FileManager.default.fileExists(atPath: definitionURL.path) else { return nil }
        let json = try JSONParser.parse(Data(contentsOf: definitionURL))
        do {
            return try ServiceDefinition(storageJSON: json)
        } catch {
            throw CommonError.invalidJSON(
                details: "The stored definition of the service can't be read: \(error.message)")
        }
    }

    /// Opens the file for a definition, and makes or rebuilds it when it does not fit. Unsent edits are carried over.
    func open(_ definition: ServiceDefinition) async throws -> (GeoPackageFile, Journal) {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let known = try self.definition()
        let file: GeoPackageFile
        var journal = Journal()
        if FileManager.default.fileExists(atPath: packageURL.path), let known {
            let present = try await GeoPackageStore.openFile(at: packageURL)
            journal = try await Self.journal(of: present, definition: known)
            if Self.shape(known) == Self.shape(definition) {
                file = present
            } else {
                await present.close()
                file = try await rebuilt(for: definition, carrying: journal)
            }
        } else {
            file = try await GeoPackageStore.createFile(at: packageURL, definition: Self.local(definition))
        }
        try Data(definition.storageJSON.text.utf8).write(to: definitionURL, options: .atomic)
        return (file, journal)
    }

    /// What a file knows of the device's dealings with the service.
    struct Journal: Sendable {
        var edits: [LocalEdit] = []
        /// The last turn that was taken; nil before the first.
        var turn: EditTurn?
    }

    private static func journal(of file: GeoPackageFile, definition: ServiceDefinition) async throws -> Journal {
        var journal = Journal()
        for row in try await file.records(FeatureQuery(), in: LocalEditCoding.tableID) {
            if row.objectID == LocalEditCoding.turnRowID {
                journal.turn = LocalEditCoding.turn(row)
            } else {
                journal.edits.append(try LocalEditCoding.edit(row, layer: definition.layer(id:)))
            }
        }
        return journal
    }

    /// A file for a changed definition with the same unsent edits. It takes the old one's place in one step.
    private func rebuilt(for definition: ServiceDefinition, carrying journal: Journal) async throws -> GeoPackageFile {
        for edit in journal.edits where definition.layer(id: edit.key.layerID) == nil {
            throw GeodatabaseError.featureHasPendingEdits(
                details: "The service no longer has the layer \(edit.key.layerID), which has unsent edits.")
        }
        let newURL = folder.appending(path: "edits-new.gpkg")
        try Self.remove(newURL)
        let new = try await GeoPackageStore.createFile(at: newURL, definition: Self.local(definition))
        try await LocalFile.write(journal.edits.map { .keep($0) }, journal.turn, to: new, definition: definition)
        try await new.checkpoint()
        await new.close()
        // The old log belongs to the old file: it must not be found beside the new one.
        for suffix in ["-wal", "-shm"] { try Self.remove(URL(filePath: packageURL.path + suffix)) }
        guard rename(newURL.path, packageURL.path) == 0 else {
            throw CommonError.io(details: "The local file could not be replaced.")
        }
        return try await GeoPackageStore.openFile(at: packageURL)
    }

    private static func remove(_ url: URL) throws {
        if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
    }

    /// What the local file must have in common with the service. Looks and rights may change freely.
    static func shape(_ definition: ServiceDefinition) -> [[String]] {
        definition.layers.map { layer in
            [
                String(layer.id), layer.objectIDField, layer.globalIDField ?? "", layer.geometryType?.rawValue ?? "",
                layer.spatialReference.map { GeoServicesJSON.json(for: $0).text } ?? "", "\(layer.hasZ) \(layer.hasM)",
            ] + layer.fields.map { "\($0.name) \($0.type.rawValue)" }
        }
    }

    /// The layers as the local file has them: without the service's rules, which the service itself applies. What a user
    /// saved is kept even when it breaks one.
    private static func local(_ definition: ServiceDefinition) -> ServiceDefinition {
        var layers = definition.layers.map { layer in
            var layer = layer
            layer.types = []
            layer.typeIDField = nil
            layer.subtypes = []
            layer.subtypeField = nil
            layer.fieldGroups = []
            layer.relationships = []
            layer.editFields = nil
            layer.fields = layer.fields.map { field in
                var field = field
                field.domain = nil
                field.length = 0
                field.defaultValue = .null
                field.isNullable = field.type != .oid
                return field
            }
            return layer
        }
        layers.append(LocalEditCoding.table)
        return ServiceDefinition(name: ServiceName(name: "edits"), layers: layers)
    }
}

// MARK: Writing

extension LocalFile {
    /// A change of the journal with the row that belongs to it.
    enum Change: Sendable {
        /// The edit stands, and the row shows its current version.
        case keep(LocalEdit)
        /// The edit is settled; the row becomes the service's version, or goes.
        case drop(LocalEdit, row: FeatureRecord?)

        var edit: LocalEdit {
            switch self {
            case .keep(let edit), .drop(let edit, _): edit
            }
        }
    }

    /// Writes changes in one transaction. When it returns they survive the loss of power.
    /// - Parameter turn: the turn that is taken with them.
    static func write(
        _ changes: [Change], _ turn: EditTurn? = nil, to file: GeoPackageFile, definition: ServiceDefinition
    ) async throws {
        var journal = LayerEdits(layerID: LocalEditCoding.tableID)
        if let turn { journal.adds.append(LocalEditCoding.row(turn)) }
        var finished: [FeatureIdentifier] = []
        var layers: [Int: (puts: [FeatureEdit], deletes: [FeatureIdentifier])] = [:]
        for change in changes {
            let (edit, row): (LocalEdit, FeatureRecord?)
            switch change {
            case .keep(let kept):
                (edit, row) = (kept, kept.current)
                journal.adds.append(LocalEditCoding.row(kept))
            case .drop(let dropped, let record):
                (edit, row) = (dropped, record)
                finished.append(.objectID(dropped.rowID))
            }
            if let row, let layer = definition.layer(id: edit.key.layerID) {
                layers[edit.key.layerID, default: ([], [])].puts.append(put(row, layer))
                if row.objectID == edit.key.objectID { continue }
            }
            layers[edit.key.layerID, default: ([], [])].deletes.append(.objectID(edit.key.objectID))
        }
        journal.deletes = .features(finished)
        let batches = layers.map { layerID, rows in
            // A row that was settled and edited again stays: deletes come after adds.
            let kept = Set(rows.puts.compactMap { $0.objectID.map(FeatureIdentifier.objectID) })
            return LayerEdits(
                layerID: layerID, adds: rows.puts, deletes: .features(rows.deletes.filter { !kept.contains($0) }))
        }
        try await write(batches + [journal], to: file)
    }

    /// Takes over rows of the service.
    static func cache(_ records: [FeatureRecord], of layer: LayerDefinition, in file: GeoPackageFile) async throws {
        try await cache(records.map { put($0, layer) }, of: layer, in: file)
    }

    static func cache(_ rows: [FeatureEdit], of layer: LayerDefinition, in file: GeoPackageFile) async throws {
        try await write([LayerEdits(layerID: layer.id, adds: rows)], to: file)
    }

    /// Forgets the cached rows of a layer, except those that are wanted. The ids are looked through some at a time.
    static func clear(
        _ layer: LayerDefinition, in file: GeoPackageFile, keeping isKept: @Sendable (Int64) -> Bool
    ) async throws {
        let key = SQLExpression.field(layer.objectIDField)
        var query = FeatureQuery(order: [.init(expression: key)], limit: Limits.idsPerLook)
        while true {
            let ids = try await file.objectIDs(query, in: layer.id)
            let stale = ids.filter { !isKept($0) }
            if !stale.isEmpty {
                let deletes = LayerEdits(layerID: layer.id, deletes: .features(stale.map { .objectID($0) }))
                try await write([deletes], to: file)
            }
            guard ids.count == Limits.idsPerLook, let last = ids.last else { return }
            query.condition = .binary(.greater, key, .literal(.integer(last)))
        }
    }

    private static func put(_ record: FeatureRecord, _ layer: LayerDefinition) -> FeatureEdit {
        FeatureEdit(
            objectID: record.objectID, globalID: record.globalID,
            attributes: layer.fields.map { ($0.name, record.attributes[$0.name] ?? .null) },
            geometry: record.geometry.map(FeatureEdit.GeometryEdit.geometry) ?? .null)
    }

    private static func write(_ layers: [LayerEdits], to file: GeoPackageFile) async throws {
        let result = try await file.apply(EditBatch(layers: layers, moment: Date.now, origin: .cache))
        let failures = result.layers.flatMap { $0.adds + $0.updates + $0.deletes }.compactMap(\.error)
        if let failure = failures.first(where: { $0 != .rolledBack }) ?? failures.first {
            throw GeodatabaseError.internalError(
                details: "The edit could not be kept on this device: \(failure.description)")
        }
    }
}
