import FieldworkGeometry
package import Foundation

/// A request that edits features: `applyEdits` of a layer or a service, `addFeatures`, `updateFeatures`, `deleteFeatures`.
package struct ApplyEditsRequest: Sendable {
    package var batch: EditBatch
    /// Whether the answer says when the edit was made.
    package var returnsEditMoment: Bool
    /// Whether the answer has the result of each item; else only whether all went well.
    package var returnsResults: Bool

    private init(
        _ layers: [LayerEdits], _ parameters: RequestParameters, usesGlobalIDs: Bool, results: String, moment: Date,
        editor: String?
    ) throws(ServiceError) {
        let rollsBack = try parameters.bool("rollbackOnFailure") ?? true
        batch = EditBatch(
            layers: layers, usesGlobalIDs: usesGlobalIDs, rollsBackOnFailure: rollsBack, editor: editor, moment: moment)
        returnsEditMoment = try parameters.bool("returnEditMoment") ?? false
        // Without a rollback a client has to learn which items failed.
        returnsResults = try parameters.bool(results) ?? true || !rollsBack
        batch.listsMatches = returnsResults
        // Edits of an upload have a name that their sender did not have to think of.
        batch.turn = try EditTurn(parameters) ?? parameters["editsUploadId"].flatMap(EditTurn.init(uploadID:))
        for name in ["gdbVersion"] where parameters[name].map(Self.isMeant) == true {
            throw .invalidParameter("'\(name)' is not supported.")
        }
        if try parameters.bool("async") == true { throw .invalidParameter("'async' is not supported.") }
    }

    /// Clients send `null`, `{}` or the default version for what they do not mean.
    private static func isMeant(_ text: String) -> Bool {
        !["null", "{}", "[]", "sde.default"].contains(text.lowercased())
    }

    /// `applyEdits` of a layer.
    /// - Parameter uploads: finds the files that attachments name by the id of their upload.
    package init(
        edits parameters: RequestParameters, layer: LayerDefinition, moment: Date, editor: String? = nil,
        uploads: @escaping UploadedFile.Finder = { _ in nil }
    ) throws(ServiceError) {
        let parameters = try Self.withUpload(parameters, uploads)
        let usesGlobalIDs = try parameters.bool("useGlobalIds") ?? false
        let reader = FeatureEditReader(layer: layer, usesGlobalIDs: usesGlobalIDs)
        var edits = LayerEdits(
            layerID: layer.id, adds: try reader.edits(try parameters.jsonText("adds"), .add, name: "adds"),
            updates: try reader.edits(try parameters.jsonText("updates"), .update, name: "updates"),
            deletes: .features(try Self.identifiers("deletes", in: parameters, usesGlobalIDs)))
        edits.attachments = try AttachmentEditsReader(usesGlobalIDs: usesGlobalIDs, uploads: uploads)
            .edits(try parameters.json("attachments"))
        try self.init(
            [edits], parameters, usesGlobalIDs: usesGlobalIDs, results: "returnEditResults", moment: moment,
            editor: editor)
    }

    /// The parameters with what an upload of the edits has.
    private static func withUpload(
        _ parameters: RequestParameters, _ uploads: @escaping UploadedFile.Finder
    ) throws(ServiceError) -> RequestParameters {
        let names = ["adds", "updates", "deletes", "attachments"]
        guard let document = try UploadedEdits(finder: uploads).document(parameters, instead: names) else {
            return parameters
        }
        guard let members = try? document.members() else {
            throw .invalidParameter("'editsUploadId': the upload must be an object with adds, updates and deletes.")
        }
        var parameters = parameters
        for name in names {
            if let value = members[name], !value.isNull { parameters.set(name, value.parameter) }
        }
        return parameters
    }

    private static func refuseUpload(_ parameters: RequestParameters) throws(ServiceError) {
        guard parameters["editsUploadId"].map(isMeant) == true else { return }
        throw .invalidParameter("'editsUploadId' is a parameter of 'applyEdits'.")
    }

    /// `addFeatures`.
    package init(
        adding parameters: RequestParameters, layer: LayerDefinition, moment: Date, editor: String? = nil
    ) throws(ServiceError) {
        let usesGlobalIDs = try parameters.bool("useGlobalIds") ?? false
        let reader = FeatureEditReader(layer: layer, usesGlobalIDs: usesGlobalIDs)
        let adds = try reader.edits(try Self.features(of: parameters), .add, name: "features")
        try Self.refuseAttachments(parameters)
        try self.init(
            [LayerEdits(layerID: layer.id, adds: adds)], parameters, usesGlobalIDs: usesGlobalIDs,
            results: "returnEditResults", moment: moment, editor: editor)
    }

    /// `updateFeatures`.
    package init(
        updating parameters: RequestParameters, layer: LayerDefinition, moment: Date, editor: String? = nil
    ) throws(ServiceError) {
        let usesGlobalIDs = try parameters.bool("useGlobalIds") ?? false
        let reader = FeatureEditReader(layer: layer, usesGlobalIDs: usesGlobalIDs)
        let updates = try reader.edits(try Self.features(of: parameters), .update, name: "features")
        try Self.refuseAttachments(parameters)
        try self.init(
            [LayerEdits(layerID: layer.id, updates: updates)], parameters, usesGlobalIDs: usesGlobalIDs,
            results: "returnEditResults", moment: moment, editor: editor)
    }

    /// `deleteFeatures`: by object ids, or by a condition and a geometry. Without any of them nothing is deleted.
    package init(
        deleting parameters: RequestParameters, layer: LayerDefinition, moment: Date, editor: String? = nil
    ) throws(ServiceError) {
        try Self.refuseUpload(parameters)
        try parameters.refuse(RequestParameters.narrowing, in: "deleteFeatures")
        let edits: LayerEdits
        if parameters["where"] == nil, parameters["geometry"] == nil {
            let ids = try Self.identifiers("objectIds", in: parameters, false)
            guard !ids.isEmpty else { throw .invalidParameter("'objectIds', 'where' or 'geometry' is required.") }
            edits = LayerEdits(layerID: layer.id, deletes: .features(ids))
        } else {
            let query = try FeatureQuery(filter: parameters, layer: layer)
            // A geometry that says nothing (`{}`) would choose everything.
            guard parameters["where"] != nil || query.spatialFilter != nil || query.objectIDs != nil else {
                throw .invalidParameter("'objectIds', 'where' or 'geometry' is required.")
            }
            edits = LayerEdits(layerID: layer.id, deletes: .matching(query))
        }
        try self.init(
            [edits], parameters, usesGlobalIDs: false, results: "returnDeleteResults", moment: moment, editor: editor)
    }

    /// `applyEdits` of a service.
    package init(
        edits parameters: RequestParameters, service: ServiceDefinition, moment: Date, editor: String? = nil,
        uploads: @escaping UploadedFile.Finder = { _ in nil }
    ) throws(ServiceError) {
        let usesGlobalIDs = try parameters.bool("useGlobalIds") ?? false
        guard let elements = try UploadedEdits(finder: uploads).edits(parameters), elements.isArray else {
            throw .invalidParameter("'edits' must be an array of the edits of layers.")
        }
        var layers: [LayerEdits] = []
        try elements.forEachElement { text throws(ServiceError) in
            let element = (try? text.members()) ?? [:]
            guard let id = element["id"]?.integer, let layer = Int(exactly: id).flatMap(service.layer) else {
                throw .invalidParameter("'edits' names a layer or table that the service does not have.")
            }
            guard !layers.contains(where: { $0.layerID == layer.id }) else {
                throw .invalidParameter("'edits' names the layer \(id) twice.")
            }
            let reader = FeatureEditReader(layer: layer, usesGlobalIDs: usesGlobalIDs)
            var edits = LayerEdits(
                layerID: layer.id, adds: try reader.edits(element["adds"], .add, name: "adds"),
                updates: try reader.edits(element["updates"], .update, name: "updates"),
                deletes: .features(try Self.identifiers(element["deletes"], usesGlobalIDs)))
            edits.attachments = try AttachmentEditsReader(usesGlobalIDs: usesGlobalIDs, uploads: uploads)
                .edits(try element["attachments"]?.read(as: "'attachments'"))
            layers.append(edits)
        }
        try self.init(
            layers, parameters, usesGlobalIDs: usesGlobalIDs, results: "returnEditResults", moment: moment,
            editor: editor)
        switch parameters["returnServiceEditsOption"]?.lowercased() {
        case nil, "none": break
        case "originalandcurrentfeatures": batch.returnsEditedFeatures = true
        default: throw .invalidParameter("'returnServiceEditsOption' must be none or originalAndCurrentFeatures.")
        }
    }

    private static func refuseAttachments(_ parameters: RequestParameters) throws(ServiceError) {
        try refuseUpload(parameters)
        guard parameters["attachments"].map(isMeant) == true else { return }
        throw .invalidParameter("'attachments' is a parameter of 'applyEdits'.")
    }

    private static func features(of parameters: RequestParameters) throws(ServiceError) -> JSONText {
        guard let features = try parameters.jsonText("features") else {
            throw .invalidParameter("'features' is required.")
        }
        return features
    }

    private static func identifiers(
        _ name: String, in parameters: RequestParameters, _ usesGlobalIDs: Bool
    ) throws(ServiceError) -> [FeatureIdentifier] {
        usesGlobalIDs
            ? (try parameters.globalIDs(name) ?? []).map(FeatureIdentifier.globalID)
            : (try parameters.objectIDs(name) ?? []).map(FeatureIdentifier.objectID)
    }

    /// Ids within a JSON document: an array, or the text of a list.
    private static func identifiers(_ text: JSONText?, _ usesGlobalIDs: Bool) throws(ServiceError)
        -> [FeatureIdentifier]
    {
        guard let text, !text.isNull else { return [] }
        return try identifiers("deletes", in: RequestParameters([("deletes", text.parameter)]), usesGlobalIDs)
    }
}
