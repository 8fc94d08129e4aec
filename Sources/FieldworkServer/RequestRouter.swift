import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import HTTPTypes
import Logging

/// Finds the operation that a request asks for and turns what it gives, or what went wrong, into an answer.
struct RequestRouter: Sendable {
    let instance: String
    let catalog: ServiceCatalog
    let service: FeatureService
    /// nil for a store that keeps no replicas.
    let replicas: ReplicaService?
    /// nil for a store that keeps no attachments.
    let attachments: AttachmentService?
    let administration: Administration
    let store: any FeatureStore
    let metrics: ServerMetrics
    let directory: ServicesDirectory
    let logger: Logger

    func answer(_ request: ServiceRequest) async -> (ServerMetrics.Operation, Answer) {
        var operation = ServerMetrics.Operation.other
        do {
            let callback = try request.parameters["callback"].map { name throws(ServiceError) in try JSONPCallback(name)
            }
            let answer = try await route(request, &operation).begun()
            return (operation, callback.map { answer.wrapped(in: $0) } ?? answer)
        } catch let error as ServiceError {
            return (operation, failure(error, request))
        } catch let error as StoreError {
            if [.busy, .inDoubt].contains(error.code) {
                logger.warning("The store was not ready", metadata: ["operation": "\(operation)", "error": "\(error)"])
            }
            if let error = ServiceError(error) { return (operation, failure(error, request)) }
            logger.error("The store failed", metadata: ["operation": "\(operation)", "error": "\(error)"])
        } catch {
            logger.error("A request failed", metadata: ["operation": "\(operation)", "error": "\(error)"])
        }
        return (operation, failure(.internalFailure, request))
    }

    private func failure(_ error: ServiceError, _ request: ServiceRequest) -> Answer {
        guard let format = try? request.format() else { return .error(error) }
        return format == .html ? directory.error(error) : .error(error, format: format)
    }

    private func route(_ request: ServiceRequest, _ operation: inout ServerMetrics.Operation) async throws -> Answer {
        guard [.get, .head, .post].contains(request.method) else {
            throw ServiceError(code: 405, message: "Method not allowed.")
        }
        switch request.resource {
        case .services(let segments):
            return try await services(segments, request, &operation)
        case .administration(let segments):
            operation = .administration
            return try await administration.answer(segments, request)
        case .info:
            operation = .info
            return tagged(.json(ServerInfo.json, format: try request.format()))
        case .home, .restRoot:
            operation = .page
            return directory.home()
        case .stylesheet:
            operation = .page
            return tagged(.text(ServicesDirectory.stylesheet, type: "text/css;charset=utf-8"))
        case .health:
            operation = .health
            return await health()
        case .metrics:
            operation = .metrics
            return .text(metrics.text, type: "text/plain;version=0.0.4;charset=utf-8")
        case .unknown:
            var answer = Answer.error(.notFound("There is nothing at this address."))
            answer.status = .notFound
            return answer
        }
    }

    /// Says whether the store answers.
    private func health() async -> Answer {
        do {
            let names = try await store.serviceNames()
            return .json(["status": "ok", "services": JSONValue(names.count)])
        } catch {
            logger.error("The store does not answer", metadata: ["error": "\(error)"])
            var answer = Answer.json(["status": "failing", "reason": "The store does not answer."])
            answer.status = .serviceUnavailable
            answer.errorCode = 503
            return answer
        }
    }

    // MARK: Catalogue and services

    private func services(
        _ segments: [String], _ request: ServiceRequest, _ operation: inout ServerMetrics.Operation
    ) async throws -> Answer {
        let position = segments.prefix(3).dropFirst().firstIndex { ServiceFace(segment: $0) != nil }
        guard let position, let face = ServiceFace(segment: segments[position]) else {
            operation = .catalog
            return tagged(try await folder(segments, request))
        }
        let path = segments[..<position].joined(separator: "/")
        let below = segments[(position + 1)...]
        let resource = face == .feature ? ServiceResource(below) : .unknown
        let mapResource = face == .map ? MapServiceResource(below) : nil
        operation = mapResource?.operation ?? resource.operation
        guard let published = try await catalog.service(path: path)?.seen(by: request.editor) else {
            throw .notFound("Service \(path) not found.") as ServiceError
        }
        if let mapResource { return try await answer(mapResource, of: published, request) }
        return try await answer(resource, of: published, request)
    }

