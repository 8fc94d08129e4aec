import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import HTTPTypes

extension FeatureService {
    /// `addFeatures`, `updateFeatures`, `deleteFeatures` and `applyEdits` of a layer or table.
    func edit(
        _ operation: EditAnswer.Operation, _ layer: LayerDefinition, of published: PublishedService,
        _ request: ServiceRequest
    ) async throws -> Answer {
        let permissions = Permissions(service: published.definition, layer: layer)
        let parameters = request.parameters
        let edits: ApplyEditsRequest
        var found = FoundUploads()
        switch operation {
        case .addFeatures:
            edits = try ApplyEditsRequest(adding: parameters, layer: layer, moment: now(), editor: request.editor)
        case .updateFeatures:
            edits = try ApplyEditsRequest(updating: parameters, layer: layer, moment: now(), editor: request.editor)
        case .deleteFeatures:
            edits = try ApplyEditsRequest(deleting: parameters, layer: layer, moment: now(), editor: request.editor)
        case .applyEdits:
            (edits, found) = try await reading(published, request) { finder in
                try ApplyEditsRequest(
                    edits: parameters, layer: layer, moment: now(), editor: request.editor, uploads: finder)
            }
        }
        for layerEdits in edits.batch.layers { try permissions.require(for: layerEdits) }
        let format = try request.format()
        let result = try await store.apply(edits.batch, to: published.definition.name)
        withExtendedLifetime(found) {}
        return .json(EditAnswer.json(result, to: edits, operation), format: format == .html ? .json : format)
    }

    /// `calculate` of a layer or table.
    func calculate(
        _ layer: LayerDefinition, of published: PublishedService, _ request: ServiceRequest
    ) async throws -> Answer {
        let calculation = try CalculateRequest(
            parameters: request.parameters, layer: layer, moment: now(), editor: request.editor)
        let format = try request.format()
        let result = try await store.apply(calculation.batch, to: published.definition.name)
        return .json(try calculation.answer(result), format: format == .html ? .json : format)
    }

    /// `applyEdits` of the service: several layers in one transaction.
    func applyEdits(to published: PublishedService, _ request: ServiceRequest) async throws -> Answer {
        let (edits, found) = try await reading(published, request) { finder in
            try ApplyEditsRequest(
                edits: request.parameters, service: published.definition, moment: now(), editor: request.editor,
                uploads: finder)
        }
        for layerEdits in edits.batch.layers {
            let layer = try published.layer(id: layerEdits.layerID)
            try Permissions(service: published.definition, layer: layer).require(for: layerEdits)
        }
        if edits.batch.turn != nil { try requireEditing(published.definition) }
        let format = try request.format()
        let result = try await store.apply(edits.batch, to: published.definition.name)
        // Files of uploads stay until the store has read them.
        withExtendedLifetime(found) {}
        return .json(
            EditAnswer.json(result, to: edits, of: published.definition), format: format == .html ? .json : format)
    }

    /// A turn is written down even without edits: whoever takes one must be allowed to edit something.
    private func requireEditing(_ service: ServiceDefinition) throws {
        let verbs: [Capability] = [.create, .update, .delete]
        let isEditable = service.layers.contains { layer in
            verbs.contains(where: Permissions(service: service, layer: layer).allow)
        }
        guard isEditable else { throw ServiceError.notSupported }
    }

    /// Reads a request with the uploads of whoever asks.
    private func reading<Edits>(
        _ published: PublishedService, _ request: ServiceRequest,
        _ read: (@escaping UploadedFile.Finder) throws -> Edits
    ) async throws -> (Edits, FoundUploads) {
        guard let uploads else { return (try read { _ in nil }, FoundUploads()) }
        return try await uploads.reading(published.definition.name, editor: request.editor, read)
    }
}
