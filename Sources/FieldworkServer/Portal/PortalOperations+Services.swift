import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation

/// Services that people make through the portal.
extension PortalOperations {
    /// Makes a service without layers, which nobody but its owner sees until it is shared. The layers follow by `addToDefinition`, or
    /// are in `createParameters` already.
    func createService() async throws -> JSONValue {
        try requirePublisher()
        try requireFeatureService()
        let owner = try person
        guard principal.isNamed(owner) || principal.has(.updateItems) else { throw ServiceError.forbidden }
        guard let parameters = try request.parameters.json("createParameters")?.objectValue else {
            throw ServiceError.invalidParameter("'createParameters' is an object in JSON with the name of the service.")
        }
        guard let text = parameters["name"]?.stringValue, let name = PortalAnswers.serviceName(text), name.folder == nil
        else { throw ServiceError.invalidParameter("'createParameters' has a 'name', without a folder.") }
        guard try await isFree(name) else { throw Self.isTaken(name) }
        let isView = try request.parameters.bool("isView") ?? parameters["isView"]?.boolValue ?? false
        let definition = try isView ? nil : Self.definition(parameters, name)
        let view = try isView ? Self.view(parameters, name) : nil
        var change = ItemChange()
        change.snippet = request.parameters["snippet"]
        change.description = request.parameters["description"] ?? parameters["serviceDescription"]?.stringValue
        if request.parameters["tags"] != nil { change.tags = try list("tags") }
        // The item comes first: at no moment is the service in anybody else's hands.
        let item = try await portal.addServiceItem(
            name.path, change, id: request.parameters["itemIdToCreate"], owner: owner, folder: values.text ?? "",
            view: view, for: principal, by: author)
        do {
            if let definition { try await context.server.store.createService(definition) }
        } catch let error as StoreError where error.code == .serviceExists {
            // Another request was faster. The item may be that of the service which it has made.
            throw Self.isTaken(name)
        } catch {
            if try await isFree(name) {
                try? await portal.removeItem(item.id, services: [], for: principal, by: author)
            }
            throw error
        }
        context.server.catalog.invalidate()
        let url = answers.item(item)["url"] ?? .null
        return [
            "encodedServiceURL": url, "serviceurl": url, "itemId": .string(item.id), "serviceItemId": .string(item.id),
            "name": .string(name.name), "type": .string(ServiceItemKind.feature.rawValue), "typeKeywords": [],
            "size": -1, "isView": .bool(isView), "success": true,
        ]
    }

    /// Whether a service of a name can be made.
    func isServiceNameAvailable() async throws -> JSONValue {
        try requirePublisher()
        let text = try required("name")
        guard let name = PortalAnswers.serviceName(text), name.folder == nil, Self.isPossible(name) else {
            return ["available": false]
        }
        return ["available": .bool(try await isFree(name))]
    }

    func requirePublisher() throws {
        guard principal.kind == .person else {
            throw principal.isSignedIn || principal.kind == .everybody ? ServiceError.forbidden : .tokenRequired
        }
        try principal.require(.publishFeatures)
    }

    func requireFeatureService() throws(ServiceError) {
        let type = request.parameters["outputType"] ?? request.parameters["targetType"] ?? "featureService"
        guard type.lowercased() == "featureservice" else {
            throw .invalidParameter("'outputType' is featureService: others are not made here.")
        }
    }

    /// A view without layers; they follow by `addToDefinition`, which names the service that they come from.
    private static func view(_ parameters: JSONObject, _ name: ServiceName) throws(ServiceError) -> ServiceView {
        guard isPossible(name) else {
            throw .invalidParameter("'\(name.name.prefix(80))' can't be the name of a service.")
        }
        var view = ServiceView(name: name)
        for member in ["serviceDescription", "description"] {
            if let text = parameters[member]?.stringValue, !text.isEmpty { view.description = text }
        }
        if let text = parameters["capabilities"]?.stringValue { view.capabilities = Set(text: text) }
        return view
    }

    static func isTaken(_ name: ServiceName) -> ServiceError {
        ServiceError(code: 409, message: "Service name '\(name.name)' is not available.")
    }

    /// A name that somebody's hidden service has is taken as well.
    func isFree(_ name: ServiceName) async throws -> Bool {
        let names = try await context.server.store.serviceNames()
        return !names.contains { $0.path.lowercased() == name.path.lowercased() }
    }

    static func isPossible(_ name: ServiceName) -> Bool {
        (try? GeoPackageStore.place(of: name, in: URL(filePath: "/"))) != nil
    }

    /// The definition in the parameters, whose words are those of definition documents but for a few.
    private static func definition(_ parameters: JSONObject, _ name: ServiceName) throws -> ServiceDefinition {
        guard isPossible(name) else {
            throw ServiceError.invalidParameter("'\(name.name.prefix(80))' can't be the name of a service.")
        }
        var document = parameters
        if document["description"]?.stringValue?.isEmpty != false, let text = document["serviceDescription"] {
            document["description"] = text
        }
        for member in ["name", "serviceDescription", "hasStaticData", "_ssl", "options", "isView"] {
            document[member] = nil
        }
        do {
            return try ServiceDefinition(document: .object(document), name: name)
        } catch {
            throw error.serviceError
        }
    }
}
