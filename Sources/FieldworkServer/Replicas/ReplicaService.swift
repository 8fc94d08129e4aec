import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation
import HTTPTypes
import Logging
import Synchronization

/// Replicas, synchronisation and changes of services, over a store that keeps them.
struct ReplicaService: Sendable {
    let store: any ReplicaStore
    let instance: String
    let keeper: any WorkKeeper
    let jobs: JobRunner
    private let worker: ReplicaWorker
    private let packages: ChangePackages
    /// The moment of an edit.
    var now: @Sendable () -> Date = { Date() }
    /// Names replicas and jobs.
    var makeID: @Sendable () -> UUID = { UUID() }

    /// - Parameter uploads: nil for a store that keeps no attachments.
    /// - Parameter jobLease: how long a process of a database may say nothing of its jobs.
    /// - Parameter tiles: makes parts of basemaps; nil where there are none.
    init(
        store: any ReplicaStore, instance: String, uploads: UploadService?, logger: Logger,
        jobLease: Duration = .seconds(Limits.jobLeaseSeconds), access: Access = Access(), tiles: TileExporter? = nil
    ) {
        self.store = store
        self.instance = instance
        let keeper = Self.keeper(of: store, jobLease: jobLease)
        let worker = ReplicaWorker(store: store, uploads: uploads)
        let items = ItemWorker(store: store, access: access)
        let packages = ChangePackages(store: store, keeper: keeper)
        self.keeper = keeper
        self.worker = worker
        self.packages = packages
        jobs = JobRunner(keeper: keeper, logger: logger) { job in
            if job.operation.isOfItems { return await items.abandon(job) }
            guard job.operation == .createReplica else { return }
            // A replica that nobody got is none.
            _ = try? await store.retireReplica(job.id, of: job.service)
        } work: { job in
            if job.operation.isOfTiles {
                guard let tiles else { throw ServiceError.notSupported }
                return try await WorkAllowance.$current.withValue(Self.allowance(of: job)) {
                    try await Self.makeTiles(job, tiles, keeper)
                }
            }
            if job.operation.isOfItems {
                return try await WorkAllowance.$current.withValue(Self.allowance(of: job)) {
                    (nil, try await items.perform(job))
                }
            }
            let published = PublishedService(definition: try await store.service(job.service).restricted, version: 0)
            let seen = try await access.seen(published, byPerson: job.editor)
            let order = ReplicaWorker.Order(
                id: job.id, operation: job.operation, parameters: RequestParameters(job.parameters),
                service: seen.definition, editor: job.editor, moment: job.submitted, isJob: true,
                isRepeated: keeper.repeatsInterrupted, address: job.address)
            do {
                return try await WorkAllowance.$current.withValue(Self.allowance(of: job)) {
                    let made = try await Self.makeResult(order, worker, keeper, packages)
                    return (made.name, made.outcome)
                }
            } catch let error as ServiceError where error == .notSupported && seen.withholdsEditing {
                throw job.editor == nil ? ServiceError.tokenRequired : .forbidden
            }
        }
    }

    /// What a job may take. Of what there is for long reads its client has the same share as with requests.
    private static func allowance(of job: ServiceJob) -> WorkAllowance {
        let time = Duration.seconds(Limits.jobSeconds)
        return WorkAllowance(
            time: time, memory: Limits.requestMemoryBytes, client: job.client.isEmpty ? "jobs" : job.client,
            patience: time)
    }

    /// Where jobs and results of a store are kept: where every process of it finds them.
    private static func keeper(of store: any ReplicaStore, jobLease: Duration) -> any WorkKeeper {
        let folder = WorkFolder(url: store.workFolder)
        guard let shared = store as? any WorkSharingStore else { return folder }
        return DatabaseWork(work: shared.sharedWork, local: folder, lease: jobLease)
    }

    /// The folder of results in addresses.
    static let resultFolder = "replicafiles"

    // MARK: Work