    private func answer(_ resource: ServiceResource, of published: PublishedService, _ request: ServiceRequest)
        async throws -> Answer
    {
        let definition = published.definition
        switch resource {
        case .root:
            let format = try request.format()
            if format == .html { return directory.service(definition) }
            return tagged(.json(try await service.root(published), format: format))
        case .layers:
            return tagged(.json(try await service.layers(published), format: try request.format()))
        case .relationships:
            return tagged(.json(service.relationships(published), format: try request.format()))
        case .replicas(let resource):
            guard let replicas else { throw ServiceError.notSupported }
            return try await replicas.answer(resource, of: published, request)
        case .uploads(let resource):
            guard let attachments else { throw ServiceError.notSupported }
            return try await attachments.uploads.answer(resource, of: definition, request)
        case .attachments(let layerID, let objectID, let resource):
            guard let attachments else { throw ServiceError.notSupported }
            return try await attachments.answer(
                resource, of: objectID, in: published.layer(id: layerID), published, request)
        case .layerOperation(let layerID, .queryAttachments):
            guard let attachments else { throw ServiceError.notSupported }
            return try await attachments.query(published.layer(id: layerID), of: published, request)
        case .layer(let id):
            let layer = try published.layer(id: id)
            let format = try request.format()
            if format == .html { return directory.layer(layer, of: definition) }
            let recounts = try request.parameters.bool("returnUpdates") ?? false
            return tagged(.json(try await service.layer(layer, of: published, recounts: recounts), format: format))
        case .feature(let layerID, let objectID):
            return try await service.feature(objectID, in: published.layer(id: layerID), of: published, request)
        case .history(let layerID, let feature):
            let layer = try published.layer(id: layerID)
            return .json(
                try await FeatureHistory(store: store).versions(of: feature, in: layer, of: published),
                format: try request.format() == .prettyJSON ? .prettyJSON : .json)
        case .restoreVersion(let layerID, let feature, let generation):
            try request.requirePost()
            let layer = try published.layer(id: layerID)
            return .json(
                try await FeatureHistory(store: store).restore(
                    feature, until: generation, in: layer, of: published, editor: request.editor))
        case .layerOperation(let layerID, .query):
            let layer = try published.layer(id: layerID)
            if request.wantsPage { return try await queryPage(layer, of: published, face: .feature, request) }
            return try await service.query(layer, of: published, request)
        case .layerOperation(let layerID, .queryTopFeatures):
            return try await service.queryTopFeatures(published.layer(id: layerID), of: published, request)
        case .layerOperation(let layerID, .calculate):
            try request.requirePost()
            return try await service.calculate(published.layer(id: layerID), of: published, request)
        case .layerOperation(let layerID, .queryRelatedRecords):
            return try await service.queryRelatedRecords(published.layer(id: layerID), of: published, request)
        case .layerOperation(let layerID, .validateSQL):
            let answer = try SQLValidation.answer(request.parameters, layer: published.layer(id: layerID))
            return .json(answer, format: try request.format())
        case .layerOperation(let layerID, let operation):
            let layer = try published.layer(id: layerID)
            if request.wantsPage, let form = EditForm(operation) {
                return try await editPage(form, layer, of: published, request)
            }
            try request.requirePost()
            return try await service.edit(operation, layer, of: published, request)
        case .layerResource(let layerID, let kind):
            return tagged(
                .json(try service.contents(kind, of: published.layer(id: layerID)), format: try request.format()))
        case .query: return try await service.query(published, request)
        case .queryDomains:
            let answer = try DomainQuery.answer(request.parameters, service: definition)
            return tagged(.json(answer, format: try request.format()))
        case .queryContingentValues:
            let answer = try ContingentValuesQuery.answer(request.parameters, service: definition)
            return tagged(.json(answer, format: try request.format()))
        case .applyEdits:
            try request.requirePost()
            return try await service.applyEdits(to: published, request)
        case .unknown:
            throw ServiceError(
                code: 400, message: "Invalid URL", details: ["The service has no such resource or operation."])
        }
    }

    private func folder(_ segments: [String], _ request: ServiceRequest) async throws -> Answer {
        let names = try await catalog.names()
        let folders = Set(names.compactMap(\.folder)).sorted()
        let format = try request.format()
        guard let wanted = segments.first else {
            let services = names.filter { $0.folder == nil }
            if format == .html { return directory.catalog(folder: nil, folders: folders, names: services) }
            return .json(ServerInfo.catalog(folders: folders, names: services), format: format)
        }
        guard segments.count == 1, let folder = folders.first(where: { $0.equalsIgnoringCase(wanted) }) else {
            throw .notFound("Folder not found.") as ServiceError
        }
        let services = names.filter { $0.folder == folder }
        if format == .html { return directory.catalog(folder: folder, folders: [], names: services) }
        return .json(ServerInfo.catalog(folders: [], names: services), format: format)
    }

    /// An answer that is at hand is named by its bytes.
    func tagged(_ answer: Answer) -> Answer {
        guard case .bytes(let bytes) = answer.body else { return answer }
        var tagged = answer
        tagged.entityTag = EntityTag.ofBytes(bytes)
        return tagged
    }
}
