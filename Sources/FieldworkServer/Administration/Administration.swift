import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import HTTPTypes

/// The administrative operations (rest-api §1.9): definitions are changed and layers emptied by whoever has the key.
struct Administration: Sendable {
    let store: any FeatureStore
    let catalog: ServiceCatalog
    let service: FeatureService
    /// nil: administration is off.
    let key: AdministrationKey?

    /// - Parameter segments: what follows `rest/admin/services`.
    func answer(_ segments: [String], _ request: ServiceRequest) async throws -> Answer {
        try authorize(request)
        let position = segments.prefix(3).firstIndex { $0.equalsIgnoringCase("FeatureServer") }
        guard let position, position == 1 || position == 2 else { throw ServiceError.notFound("Service not found.") }
        let path = segments[..<position].joined(separator: "/")
        guard let published = try await catalog.service(path: path) else {
            throw ServiceError.notFound("Service \(path) not found.")
        }
        let format = try request.format()
        let json = try await answer(AdministrationResource(segments[(position + 1)...]), published, request)
        return .json(json, format: format == .html ? .json : format)
    }

    /// Loopback is no exception: a page in a browser of this machine reaches it as well.
    private func authorize(_ request: ServiceRequest) throws(ServiceError) {
        guard let key else {
            throw ServiceError(
                code: 403, message: "Administration is off.",
                details: ["The server was started without --admin-key-file."])
        }
        guard let token = request.parameters["token"], !token.isEmpty else {
            throw ServiceError(code: 499, message: "Token Required.")
        }
        guard key.opens(with: token) else { throw ServiceError(code: 498, message: "Invalid token.") }
    }

    private func answer(
        _ resource: AdministrationResource, _ published: PublishedService, _ request: ServiceRequest
    ) async throws -> JSONValue {
        switch resource {
        case .service: return published.definition.document
        case .layer(let id): return try await service.layer(published.layer(id: id), of: published)
        case .unknown:
            throw ServiceError(
                code: 400, message: "Invalid URL", details: ["There is no such administrative operation."])
        case .edit, .truncate, .refresh:
            try request.requirePost()
            if try request.parameters.bool("async") == true {
                throw ServiceError.invalidParameter("'async' is not supported: the answer comes when all is done.")
            }
        }
        switch resource {
        case .edit(let operation, let layerID): return try await edit(operation, layerID, published, request)
        case .truncate(let id): try await truncate(published.layer(id: id), published, request)
        default: break
        }
        catalog.invalidate()
        return ["success": true]
    }

    // MARK: Definitions

    private func edit(
        _ operation: DefinitionEdit.Operation, _ layerID: Int?, _ published: PublishedService,
        _ request: ServiceRequest
    ) async throws -> JSONValue {
        let edit = try DefinitionEdit(operation, layerID: layerID, parameters: request.parameters)
        // The definition as it is, not as it was remembered a moment ago.
        let name = published.definition.name
        let current = try await store.service(name)
        let (document, added) = try edit.applied(to: current.document)
        let changed: ServiceDefinition
        do {
            changed = try ServiceDefinition(document: document, name: name, replacing: current)
        } catch {
            throw error.serviceError
        }
        defer { catalog.invalidate() }
        try await store.updateService(
            changed, allowing: Self.changes(operation, isOfLayer: layerID != nil), replacing: current)
        var answer = JSONObject(["success": true])
        if !added.isEmpty {
            answer["layers"] = .array(added.map { ["id": JSONValue($0.id), "name": .string($0.name)] })
        }
        return .object(answer)
    }

    private static func changes(_ operation: DefinitionEdit.Operation, isOfLayer: Bool) -> DefinitionChanges {
        switch operation {
        case .addToDefinition: isOfLayer ? .addsFields : .addsLayers
        case .updateDefinition: []
        case .deleteFromDefinition: isOfLayer ? .removesFields : .removesLayers
        }
    }

    // MARK: Features

    /// Deletes all features, as an edit: history and change log know of each, and replicas learn of it.
    private func truncate(
        _ layer: LayerDefinition, _ published: PublishedService, _ request: ServiceRequest
    ) async throws {
        if try request.parameters.bool("attachmentOnly") == true {
            throw ServiceError.invalidParameter("'attachmentOnly' is not supported.")
        }
        let edits = LayerEdits(layerID: layer.id, deletes: .matching(FeatureQuery()))
        var batch = EditBatch(layers: [edits], editor: request.editor, moment: service.now())
        batch.listsMatches = false
        let result = try await store.apply(batch, to: published.definition.name)
        guard let error = result.layers.flatMap(\.deletes).compactMap(\.error).first else { return }
        throw ServiceError(code: error.code, message: "The layer was not emptied.", details: [error.description])
    }
}