    /// Does at once what a request wants, or makes a job of it. A synchronisation may take as long as a job: a crew's edits of weeks
    /// may be in it. Edits are taken in whole or not at all, whatever their client does; the rest ends when it leaves.
    func perform(_ operation: ServiceJob.Operation, _ context: RouteContext) async throws -> Answer {
        let asked = WorkAllowance.current
        let allowance =
            operation == .synchronizeReplica ? asked?.prolonged(to: .seconds(Limits.jobSeconds)) : asked
        do {
            return try await WorkAllowance.$current.withValue(allowance) { try await performNow(operation, context) }
        } catch AllowanceError.timeIsUp(let time) where operation != .synchronizeReplica {
            var error = ServiceError(limit: .timeIsUp(time))
            error.details.append("Or ask with async=true: a job may take \(Limits.jobSeconds) seconds.")
            throw error
        }
    }

    private func performNow(
        _ operation: ServiceJob.Operation, _ context: RouteContext
    ) async throws -> Answer {
        let (service, request, format) = (try context.service.definition, context.request, try context.jsonFormat)
        let requested = operation == .createReplica ? try CreateReplicaRequest.requestID(request.parameters) : nil
        let order = ReplicaWorker.Order(
            id: requested ?? makeID(), operation: operation, parameters: request.parameters, service: service,
            editor: request.editor,
            moment: now(),
            address: String(request.address(of: "", service.name, instance: instance).dropLast()))
        if requested != nil { try await requireOwn(order) }
        let shape = try await shape(order)
        if shape.isPrepared { try await requireRoom(request.principal, service.name) }
        if shape.isAsynchronous {
            var job = ServiceJob(
                id: order.id, service: service.name, operation: operation, parameters: request.parameters.fields,
                moment: order.moment)
            job.editor = request.editor
            job.address = order.address
            job.client = WorkAllowance.current?.client ?? ""
            // The job goes on after this request.
            try await WorkAllowance.$current.withValue(nil) { [job] in try await jobs.submit(job) }
            return .json(
                ["statusUrl": .string(address("jobs/\(ReplicaID.text(job.id))", service, request))], format: format)
        }
        switch shape.transport {
        case .embedded:
            let document = Mutex<[UInt8]>([])
            let allowance = WorkAllowance.current
            _ = try await worker.perform(order) { piece in
                try document.withLock { bytes in
                    guard bytes.count + piece.count <= Limits.embeddedBytes else {
                        throw ServiceError.invalidParameter(
                            "The document is too large to be embedded: 'transportType' must be esriTransportTypeUrl.")
                    }
                    try allowance?.charge(piece.count)
                    bytes += piece
                }
            }
            let bytes = document.withLock { $0 }
            if format == .prettyJSON {
                try allowance?.charge(bytes.count * Limits.treeBytesPerByte)
                return .json(try JSONParser.parse(bytes), format: format)
            }
            return Answer(contentType: Answer.jsonType, body: .bytes(bytes))
        case .url:
            let made = try await Self.makeResult(order, worker, keeper, packages)
            var answer = made.outcome
            let url = address("\(Self.resultFolder)/\(made.name)", service, request)
            answer["transportType"] = "esriTransportTypeUrl"
            answer["URL"] = .string(url)
            answer["resultUrl"] = .string(url)
            return .json(.object(answer), format: format)
        }
    }

    /// Has the result where it is kept when it returns.
    private static func makeResult(
        _ order: ReplicaWorker.Order, _ worker: ReplicaWorker, _ keeper: any WorkKeeper, _ packages: ChangePackages
    ) async throws -> (name: String, outcome: JSONObject) {
        if let file = try await PreparedReplicas(store: worker.store, keeper: keeper).start(order, worker) {
            return file
        }
        if let package = try await packages.package(order, worker) { return package }
        if try worker.makesFile(order) {
            if try worker.request(order).isPrepared {
                return try await keeper.makePrepared(order.id, .geoPackage) { file in
                    var outcome = try await worker.createReplicaFile(order, at: file)
                    outcome["fileSize"] = .integer(try KeptResult(file: file).size)
                    return outcome
                }
            }
            return try await keeper.makeFile(order.id, .geoPackage) {
                try await worker.createReplicaFile(order, at: $0)
            }
        }
        return try await keeper.makeResult(order.id) { try await worker.perform(order, write: $0) }
    }

