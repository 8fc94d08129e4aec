import FieldworkGeometry
import FieldworkPortal
import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation

/// Services that people make of their files, and files of their services.
extension PortalOperations {
    // MARK: Publishing

    /// Makes a service of the data of an item, in a job. The item of the service is there when this answers, and nobody else's.
    func publishItem() async throws -> JSONValue {
        try requirePublisher()
        try requireFeatureService()
        guard try request.parameters.bool("overwrite") != true else {
            throw ServiceError.invalidParameter(
                "'overwrite': a service is not written over; fieldwork publish --replace changes one.")
        }
        let owner = try person
        guard principal.isNamed(owner) || principal.has(.updateItems) else { throw ServiceError.forbidden }
        let id = try required("itemid").lowercased()
        let item = try await ownItem(id)
        let word = request.parameters["fileType"] ?? request.parameters["filetype"] ?? item.type
        guard let kind = PublishRequest.FileKind(word: word), PublishRequest.FileKind(word: item.type) == kind else {
            throw ServiceError.invalidParameter(
                "'fileType' is that of the item, csv, geojson or geoPackage; the item is a \(item.type).")
        }
        guard let document = try request.parameters.json("publishParameters")?.objectValue else {
            throw ServiceError.invalidParameter(
                "'publishParameters' is an object in JSON with the name of the service.")
        }
        let wanted = try PublishRequest(document, kind: kind)
        guard try await isFree(wanted.name) else { throw Self.isTaken(wanted.name) }
        guard let replicas = context.server.replicas else { throw ServiceError.notSupported }
        var change = ItemChange()
        change.snippet = item.fields.snippet
        change.description = item.fields.description
        change.tags = item.fields.tags
        let made = try await portal.addServiceItem(
            wanted.name.path, change, id: request.parameters["itemIdToCreate"], owner: owner,
            folder: values.text ?? "", for: principal, by: author)
        let job = job(
            .publishItem, wanted.name,
            [
                (ItemWorker.Parameter.item, id), (ItemWorker.Parameter.serviceItem, made.id),
                (ItemWorker.Parameter.kind, kind.rawValue),
                (ItemWorker.Parameter.document, JSONValue.object(document).text),
            ])
        try await submit(job, replicas, removing: made.id)
        let url = answers.item(made)["url"] ?? .null
        return [
            "services": [
                [
                    "type": .string(ServiceItemKind.feature.rawValue), "serviceurl": url, "encodedServiceURL": url,
                    "size": .integer(item.size), "jobId": .string(ReplicaID.text(job.id)),
                    "serviceItemId": .string(made.id),
                ]
            ]
        ]
    }

