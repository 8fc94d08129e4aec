import FieldworkGeometry
import FieldworkLocator
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import HTTPTypes
import Logging

/// Does the operation that a request's route names, once it is allowed, and turns what it gives, or what went wrong, into an
/// answer.
struct RequestRouter: Sendable {
    let instance: String
    let catalog: ServiceCatalog
    let locators: LocatorCatalog
    let service: FeatureService
    let tiles: TileService
    let shelf = ImageShelf()
    /// nil where no folder of basemaps was given.
    var basemaps: BasemapLibrary?
    /// nil for a store that keeps no replicas.
    let replicas: ReplicaService?
    /// nil for a store that keeps no attachments.
    let attachments: AttachmentService?
    let administration: Administration
    let access: Access
    let store: any FeatureStore
    let metrics: ServerMetrics
    let readiness: Readiness
    let storeMetrics: StoreMetrics
    /// Opens the metrics from elsewhere.
    var metricsKey: AdministrationKey?
    /// Whether pages of every site may read.
    var isReadByAll = false
    let directory: ServicesDirectory
    /// Signs people in who have no password here; nil where the operator has named none.
    var provider: SignInProvider?
    /// Makes a picture, in SVG, of an address as a code.
    var codePicture: (@Sendable (String) -> String?)?
    let logger: Logger