    /// Does a job of a basemap.
    private static func makeTiles(
        _ job: ServiceJob, _ tiles: TileExporter, _ keeper: any WorkKeeper
    ) async throws -> (result: String?, members: JSONObject) {
        guard job.operation == .exportTiles else {
            let estimate = try await tiles.estimate(job)
            return (
                nil,
                JSONObject([
                    "totalSize": JSONValue(estimate.bytes), "totalTilesToExport": JSONValue(estimate.tiles),
                ])
            )
        }
        guard let kind = ResultKind(rawValue: try await tiles.fileExtension(job)) else {
            throw ServiceError.internalFailure
        }
        let made = try await keeper.makeFile(job.id, kind) { try await tiles.write(job, to: $0) }
        return (made.name, JSONObject())
    }

    /// A client that names its request and repeats it gets what it got. Nobody gets another's replica by its id.
    private func requireOwn(_ order: ReplicaWorker.Order) async throws {
        let taken = ServiceError.invalidParameter("'requestId' names another request.")
        if let job = try await jobs.job(order.id) {
            let isSame =
                job.operation == order.operation && job.service == order.service.name && job.editor == order.editor
            guard isSame else { throw taken }
        }
        guard let known = try await store.replica(order.id, of: order.service.name) else { return }
        let request = try worker.request(order)
        var asked = request.definition
        if let reference = request.referenceID {
            guard let prepared = try await store.replica(reference, of: order.service.name) else { throw taken }
            asked = prepared.definition.started(by: asked)
        } else {
            asked.preparedScope = known.definition.preparedScope
        }
        asked.name = known.definition.name
        asked.view = known.definition.view
        asked.created = known.definition.created
        guard known.state != .retired, asked == known.definition else { throw taken }
    }

    /// Reads the request once before anything is done, so that what is wrong with it is told at once.
    private func shape(
        _ order: ReplicaWorker.Order
    ) async throws -> (transport: ReplicaTransport, isAsynchronous: Bool, isPrepared: Bool) {
        switch order.operation {
        case .createReplica:
            let request = try worker.request(order)
            if let reference = request.referenceID {
                _ = try await PreparedReplicas(store: store, keeper: keeper).reference(reference, order)
            }
            return (request.transport, request.isAsynchronous, request.isPrepared)
        case .synchronizeReplica:
            let id = try SynchronizeReplicaRequest.replicaID(order.parameters)
            guard let replica = try await store.replica(id, of: order.service.name) else {
                throw ServiceError.notFound("The service has no replica \(ReplicaID.text(id)).")
            }
            if replica.definition.preparedScope != nil {
                _ = try await PreparedReplicas(store: store, keeper: keeper).reference(id, order)
            }
            let (request, _) = try await worker.synchronization(order, replica.definition)
            return (request.transport, request.isAsynchronous, false)
        case .extractChanges:
            let request = try ExtractChangesRequest(order.parameters, service: order.service)
            return (request.transport, request.isAsynchronous, false)
        case .exportTiles, .estimateTiles, .publishItem, .exportItem: throw ServiceError.notSupported
        }
    }

    /// A prepared file stays for as long as its replica: that is for people who may keep items, and so many for each service.
    private func requireRoom(_ principal: Principal, _ service: ServiceName) async throws {
        guard principal.kind == .everybody || principal.has(.createItem) else { throw Access.refusal(of: principal) }
        let count = try await store.replicas(of: service).count {
            $0.state != .retired && $0.definition.preparedScope != nil
        }
        guard count < Limits.preparedReplicas else {
            throw ServiceError.invalidParameter(
                "The service has \(count) prepared replicas, which is as many as it may have.")
        }
    }

    private func address(_ path: String, _ service: ServiceDefinition, _ request: ServiceRequest) -> String {
        request.address(of: path, service.name, instance: instance)
    }

    // MARK: Replicas

    /// Whose device a replica is on sees and ends it, and so does an administrator. Others don't learn its id, by which they could
    /// act for it; a replica of nobody belongs to who knows its id.
    private static func isOwn(_ replica: Replica, of principal: Principal, knowsID: Bool = true) -> Bool {
        principal.kind == .everybody || principal.isAdministrator
            || replica.definition.owner.map(principal.isNamed) ?? knowsID
    }

