import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation
import HTTPTypes

/// The administrative operations: definitions are changed and layers emptied by whoever has the key.
struct Administration: Sendable {
    let store: any FeatureStore
    let catalog: ServiceCatalog
    let service: FeatureService
    /// nil: administration is off.
    let key: AdministrationKey?

    /// Loopback is no exception: a page in a browser of this machine reaches it as well.
    /// - Parameter path: the service that is administered: its owner may, and administrators.
    func authorize(_ request: ServiceRequest, _ path: String?, _ access: Access) async throws {
        if let key, let token = request.token, key.opens(with: token) { return }
        guard request.principal.kind == .everybody else {
            if let error = request.tokenError { throw error }
            guard request.principal.isSignedIn else { throw ServiceError.tokenRequired }
            if request.principal.isAdministrator { return }
            guard let path, let published = try await catalog.service(path: path) else { throw ServiceError.forbidden }
            let rights = try await access.rights(of: request.principal, on: published.definition.name)
            return try access.require(.administer, rights, of: request.principal)
        }
        guard key != nil else {
            throw ServiceError(
                code: 403, message: "Administration is off.",
                details: ["The server was started without --admin-key-file."])
        }
        guard let token = request.token, !token.isEmpty else {
            throw ServiceError(code: 499, message: "Token Required.")
        }
        throw ServiceError.invalidToken
    }

    /// The answer to a write comes when all is done.
    private static func refuseJobs(_ request: ServiceRequest) throws {
        guard try request.parameters.bool("async") == true else { return }
        throw ServiceError.invalidParameter("'async' is not supported: the answer comes when all is done.")
    }

    /// Forgets what is remembered of definitions.
    func refresh(_ context: RouteContext) throws -> JSONValue {
        try Self.refuseJobs(context.request)
        catalog.invalidate()
        return ["success": true]
    }

    // MARK: Definitions

    func edit(_ operation: DefinitionEdit.Operation, _ context: RouteContext) async throws -> JSONValue {
        try Self.refuseJobs(context.request)
        let layerID = context.values.layerID
        let edit = try DefinitionEdit(operation, layerID: layerID, parameters: context.request.parameters)
        // The definition as it is, not as it was remembered a moment ago.
        let name = try context.service.definition.name
        if let portal = context.server.access.portal, let view = try await portal.view(name.path) {
            defer { catalog.invalidate() }
            return try await ViewAdministration(portal: portal, context: context, view: view).edit(edit)
        }
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

    /// The definition of a service, with the item that stands for it: the vendor's clients make views of services that have one.
    func root(_ context: RouteContext) throws -> JSONValue {
        let published = try context.service
        let document = published.definition.document
        guard let id = published.itemID, var object = document.objectValue else { return document }
        object["serviceItemId"] = .string(id)
        return .object(object)
    }

    /// A layer as who administers it sees it.
    func layer(_ context: RouteContext) async throws -> JSONValue {
        let (published, layer) = (try context.service, try context.layer)
        let json = try await service.layer(layer, of: published)
        guard let portal = context.server.access.portal,
            let view = try await portal.views()[published.definition.name.path.lowercased()], let source = view.source,
            let part = view.layer(layer.id), var object = json.objectValue
        else { return json }
        for member in ViewAdministration.members(of: part, source: source).members { object[member.key] = member.value }
        return .object(object)
    }

    // MARK: Features

    /// Deletes all features, as an edit: history and change log know of each, and replicas learn of it.
    func truncate(_ context: RouteContext) async throws -> JSONValue {
        let (layer, request) = (try context.layer, context.request)
        try Self.refuseJobs(request)
        if let portal = context.server.access.portal,
            try await portal.views()[context.service.definition.name.path.lowercased()] != nil
        {
            throw ServiceError.invalidParameter("A view can't be emptied: its source has the features.")
        }
        if try request.parameters.bool("attachmentOnly") == true {
            throw ServiceError.invalidParameter("'attachmentOnly' is not supported.")
        }
        let edits = LayerEdits(layerID: layer.id, deletes: .matching(FeatureQuery()))
        var batch = EditBatch(layers: [edits], editor: request.editor, moment: service.now())
        batch.listsMatches = false
        let result = try await store.apply(batch, to: context.service.definition.name)
        if let error = result.layers.flatMap(\.deletes).compactMap(\.error).first {
            throw ServiceError(code: error.code, message: "The layer was not emptied.", details: [error.description])
        }
        catalog.invalidate()
        return ["success": true]
    }
}