    func answer(_ request: ServiceRequest) async -> (ServerMetrics.Operation, Answer) {
        let operation = request.match?.route.metric ?? .other
        do {
            let callback = try callback(of: request)
            let answer = try await route(request).begun()
            return (operation, callback.map { answer.wrapped(in: $0) } ?? answer)
        } catch let error as ServiceError {
            return (operation, failure(error, request))
        } catch let error as PortalError {
            return (operation, failure(ServiceError(error), request))
        } catch let error as AllowanceError {
            logger.info("A request met a limit", metadata: ["operation": "\(operation)", "error": "\(error)"])
            return (operation, failure(ServiceError(limit: error), request))
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
        if request.match?.route.base == .webMapService { return WMSException(error).answer(to: request.parameters) }
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
        do {
            if let page = match.route.page, request.wantsPage { return try await page(context) }
            if match.route.method == .write { try request.requirePost() }
            return try await match.route.answer(context)
        } catch let error as ServiceError
            where error == .notSupported && match.route.method == .write && context.withholdsEditing
        {
            // The service would do it, for others.
            throw Access.refusal(of: request.principal)
        }
    }

    /// Finds the service and the layer of an address, and checks the right that the operation needs.
    private func context(of match: RouteMatch, _ request: ServiceRequest) async throws -> RouteContext {
        let right = match.route.right
        // Before anything is said of what there is.
        if right == .administer {
            try await administration.authorize(request, match.values.service, access)
        } else if let error = request.tokenError, ![.nothing, .prove, .operate].contains(right) {
            throw error
        }
        if match.values.service == nil { try requireMember(right, request) }
        var published: PublishedService?
        var layer: LayerDefinition?
        if match.route.base == .geocodeServer { return try await locatorContext(of: match, request) }
        if let path = match.values.service {
            let (found, basemap) = try await named(path, match.route)
            guard let found else {
                if let basemap {
                    let rights = try await access.rights(
                        of: request.principal, on: ServiceName(name: basemap.basemap.name), as: basemap.basemap.itemKind
                    )
                    try access.require(right, rights, of: request.principal)
                    return RouteContext(
                        request: request, values: match.values, server: self, service: nil, layer: nil, basemap: basemap
                    )
                }
                throw ServiceError.notFound("Service \(path) not found.")
            }
            let rights = try await access.rights(of: request.principal, on: found.definition.name)
            if right != .administer { try access.require(right, rights, of: request.principal) }
            var service = right == .administer ? found : access.seen(found, by: request.editor, rights)
            service.itemID = try await access.itemID(of: found.definition.name, for: request.principal)
            layer = try match.values.layerID.map { id throws(ServiceError) in try service.layer(id: id) }
            try right.require(of: service.definition, layer)
            published = service
        }
        return RouteContext(
            request: request, values: match.values, server: self, service: published, layer: layer)
    }

    /// Operations outside of services need a person, or nothing.
    private func requireMember(_ right: Right, _ request: ServiceRequest) throws(ServiceError) {
        guard right == .member, request.principal.kind == .nobody else { return }
        throw .tokenRequired
    }

    /// The services that whoever asks may see.
    func names(for request: ServiceRequest) async throws -> [ServiceName] {
        try await visible(try await catalog.names(), to: request, as: .feature)
    }

    /// The locators that whoever asks may see.
    func locatorNames(for request: ServiceRequest) async throws -> [ServiceName] {
        try await visible(await locators.names(), to: request, as: .geocoding)
    }

    /// The locators and basemaps that whoever asks may see. A service hides a basemap of its name.
    private func otherEntries(beside services: [ServiceName], for request: ServiceRequest) async throws
        -> [CatalogueEntry]
    {
        var entries = try await locatorNames(for: request).map {
            CatalogueEntry(name: $0, type: ServerInfo.locatorType)
        }
        for basemap in basemaps?.basemaps() ?? [] {
            let name = ServiceName(name: basemap.name)
            guard !services.contains(where: { $0.folder == nil && $0.name.equalsIgnoringCase(basemap.name) }),
                try await !visible([name], to: request, as: basemap.itemKind).isEmpty
            else { continue }
            entries.append(CatalogueEntry(name: name, type: basemap.face.rawValue))
        }
        return entries
    }

    private func visible(
        _ names: [ServiceName], to request: ServiceRequest, as kind: ServiceItemKind
    ) async throws -> [ServiceName] {
        guard request.principal.kind != .everybody else { return names }
        if let error = request.tokenError { throw error }
        var seen: [ServiceName] = []
        for name in names where try await access.rights(of: request.principal, on: name, as: kind).reads {
            seen.append(name)
        }
        return seen
    }

    /// Services that were published since get their items in the portal. The item of one that is gone stays: if the service
    /// comes back, it is shared with the same people.
    func keepServiceItems() async throws {
        guard let portal = access.portal else { return }
        for (kind, services) in Dictionary(grouping: try await itemServices(), by: \.kind) {
            try await portal.addServiceItems(services.map(\.path), as: kind)
        }
    }

    /// All that has an item in the portal because the server serves it.
    func itemServices() async throws -> [(path: String, kind: ServiceItemKind)] {
        try await catalog.names().map { ($0.path, .feature) } + locators.names().map { ($0.path, .geocoding) }
            + (basemaps?.basemaps() ?? []).map { ($0.name, $0.itemKind) }
    }

    private func locatorContext(of match: RouteMatch, _ request: ServiceRequest) async throws -> RouteContext {
        let path = match.values.service ?? ""
        guard let found = try await locators.locator(path: path) else {
            throw ServiceError.notFound("Service \(path) not found.")
        }
        let rights = try await access.rights(of: request.principal, on: found.name, as: .geocoding)
        try access.require(match.route.right, rights, of: request.principal)
        return RouteContext(
            request: request, values: match.values, server: self, service: nil, layer: nil,
            locator: GeocodeService(locator: found.locator, name: found.locator.name, cutter: locators.cutter))
    }

    /// The service of a path, or else the basemap. A service hides a basemap of its name; where there was none a moment ago, a basemap is
    /// given without asking for one.
    private func named(
        _ path: String, _ route: Route
    ) async throws -> (service: PublishedService?, basemap: BasemapService?) {
        let mayBeBasemap = route.right != .administer
        if mayBeBasemap, catalog.lacks(path), let basemap = try basemap(path, route.base) { return (nil, basemap) }
        if let service = try await catalog.service(path: path) { return (service, nil) }
        return (nil, mayBeBasemap ? try basemap(path, route.base) : nil)
    }

    /// The basemap of an address that names one.
    private func basemap(_ name: String, _ base: Route.Base) throws(ServiceError) -> BasemapService? {
        guard base == .vectorTileServer || base == .mapServer, let basemaps else { return nil }
        do throws(TileError) {
            guard let found = try basemaps.basemap(name) else { return nil }
            return BasemapService(basemap: found, isExported: replicas != nil)
        } catch {
            logger.error("A basemap can't be read", metadata: ["name": "\(name)", "error": "\(error.message)"])
            throw ServiceError(code: 500, message: "The basemap \(name) can't be read.", details: [error.message])
        }
    }

    // MARK: The server itself

    /// The counts of the server, for its operator.
    func metricsText(_ request: ServiceRequest) async -> Answer {
        do {
            try authorizeMetrics(request)
        } catch {
            // What collects metrics looks at the status.
            var answer = Answer.error(error)
            answer.status = .forbidden
            return answer
        }
        let text = await metrics.text + workMetrics() + storeMetrics.text()
        return .text(text, type: "text/plain;version=0.0.4;charset=utf-8")
    }

    /// What this process is busy with, and what it keeps in memory.
    private func workMetrics() async -> String {
        func gauge(_ name: String, _ help: String, _ value: Int) -> String {
            "# HELP \(name) \(help)\n# TYPE \(name) gauge\n\(name) \(value)\n"
        }
        let jobs = await replicas?.jobs.runningCount ?? 0
        return gauge("fieldwork_jobs", "Jobs of synchronisations that are under way or wait.", jobs)
            + gauge("fieldwork_tile_cache_bytes", "Bytes of vector tiles in memory.", await tiles.keeper.byteCount)
    }

    /// Whether each service can be read: for what decides where requests go, and for monitoring.
    func ready(_ request: ServiceRequest) async -> Answer {
        let finding = await readiness.finding()
        var members = JSONObject()
        members.append("status", .string(finding.isReady ? "ready" : "failing"))
        members.append("services", JSONValue(finding.services))
        if let failure = finding.failure { members.append("reason", .string(failure)) }
        if !finding.unreadable.isEmpty {
            members.append("unreadable", JSONValue(finding.unreadable.count))
            // Names are for the operator.
            if (try? authorizeMetrics(request)) != nil {
                members.append("names", .array(finding.unreadable.map { .string($0) }))
            }
        }
        var answer = Answer.json(.object(members))
        guard !finding.isReady else { return answer }
        answer.status = .serviceUnavailable
        answer.errorCode = 503
        return answer
    }

    /// Who counts the requests is the operator: at this machine, or with a key.
    private func authorizeMetrics(_ request: ServiceRequest) throws(ServiceError) {
        if request.isFromThisMachine, !request.isFromOtherSite { return }
        if request.principal.kind == .person, request.principal.isAdministrator { return }
        guard let token = request.token else {
            throw ServiceError(
                code: 499, message: "Token Required.",
                details: ["From elsewhere than this machine the metrics have a key; see --metrics-key-file."])
        }
        let isOpen = [metricsKey, administration.key].contains { $0?.opens(with: token) == true }
        guard isOpen else { throw ServiceError(code: 498, message: "Invalid token.") }
    }

    /// Says whether the server and its store answer at all; `ready` looks at each service.
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
        let names = try await names(for: request)
        let others = try await otherEntries(beside: names, for: request)
        let folders = Set((names + others.map(\.name)).compactMap(\.folder)).sorted()
        let format = try request.format()
        guard let wanted else {
            let services = names.filter { $0.folder == nil }
            let found = others.filter { $0.name.folder == nil }
            if format == .html { return catalogPage(nil, folders, services, found, request) }
            return Answer.json(
                ServerInfo.catalog(folders: folders, names: services, others: found), format: format
            ).tagged()
        }
        guard let folder = folders.first(where: { $0.equalsIgnoringCase(wanted) }) else {
            throw ServiceError.notFound("Folder not found.")
        }
        let services = names.filter { $0.folder == folder }
        let found = others.filter { $0.name.folder == folder }
        if format == .html { return catalogPage(folder, [], services, found, request) }
        return Answer.json(ServerInfo.catalog(folders: [], names: services, others: found), format: format).tagged()
    }

    private func catalogPage(
        _ folder: String?, _ folders: [String], _ names: [ServiceName], _ others: [CatalogueEntry],
        _ request: ServiceRequest
    ) -> Answer {
        let isNobody = request.principal.kind == .nobody
        return directory.catalog(
            folder: folder, folders: folders, names: names, others: others, offersSignIn: isNobody
        ).tagged()
    }
}
