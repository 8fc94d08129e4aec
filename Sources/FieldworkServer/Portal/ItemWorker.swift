import FieldworkGeometry
import FieldworkPortal
import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation

/// Makes services of items, and items of services: jobs, which are done again when a server is stopped in their midst, and make
/// nothing twice then. Each is done with the rights that its person has when it is done.
struct ItemWorker: Sendable {
    let store: any ReplicaStore
    let access: Access

    /// The parameters of a job, by their names.
    enum Parameter {
        /// The item that is published, or that an export fills.
        static let item = "item"
        /// The item of the service that is made.
        static let serviceItem = "serviceItem"
        static let kind = "kind"
        static let document = "document"
    }

    func perform(_ job: ServiceJob) async throws -> JSONObject {
        do {
            return job.operation == .publishItem ? try await publish(job) : try await export(job)
        } catch {
            if !Self.isDoneAgain(after: error) { await abandon(job) }
            switch error {
            case let error as PublishingError:
                throw ServiceError(code: error.kind == .software ? 500 : 400, message: error.message)
            case let error as PortalError: throw ServiceError(error)
            default: throw error
            }
        }
    }

    /// Trouble of the store or of this process, and not of what was asked for.
    private static func isDoneAgain(after error: any Error) -> Bool {
        if error is CancellationError { return true }
        return (error as? StoreError).map { [.busy, .closed, .inDoubt].contains($0.code) } ?? false
    }

    /// Removes the item that a job was to fill: nothing came of it.
    func abandon(_ job: ServiceJob) async {
        guard let portal = access.portal else { return }
        let parameters = RequestParameters(job.parameters)
        var id = parameters[job.operation == .publishItem ? Parameter.serviceItem : Parameter.item]
        if id == nil, job.operation == .publishItem {
            id = try? await portal.item(ofService: job.service.path)?.id
        }
        guard let id, let names = try? await store.serviceNames() else { return }
        // The item of a service that somebody else has made meanwhile stays with that service.
        let services = Set(names.map { ServiceItemKind.feature.key($0.path) })
        try? await portal.removeItem(
            id, services: services, for: .everybody, by: Author(name: job.editor ?? "", address: job.client))
    }

    private func portalAndPerson(_ job: ServiceJob) async throws -> (Portal, Principal) {
        guard let portal = access.portal, let name = job.editor,
            let principal = try await portal.principal(named: name)
        else { throw ServiceError.forbidden }
        return (portal, principal)
    }

    /// Works in a folder that is gone afterwards; what an interrupted run has left there as well.
    private func inFolder<Result>(_ job: ServiceJob, _ body: (URL) async throws -> Result) async throws -> Result {
        let folder = store.workFolder.appending(path: "items/\(job.id.uuidString)", directoryHint: .isDirectory)
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }

    // MARK: Publishing

    private func publish(_ job: ServiceJob) async throws -> JSONObject {
        let (portal, principal) = try await portalAndPerson(job)
        try principal.require(.publishFeatures)
        let parameters = RequestParameters(job.parameters)
        guard let id = parameters[Parameter.item], let serviceItem = parameters[Parameter.serviceItem],
            let kind = parameters[Parameter.kind].flatMap(PublishRequest.FileKind.init(rawValue:)),
            let document = try parameters.json(Parameter.document)?.objectValue, let target = store as? any ServiceStore
        else { throw ServiceError.internalFailure }
        let request = try PublishRequest(document, kind: kind)
        let made = JSONObject(["itemId": .string(serviceItem)])
        let isThere = try await store.serviceNames().contains(request.name)
        if isThere {
            // An earlier run of this job came that far, or somebody else has taken the name.
            guard try await portal.item(ofService: request.name.path)?.id == serviceItem else {
                throw PortalOperations.isTaken(request.name)
            }
        } else {
            guard let content = try await portal.content(ItemContent.data, of: id, for: principal) else {
                throw ServiceError(code: 400, message: "The item \(id) has no data.")
            }
            try await inFolder(job) { folder in
                try await make(request, of: content.bytes, kind, in: folder, for: target)
            }
        }
        try await portal.setRelation(
            "Service2Data", from: serviceItem, to: id, exists: true, for: principal,
            by: Author(name: principal.name ?? "", address: job.client))
        return made
    }

