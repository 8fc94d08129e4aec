import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import HTTPTypes
import Logging

/// Does the operation that a request's route names, once it is allowed, and turns what it gives, or what went wrong, into an
/// answer.
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
    /// Opens the metrics from elsewhere.
    var metricsKey: AdministrationKey?
    /// Whether pages of every site may read.
    var isReadByAll = false
    let directory: ServicesDirectory
    let logger: Logger

    func answer(_ request: ServiceRequest) async -> (ServerMetrics.Operation, Answer) {
        let operation = request.match?.route.metric ?? .other
        do {
            let callback = try callback(of: request)
            let answer = try await route(request).begun()
            return (operation, callback.map { answer.wrapped(in: $0) } ?? answer)
        } catch let error as ServiceError {
            return (operation, failure(error, request))
        } catch let error as AllowanceError {
            logger.info("A request met a limit", metadata: ["operation": "\(operation)", "error": "\(error)"])
            return (operation, failure(ServiceError(error), request))
        } catch let error as StoreError {
            return (operation, failure(self.error(for: error, operation, at: request.path), request))
        } catch {
            logger.error("A request failed", metadata: ["operation": "\(operation)", "error": "\(error)"])
        }
        return (operation, failure(.internalFailure, request))
    }

    /// What a client learns of the store's trouble, and the log more.
    func error(for error: StoreError, _ operation: ServerMetrics.Operation, at path: String) -> ServiceError {
        let known = ServiceError(error)
        let metadata: Logger.Metadata = ["operation": "\(operation)", "path": "\(path)", "error": "\(error)"]
        switch error.code {
        case .busy, .inDoubt: logger.warning("The store was not ready", metadata: metadata)
        case .full: logger.error("The disk is full", metadata: metadata)
        default: if known == nil { logger.error("The store failed", metadata: metadata) }
        }
        return known ?? .internalFailure
    }

    /// A script of any page is given to it, so that it must be known whose page it is.
    private func callback(of request: ServiceRequest) throws(ServiceError) -> JSONPCallback? {
        guard let name = request.parameters["callback"] else { return nil }
        guard !request.embedsSilently || isReadByAll else {
            throw ServiceError(
                code: 403, message: "The browser does not say which page asks: 'callback' can't be answered.",
                details: ["A page can ask with fetch instead; see --allow-origin."])
        }
        return try JSONPCallback(name)
    }

    private func failure(_ error: ServiceError, _ request: ServiceRequest) -> Answer {
        guard let format = try? request.format() else { return .error(error) }
        return format == .html ? directory.error(error) : .error(error, format: format)
    }

    private func route(_ request: ServiceRequest) async throws -> Answer {
        guard [.get, .head, .post].contains(request.method) else {
            throw ServiceError(code: 405, message: "Method not allowed.")
        }
        guard let match = request.match else {
            var answer = Answer.error(.notFound("There is nothing at this address."))
            answer.status = .notFound
            return answer
        }
        let context = try await context(of: match, request)
        if let page = match.route.page, request.wantsPage { return try await page(context) }
        if match.route.method == .write { try request.requirePost() }
        return try await match.route.answer(context)
    }

    /// Finds the service and the layer of an address, and checks the right that the operation needs.
    private func context(of match: RouteMatch, _ request: ServiceRequest) async throws -> RouteContext {
        let right = match.route.right
        // Before anything is said of what there is.
        if right == .administer { try administration.authorize(request) }
        var published: PublishedService?
        var layer: LayerDefinition?
        if let path = match.values.service {
            guard let found = try await catalog.service(path: path) else {
                throw ServiceError.notFound("Service \(path) not found.")
            }
            let service = right == .administer ? found : found.seen(by: request.editor)
            layer = try match.values.layerID.map { id throws(ServiceError) in try service.layer(id: id) }
            try right.require(of: service.definition, layer)
            published = service
        }
        return RouteContext(
            request: request, values: match.values, server: self, service: published, layer: layer)
    }

    // MARK: The server itself

    /// The counts of the server, for its operator.
    func metricsText(_ request: ServiceRequest) -> Answer {
        do {
            try authorizeMetrics(request)
        } catch {
            // What collects metrics looks at the status.
            var answer = Answer.error(error)
            answer.status = .forbidden
            return answer
        }
        return .text(metrics.text, type: "text/plain;version=0.0.4;charset=utf-8")
    }

    /// Who counts the requests is the operator: at this machine, or with a key.
    private func authorizeMetrics(_ request: ServiceRequest) throws(ServiceError) {
        if request.isFromThisMachine, !request.isFromOtherSite { return }
        guard let token = request.token else {
            throw ServiceError(
                code: 499, message: "Token Required.",
                details: ["From elsewhere than this machine the metrics have a key; see --metrics-key-file."])
        }
        let isOpen = [metricsKey, administration.key].contains { $0?.opens(with: token) == true }
        guard isOpen else { throw ServiceError(code: 498, message: "Invalid token.") }
    }

    /// Says whether the store answers.
    func health() async -> Answer {
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

    /// The services of a folder; nil: those outside of folders, and the folders.
    func folder(_ wanted: String?, _ request: ServiceRequest) async throws -> Answer {
        let names = try await catalog.names()
        let folders = Set(names.compactMap(\.folder)).sorted()
        let format = try request.format()
        guard let wanted else {
            let services = names.filter { $0.folder == nil }
            if format == .html { return directory.catalog(folder: nil, folders: folders, names: services).tagged() }
            return Answer.json(ServerInfo.catalog(folders: folders, names: services), format: format).tagged()
        }
        guard let folder = folders.first(where: { $0.equalsIgnoringCase(wanted) }) else {
            throw ServiceError.notFound("Folder not found.")
        }
        let services = names.filter { $0.folder == folder }
        if format == .html { return directory.catalog(folder: folder, folders: [], names: services).tagged() }
        return Answer.json(ServerInfo.catalog(folders: [], names: services), format: format).tagged()
    }
}