    /// Finds out how a table is read, for clients that show it to their people before they publish it.
    func analyze() async throws -> JSONValue {
        try requirePublisher()
        let word = request.parameters["fileType"] ?? "csv"
        guard PublishRequest.FileKind(word: word) == .csv else {
            throw ServiceError.invalidParameter("'fileType' is csv: other files say themselves what is in them.")
        }
        let parameters = try request.parameters.json("analyzeParameters")?.objectValue ?? JSONObject()
        let options = try PublishRequest.tableOptions(parameters)
        let (bytes, title) = try await analyzed()
        let file = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-\(UUID().uuidString).csv", directoryHint: .notDirectory)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        do {
            let source = try CSVSource(url: file, options)
            let schema = try await Publisher.schema(of: source, PublishingListener(note: { _ in }))
            let name = String(title.map { $0.isLetter || $0.isNumber ? $0 : "_" })
            let publisher = Publisher(
                folder: file, service: ServiceName(name: name), layerName: name, skipsBadRows: false,
                listener: PublishingListener(note: { _ in }))
            return Self.analysis(schema, publisher.definition(schema), source.delimiter)
        } catch let error as PublishingError {
            throw ServiceError(code: 400, message: error.message)
        }
    }

    /// The bytes of the item, the file or the text that is analyzed.
    private func analyzed() async throws -> (bytes: [UInt8], title: String) {
        if let id = request.parameters["itemid"]?.lowercased() {
            let item = try await ownItem(id)
            guard let content = try await portal.content(ItemContent.data, of: id, for: principal) else {
                throw ServiceError(code: 400, message: "The item \(id) has no data.")
            }
            return (content.bytes, item.title)
        }
        if let file = request.files["file"] {
            return (try Self.content(of: file, name: "").bytes, file.name)
        }
        return (Array(try required("text").utf8), "Table")
    }

    private static func analysis(
        _ schema: SourceSchema, _ definition: ServiceDefinition, _ delimiter: UInt8
    ) -> JSONValue {
        var parameters = JSONObject([
            "type": "csv", "name": .string(definition.name.name), "sourceUrl": "", "maxRecordCount": 2_000,
            "columnDelimiter": .string(String(UnicodeScalar(delimiter))), "qualifier": "\"",
            "locationType": "none", "layerInfo": definition.layers.first?.json() ?? .null,
        ])
        if let reference = schema.spatialReference { parameters["sourceSR"] = GeoServicesJSON.json(for: reference) }
        switch schema.place {
        case .coordinates(let x, let y)?:
            parameters["locationType"] = "coordinates"
            parameters["longitudeFieldName"] = .string(x)
            parameters["latitudeFieldName"] = .string(y)
        // Columns of geometries have no word in the protocol: they are found again.
        case .text?: parameters["locationType"] = "unknown"
        case nil: break
        }
        return [
            "fileType": "csv", "publishParameters": .object(parameters), "records": [],
            "recordCount": JSONValue(schema.featureCount), "messages": .array(schema.notes.map(JSONValue.string)),
        ]
    }

    // MARK: Exporting

    /// Writes the features of a service into a new item, in a job.
    func exportItem() async throws -> JSONValue {
        guard principal.kind == .person else {
            throw principal.isSignedIn || principal.kind == .everybody ? ServiceError.forbidden : .tokenRequired
        }
        let owner = try person
        guard principal.isNamed(owner) || principal.has(.updateItems) else { throw ServiceError.forbidden }
        let word = try required("exportFormat")
        guard let kind = PublishRequest.FileKind(word: word) else {
            throw ServiceError.invalidParameter("'exportFormat' is CSV, GeoJson or GeoPackage.")
        }
        let id = try required("itemId").lowercased()
        let item = try await portal.item(id, for: principal).item
        guard item.type == ServiceItemKind.feature.rawValue, item.service != nil,
            let published = try await context.server.catalog.service(path: item.name)
        else { throw ServiceError(code: 400, message: "\(item.title) is no feature service of this portal.") }
        let isOwn = principal.isNamed(item.owner) || principal.has(.updateItems)
        guard isOwn || published.definition.capabilities.contains(.extract) else { throw ServiceError.forbidden }
        guard let replicas = context.server.replicas else { throw ServiceError.notSupported }
        let document = try request.parameters.json("exportParameters")?.objectValue ?? JSONObject()
        let seen = try await context.server.access.seen(published, byPerson: principal.name)
        let layers = try ExportedLayer.layers(document, of: seen.definition)
        guard kind == .geoPackage || layers.count == 1 else {
            throw ServiceError.invalidParameter(
                "'exportFormat': \(kind.rawValue) holds one layer; 'exportParameters' says which. A GeoPackage holds all."
            )
        }
        let made = try await addExport(item, kind, owner)
        let job = job(
            .exportItem, published.definition.name,
            [
                (ItemWorker.Parameter.item, made.id), (ItemWorker.Parameter.kind, kind.rawValue),
                (ItemWorker.Parameter.document, JSONValue.object(document).text),
            ])
        try await submit(job, replicas, removing: made.id)
        return [
            "type": .string(made.type), "size": -1, "jobId": .string(ReplicaID.text(job.id)),
            "exportItemId": .string(made.id), "serviceItemId": .string(id), "exportFormat": .string(kind.rawValue),
        ]
    }

    /// The item that the job fills.
    private func addExport(_ item: Item, _ kind: PublishRequest.FileKind, _ owner: String) async throws -> Item {
        var change = ItemChange()
        change.title = request.parameters["title"] ?? item.title
        change.type = kind.rawValue
        change.name = "\(change.title ?? item.title).\(kind.ending)"
        change.typeKeywords = kind.typeKeywords
        change.snippet = request.parameters["snippet"]
        change.tags = request.parameters["tags"] == nil ? item.fields.tags : try list("tags")
        return try await portal.addItem(change, owner: owner, folder: values.text ?? "", for: principal, by: author)
    }

    // MARK: Jobs

    private func job(
        _ operation: ServiceJob.Operation, _ service: ServiceName, _ parameters: [(name: String, value: String)]
    ) -> ServiceJob {
        var job = ServiceJob(
            id: UUID(), service: service, operation: operation, parameters: parameters, moment: Date())
        job.editor = principal.name
        job.client = WorkAllowance.current?.client ?? request.peer
        return job
    }

    /// Begins a job, which goes on after this request. Without it its item is none.
    private func submit(_ job: ServiceJob, _ replicas: ReplicaService, removing id: String) async throws {
        do {
            try await WorkAllowance.$current.withValue(nil) { try await replicas.jobs.submit(job) }
        } catch {
            try? await portal.removeItem(id, services: [], for: principal, by: author)
            throw error
        }
    }

    /// How far a job is that fills an item, or the upload of its data.
    func itemStatus() async throws -> JSONValue {
        let id = try itemID
        if let text = request.parameters["jobId"] {
            guard let jobID = GUID.parse(text), let job = try await context.server.replicas?.jobs.job(jobID),
                job.operation.isOfItems, principal.has(.viewItems) || job.editor.map(principal.isNamed) == true
            else { throw ServiceError(code: 400, message: "There is no such job.") }
            return status(job, id)
        }
        let item = try await portal.item(id, for: principal).item
        let isPartial = item.size < 0 ? try await portal.hasParts(id) : false
        let word = isPartial ? "partial" : "completed"
        return ["status": .string(word), "statusMessage": .string(word), "itemId": .string(id)]
    }

    private func status(_ job: ServiceJob, _ id: String) -> JSONValue {
        let word =
            switch job.status {
            case .pending, .inProgress: "processing"
            case .completed: "completed"
            case .failed: "failed"
            }
        // Whoever asks goes on with the service, which this process may not know yet.
        if job.status == .completed, job.operation == .publishItem { context.server.catalog.invalidate() }
        let reasons = job.error.map { [$0.message] + $0.details } ?? []
        return [
            "status": .string(word), "statusMessage": .string(reasons.isEmpty ? word : reasons.joined(separator: " ")),
            "itemId": .string(id), "jobId": .string(ReplicaID.text(job.id)),
        ]
    }

    /// An item whose data the caller may use for a service: whoever only reads it may not.
    private func ownItem(_ id: String) async throws -> Item {
        let (item, rights) = try await portal.item(id, for: principal)
        guard rights.updates else { throw ServiceError.forbidden }
        return item
    }

    /// Ends an upload in parts: what has come of it goes.
    func cancelParts() async throws -> JSONValue {
        let id = try itemID
        try await portal.removeParts(of: id, for: principal)
        return ["success": true, "id": .string(id), "itemId": .string(id)]
    }
}
