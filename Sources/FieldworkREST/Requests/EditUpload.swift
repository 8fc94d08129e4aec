import FieldworkGeometry

/// The client's side of editing: a batch as the parameters of `applyEdits`.
package enum EditUpload {
    /// The parameters of the service's `applyEdits`: all layers in one transaction.
    ///
    /// - Throws: for edits of a layer that is not among `layers`, for deletes by condition, which `applyEdits` has no
    ///   word for, and for an update that can't be identified.
    package static func serviceParameters(
        _ batch: EditBatch, layers: [LayerDefinition]
    ) throws(ServiceError) -> [(name: String, value: String)] {
        var bytes: [UInt8] = [0x5B]
        for (index, edits) in batch.layers.enumerated() {
            guard let layer = layers.first(where: { $0.id == edits.layerID }) else {
                throw .invalidParameter("The service has no layer \(edits.layerID).")
            }
            let writer = FeatureEditWriter(layer: layer, usesGlobalIDs: batch.usesGlobalIDs)
            if index > 0 { bytes.append(0x2C) }
            bytes.append(contentsOf: "{\"id\":\(layer.id),\"adds\":".utf8)
            try writer.append(edits.adds, .add, to: &bytes)
            bytes.append(contentsOf: ",\"updates\":".utf8)
            try writer.append(edits.updates, .update, to: &bytes)
            bytes.append(contentsOf: ",\"deletes\":".utf8)
            try writer.append(edits.deletes, to: &bytes)
            bytes.append(0x7D)
        }
        bytes.append(0x5D)
        return [("edits", String(decoding: bytes, as: UTF8.self))] + common(batch)
    }

    /// The parameters of one layer's `applyEdits`, for services that have none of their own.
    package static func layerParameters(
        _ edits: LayerEdits, of batch: EditBatch, layer: LayerDefinition
    ) throws(ServiceError) -> [(name: String, value: String)] {
        let writer = FeatureEditWriter(layer: layer, usesGlobalIDs: batch.usesGlobalIDs)
        var parameters: [(name: String, value: String)] = []
        var bytes: [UInt8] = []
        try writer.append(edits.adds, .add, to: &bytes)
        parameters.append(("adds", String(decoding: bytes, as: UTF8.self)))
        bytes.removeAll(keepingCapacity: true)
        try writer.append(edits.updates, .update, to: &bytes)
        parameters.append(("updates", String(decoding: bytes, as: UTF8.self)))
        bytes.removeAll(keepingCapacity: true)
        try writer.append(edits.deletes, to: &bytes)
        parameters.append(("deletes", String(decoding: bytes, as: UTF8.self)))
        return parameters + common(batch)
    }

    private static func common(_ batch: EditBatch) -> [(name: String, value: String)] {
        [
            ("useGlobalIds", String(batch.usesGlobalIDs)), ("rollbackOnFailure", String(batch.rollsBackOnFailure)),
            ("returnEditResults", "true"), ("returnEditMoment", "true"), ("f", "json"),
        ]
    }
}

/// Writes features of edits as `applyEdits` takes them.
struct FeatureEditWriter: Sendable {
    let layer: LayerDefinition
    let usesGlobalIDs: Bool

    func append(
        _ edits: [FeatureEdit], _ kind: FeatureEditReader.Kind, to bytes: inout [UInt8]
    ) throws(ServiceError) {
        bytes.append(0x5B)
        for (index, edit) in edits.enumerated() {
            if index > 0 { bytes.append(0x2C) }
            try append(edit, kind, to: &bytes)
        }
        bytes.append(0x5D)
    }

    private func append(
        _ edit: FeatureEdit, _ kind: FeatureEditReader.Kind, to bytes: inout [UInt8]
    ) throws(ServiceError) {
        if let rejection = edit.rejection { throw .invalidParameter(rejection.description) }
        var attributes = JSONObject()
        if kind == .update, let objectID = edit.objectID { attributes[layer.objectIDField] = .integer(objectID) }
        if let field = layer.globalIDField, let id = edit.globalID { attributes[field] = .string(GUID.normalForm(id)) }
        guard kind == .add || !attributes.isEmpty else {
            throw .invalidParameter("An update needs an object id or a global id.")
        }
        for (name, value) in edit.attributes where attributes[name] == nil { attributes[name] = value.json }
        bytes.append(contentsOf: "{\"attributes\":".utf8)
        JSONValue.object(attributes).write(to: &bytes)
        switch edit.geometry {
        case .unchanged: break
        case .null: bytes.append(contentsOf: ",\"geometry\":null".utf8)
        case .geometry(let geometry):
            bytes.append(contentsOf: ",\"geometry\":".utf8)
            GeoServicesJSON.append(geometry, includingSpatialReference: true, to: &bytes)
        }
        bytes.append(0x7D)
    }

    func append(_ deletes: LayerEdits.Deletes, to bytes: inout [UInt8]) throws(ServiceError) {
        guard case .features(let identifiers) = deletes else {
            throw .invalidParameter("'applyEdits' deletes features by id only.")
        }
        bytes.append(0x5B)
        for (index, identifier) in identifiers.enumerated() {
            if index > 0 { bytes.append(0x2C) }
            switch identifier {
            case .objectID(let id) where !usesGlobalIDs: JSONBytes.append(id, to: &bytes)
            case .globalID(let id) where usesGlobalIDs: JSONBytes.append(GUID.normalForm(id), to: &bytes)
            default: throw .invalidParameter("All deletes of a batch are by object id or all are by global id.")
            }
        }
        bytes.append(0x5D)
    }
}