    func unregister(_ context: RouteContext) async throws -> JSONValue {
        let service = try context.service.definition
        let id = try SynchronizeReplicaRequest.replicaID(context.request.parameters)
        if let replica = try await store.replica(id, of: service.name),
            !Self.isOwn(replica, of: context.request.principal)
        {
            throw Access.refusal(of: context.request.principal)
        }
        guard try await store.retireReplica(id, of: service.name) else {
            throw ServiceError.notFound("The service has no replica \(ReplicaID.text(id)).")
        }
        try await keeper.releasePrepared(id)
        return ["success": true]
    }

    func list(_ context: RouteContext) async throws -> JSONValue {
        let returnsDates = try context.request.parameters.bool("returnLastSyncDate") ?? false
        let replicas = try await store.replicas(of: context.service.definition.name).filter {
            $0.state != .retired && Self.isOwn($0, of: context.request.principal, knowsID: false)
        }
        return ReplicaAnswer.list(replicas, returnsDates: returnsDates)
    }

    func info(_ context: RouteContext) async throws -> JSONValue {
        let (service, id) = (try context.service.definition, try context.id)
        guard let replica = try await store.replica(id, of: service.name), replica.state != .retired,
            Self.isOwn(replica, of: context.request.principal)
        else {
            throw ServiceError.notFound("The service has no replica \(ReplicaID.text(id)).")
        }
        return ReplicaAnswer.info(replica)
    }

    // MARK: Jobs and results

    func status(_ context: RouteContext) async throws -> JSONValue {
        let (service, id, request) = (try context.service.definition, try context.id, context.request)
        guard let job = try await jobs.job(id), job.service == service.name else {
            throw ServiceError.notFound("The service has no job \(ReplicaID.text(id)).")
        }
        return job.json { address("\(Self.resultFolder)/\($0)", service, request) }
    }

    func file(_ context: RouteContext) async throws -> Answer {
        let (name, request) = (try context.name, context.request)
        guard let kind = ResultKind(ofName: name), let kept = try await keeper.kept(name) else {
            throw ServiceError.notFound("There is no such file (any more).")
        }
        guard let range = ByteRange.wanted(request.range, of: kept.size) else { return .rangeNotSatisfiable() }
        var answer = Answer(contentType: kind.contentType, body: try kept.body(range))
        answer.setRange(range, of: kept.size)
        return answer
    }

    // MARK: Conflicts

    func conflicts(_ context: RouteContext) async throws -> JSONValue {
        let published = try context.service
        var states = Set(MergeConflict.State.allCases)
        if let text = context.request.parameters["state"] {
            guard let state = MergeConflict.State(rawValue: text.lowercased()) else {
                throw ServiceError.invalidParameter("'state' must be open, decided or restored.")
            }
            states = [state]
        }
        let list = try await store.conflicts(
            in: states, of: published.definition.name, limit: Limits.conflictsPerAnswer)
        return ["conflicts": .array(list.filter { Self.isShown($0, published) }.map(\.json))]
    }

    /// Where each sees only his own features, a conflict tells nobody of another's.
    private static func isShown(_ conflict: MergeConflict, _ published: PublishedService) -> Bool {
        published.definition.layer(id: conflict.layerID)?.restriction == nil
    }

    /// The conflict of the address.
    func conflict(_ context: RouteContext) async throws -> MergeConflict {
        let (published, id) = (try context.service, try context.conflictID)
        guard let conflict = try await store.conflict(id, of: published.definition.name),
            Self.isShown(conflict, published)
        else { throw ServiceError.notFound("The service has no conflict \(id).") }
        return conflict
    }

    /// Brings back what lost: an edit of the conflict's layer.
    func restoreConflict(_ context: RouteContext) async throws -> JSONValue {
        let published = try context.service
        let layer = try published.layer(id: try await conflict(context).layerID)
        try Permissions(service: published.definition, layer: layer).require(.update)
        let result = try await store.restoreConflict(
            context.conflictID, of: published.definition.name, editor: context.request.editor, moment: now())
        return ["success": .bool(result.isSuccess), "error": JSONValue(result.error?.description)]
    }

    /// Leaves what won, and takes the conflict from those that are open.
    func closeConflict(_ context: RouteContext) async throws -> JSONValue {
        let published = try context.service
        let layer = try published.layer(id: try await conflict(context).layerID)
        try Permissions(service: published.definition, layer: layer).require(.update)
        try await store.closeConflict(context.conflictID, of: context.service.definition.name)
        return ["success": true]
    }
}
