import FieldworkREST
import Foundation

/// Takes out of a delta what the client has just handed in itself, unless the service made something else of it: filled
/// a field, merged another's edit, decided a conflict.
struct EchoFilter {
    let layer: StoredLayer
    let connection: StoreConnection
    /// The generation on which the client made its edits.
    let base: Int64
    /// Whether a feature belongs to the rows that the client keeps.
    let contains: (Int64) throws -> Bool

    private var tracked: [String] { layer.definition.trackedFields }

    func leaveOutWhatIsKnown(from upload: ReplicaLayerUpload, in delta: inout LayerDelta) throws {
        let deleted = Set(upload.deletes)
        delta.deletes.removeAll { $0.globalID.map(deleted.contains) ?? false }
        var adds = Dictionary(upload.adds.keyedByGlobalID, uniquingKeysWith: { _, last in last })
        var updates = Dictionary(upload.updates.keyedByGlobalID, uniquingKeysWith: { _, last in last })
        var result = LayerDelta(deletes: delta.deletes, hasGeometryUpdates: delta.hasGeometryUpdates)
        let versions = VersionReader(layer: layer, connection: connection)
        for (ids, isAdd) in [(delta.adds, true), (delta.updates, false)] {
            for id in ids {
                guard let current = try versions.current(id), let globalID = current.globalID(in: layer) else {
                    continue
                }
                let add = adds.removeValue(forKey: globalID)
                let update = updates.removeValue(forKey: globalID)
                if add == nil, update == nil {
                    // What the client has deleted and the service kept is new to it again.
                    if isAdd || deleted.contains(globalID) { result.adds.append(id) } else { result.updates.append(id) }
                } else if isAdd, add == nil {
                    // What it changed without having it any more is back as the service had it.
                    result.updates.append(id)
                    result.returned.append(id)
                } else if try !isKnown(current, id, add, update, versions) {
                    result.updates.append(id)
                }
            }
        }
        for globalID in Set(adds.keys).union(updates.keys) {
            if let id = try find(globalID), try contains(id) {
                // Nothing became of the edit: the client has the row otherwise than it is.
                guard let current = try versions.current(id),
                    try !isKnown(current, id, adds[globalID], updates[globalID], versions)
                else { continue }
                result.updates.append(id)
            } else if let id = try find(globalID) ?? gone(globalID, versions),
                !result.deletes.contains(where: { $0.objectID == id })
            {
                result.deletes.append(DeletedFeature(objectID: id, globalID: globalID))
            }
        }
        delta = result
    }

    /// Whether the client has the row as it is now.
    private func isKnown(
        _ current: RowVersion, _ id: Int64, _ add: FeatureEdit?, _ update: FeatureEdit?, _ versions: VersionReader
    ) throws -> Bool {
        // Its device has written down another moment, and another name, than the service has by now.
        if let update, !tracked.isEmpty, !update.attributes.contains(where: { tracked.contains($0.name) }) {
            return false
        }
        var known = RowVersion(values: layer.columns.map { _ in .null }, geometry: nil)
        if add == nil { known = try versions.version(of: id, at: base) ?? known }
        for edit in [add, update].compactMap(\.self) {
            for attribute in edit.attributes {
                guard let index = layer.index(of: attribute.name) else { continue }
                known.values[index] = RowVersion.comparable(attribute.value, layer.columns[index])
            }
            switch edit.geometry {
            case .unchanged: break
            case .null: known.geometry = nil
            case .geometry(let geometry): known.geometry = try? GeometryRules.blob(for: geometry, in: layer)
            }
        }
        guard RowVersion.isSameGeometry(known.geometry, current.geometry) else { return false }
        return layer.columns.indices.allSatisfy { index in
            index == layer.objectIDIndex || index == layer.globalIDIndex || !layer.columns[index].isStored
                || known.values[index] == current.values[index]
        }
    }

    /// A feature that the client handed in and that somebody has deleted since. What could not be applied at all was
    /// never there, and is the client's to keep.
    private func gone(_ globalID: UUID, _ versions: VersionReader) throws -> Int64? {
        try versions.deleted(globalID)?.objectID
    }

    /// The object id of a feature that is there, whether it belongs to the client's rows or not.
    private func find(_ globalID: UUID) throws -> Int64? {
        guard let column = layer.globalIDColumn.map(quoted) else { return nil }
        return try connection.integer(
            "SELECT \(quoted(layer.objectIDColumn)) FROM \(quoted(layer.tableName)) WHERE \(column) = ?"
        ) { try $0.bind(GUID.normalForm(globalID), at: 1) }
    }
}

extension [FeatureEdit] {
    var keyedByGlobalID: [(UUID, FeatureEdit)] { compactMap { edit in edit.globalID.map { ($0, edit) } } }
}