    /// Makes the service as a file first, by what `fieldwork publish` does, and has the store copy its features: nothing else of
    /// what somebody has sent comes into the store.
    private func make(
        _ request: PublishRequest, of bytes: [UInt8], _ kind: PublishRequest.FileKind, in folder: URL,
        for target: any ServiceStore
    ) async throws {
        let source = folder.appending(path: "data.\(kind.ending)", directoryHint: .notDirectory)
        try Data(bytes).write(to: source)
        let services = folder.appending(path: "made", directoryHint: .isDirectory)
        let publisher = Publisher(
            folder: services, service: request.name, layerName: request.layerName, skipsBadRows: false,
            listener: PublishingListener(note: { _ in }))
        switch kind {
        case .csv: _ = try await publisher.publish(try CSVSource(url: source, request.options))
        case .geoJSON: _ = try await publisher.publish(GeoJSONSource(url: source, options: request.options))
        case .geoPackage:
            // What another server of this kind kept beside the features is not taken for this one's own.
            try await GeoPackageFile.makePlainWhereOwn(source)
            _ = try await publisher.publish(geoPackage: source, ForeignImportOptions())
        }
        let made = try await GeoPackageStore.open(at: services)
        do {
            let current = try await made.service(request.name)
            var changed = current
            request.apply(to: &changed)
            try await made.updateService(changed, allowing: [], replacing: current)
            try Task.checkCancellation()
            _ = try await target.takeOver(
                made.data(of: request.name).source, as: request.name, verifies: false
            ) { _ in }
            try await made.close()
        } catch {
            try? await made.close()
            throw error
        }
    }

    // MARK: Exporting

    private func export(_ job: ServiceJob) async throws -> JSONObject {
        let (portal, principal) = try await portalAndPerson(job)
        let parameters = RequestParameters(job.parameters)
        guard let id = parameters[Parameter.item],
            let kind = parameters[Parameter.kind].flatMap(PublishRequest.FileKind.init(rawValue:)),
            let document = try parameters.json(Parameter.document)?.objectValue
        else { throw ServiceError.internalFailure }
        let published = PublishedService(definition: try await store.service(job.service).restricted, version: 0)
        let seen = try await access.seen(published, byPerson: principal.name)
        let layers = try ExportedLayer.layers(document, of: seen.definition)
        let content = try await inFolder(job) { folder in
            let file = folder.appending(path: "\(job.service.name).\(kind.ending)", directoryHint: .notDirectory)
            guard let format = FeatureExport.Format(rawValue: kind.ending) else { throw ServiceError.internalFailure }
            _ = try await FeatureExport(format).write(
                layers.map { $0.source(in: seen.definition, store) }, name: job.service.name, to: file)
            let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
            guard size <= FieldworkPortal.Limits.contentBytes else {
                throw ServiceError(
                    code: 400,
                    message:
                        "The file has \(size) bytes; an item holds \(FieldworkPortal.Limits.contentBytes) at most.",
                    details: ["'exportParameters' may choose layers, and features by a condition."])
            }
            return [UInt8](try Data(contentsOf: file))
        }
        var change = ItemChange()
        let item = try await portal.item(id, for: principal).item
        change.data = ItemContent(
            name: ItemContent.data, type: Self.type(of: kind), fileName: item.name, modified: 0, bytes: content)
        try await portal.updateItem(
            id, change, for: principal, by: Author(name: principal.name ?? "", address: job.client))
        return JSONObject(["itemId": .string(id)])
    }

    private static func type(of kind: PublishRequest.FileKind) -> String {
        switch kind {
        case .csv: "text/csv"
        case .geoJSON: Answer.geoJSONType
        case .geoPackage: ResultKind.geoPackage.contentType
        }
    }
}
