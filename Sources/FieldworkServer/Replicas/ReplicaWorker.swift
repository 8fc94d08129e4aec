import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Does what is asked for replicas and writes the document of the answer. The same work for answers that are waited for
/// and for jobs.
struct ReplicaWorker: Sendable {
    let store: any ReplicaStore
    /// nil for a store that keeps no attachments.
    let uploads: UploadService?

    /// What is to be done.
    struct Order: Sendable {
        /// Names the work: a replica that is made gets this id, an upload without a name of its own is known by it.
        var id: UUID
        var operation: ServiceJob.Operation
        var parameters: RequestParameters
        var service: ServiceDefinition
        var editor: String?
        var moment: Date
        /// Whether the work may be begun anew after a restart.
        var isJob = false
        /// Whether trouble with the store lets the work be begun anew.
        var isRepeated = false
        /// The address of the service as the client sees it.
        var address: String

        func isBegunAnew(after error: any Error) -> Bool {
            if isJob, error is CancellationError { return true }
            let code = (error as? StoreError)?.code
            return isRepeated && (code == .busy || code == .closed || code == .inDoubt)
        }
    }

    /// - Returns: what is told of the result besides the document.
    func perform(_ order: Order, write: @escaping @Sendable ([UInt8]) throws -> Void) async throws -> JSONObject {
        switch order.operation {
        case .createReplica: try await createReplica(order, write: write)
        case .synchronizeReplica: try await synchronizeReplica(order, write: write)
        case .extractChanges: try await extractChanges(order, write: write)
        case .exportTiles, .estimateTiles, .publishItem, .exportItem: throw ServiceError.notSupported
        }
    }

    // MARK: createReplica

    /// Whether the result is a file that a client works in, made by `createReplicaFile`.
    func makesFile(_ order: Order) throws -> Bool {
        guard order.operation == .createReplica else { return false }
        let request = try request(order)
        return request.format == .sqlite && !request.registersExistingData
    }

    func request(_ order: Order) throws -> CreateReplicaRequest {
        try CreateReplicaRequest(
            order.parameters, service: order.service, id: order.id, owner: order.editor, moment: order.moment)
    }

    private func createReplica(
        _ order: Order, write: @escaping @Sendable ([UInt8]) throws -> Void
    ) async throws -> JSONObject {
        let request = try request(order)
        if request.registersExistingData, request.definition.syncModel != .none {
            return try info(
                try await store.registerReplica(request.definition, of: order.service.name, generation: nil),
                write: write)
        }
        return try await withReplica(order, request) { definition, changes in
            var document = ReplicaDocument(
                .replica, model: definition.syncModel, head: ReplicaAnswer.head(of: definition),
                layerIDs: definition.layers.map(\.layerID), write: write)
            document.attachmentBase = request.returnsAttachmentsByURL ? order.address : nil
            return try await store.extract(changes, from: order.service.name, into: document).generations
        }
    }

    /// The replica as a GeoPackage with the document, but for the rows, as a note in it.
    func createReplicaFile(_ order: Order, at url: URL) async throws -> JSONObject {
        try await withReplica(order, request(order)) { definition, changes in
            @Sendable func generations(_ generation: Int64) -> JSONObject {
                ReplicaAnswer.generations(of: definition) { _ in generation }
            }
            let generation = try await store.write(
                changes, of: order.service.name,
                as: order.service.takenOffline(
                    layers: Set(definition.layers.map(\.layerID)),
                    keepsAttachments: definition.attachments.direction != .none), into: url
            ) { generation in
                let members = members(of: definition, "esriReplicaResponseTypeData", generations(generation))
                return [(ReplicaAnswer.fileNote, JSONValue.object(members).text)]
            }
            return generations(generation)
        }
    }

    /// - Parameter read: reads the rows, and gives the generations of what it has read.
    private func withReplica(
        _ order: Order, _ request: CreateReplicaRequest,
        read: (ReplicaDefinition, ChangeRequest) async throws -> JSONObject
    ) async throws -> JSONObject {
        var definition = request.definition
        if request.isPrepared {
            definition.preparedScope = order.service.preparedScope(of: definition.layers.map(\.layerID))
        }
        let isKept = definition.syncModel != .none
        if isKept {
            definition = try await store.registerReplica(definition, of: order.service.name, generation: nil).definition
        }
        do {
            let rows = try definition.rows(in: order.service)
            let layers = definition.layers.map { part in
                var wanted = layer(part.layerID, since: nil, definition, order.service)
                wanted.includesAttachments = definition.attachments.isReturned
                return wanted
            }
            let generations = try await read(definition, ChangeRequest(layers: layers, rows: rows))
            return members(of: definition, "esriReplicaResponseTypeData", generations)
        } catch {
            // A replica that nobody got is none. A job that is only interrupted finds its replica again.
            if isKept, !order.isBegunAnew(after: error) {
                _ = try? await store.retireReplica(definition.id, of: order.service.name)
            }
            throw error
        }
    }

    private func info(_ replica: Replica, write: ([UInt8]) throws -> Void) throws -> JSONObject {
        let definition = replica.definition
        let generations = ReplicaAnswer.generations(of: definition) { replica.generations[$0] ?? 0 }
        let members = members(of: definition, "esriReplicaResponseTypeInfo", generations)
        try write(Array(JSONValue.object(members).text.utf8))
        return members
    }

    private func members(of definition: ReplicaDefinition, _ response: String, _ more: JSONObject) -> JSONObject {
        var members = ReplicaAnswer.head(of: definition)
        members["responseType"] = .string(response)
        for member in more.members { members[member.key] = member.value }
        return members
    }

    private func layer(
        _ id: Int, since: Int64?, _ definition: ReplicaDefinition, _ service: ServiceDefinition,
        upload: ReplicaLayerUpload? = nil
    ) -> ChangeRequest.Layer {
        let layer = service.layer(id: id)
        return ChangeRequest.Layer(
            layerID: id, since: since,
            output: GeometryOutput(
                spatialReference: definition.outputReference, returnsZ: layer?.hasZ ?? false,
                returnsM: layer?.hasM ?? false), upload: upload, replicaID: definition.id)
    }

    // MARK: synchronizeReplica

    /// Reads a request with the uploads of whoever asks.
    func synchronization(
        _ order: Order, _ replica: ReplicaDefinition
    ) async throws -> (SynchronizeReplicaRequest, FoundUploads) {
        func read(_ finder: @escaping UploadedFile.Finder) throws -> SynchronizeReplicaRequest {
            let request = try SynchronizeReplicaRequest(
                order.parameters, replica: replica, service: order.service, finder: finder)
            guard replica.preparedScope == nil || request.onlyReads else {
                throw ServiceError.invalidParameter(
                    "The replica \(ReplicaID.text(replica.id)) is prepared for others to start from, and is nobody's own: it takes no edits, and 'syncDirection' is download or snapshot."
                )
            }
            return request
        }
        guard let uploads else { return (try read { _ in nil }, FoundUploads()) }
        return try await uploads.reading(order.service.name, editor: order.editor, read)
    }

    private func synchronizeReplica(
        _ order: Order, write: @escaping @Sendable ([UInt8]) throws -> Void
    ) async throws -> JSONObject {
        let service = order.service
        let id = try SynchronizeReplicaRequest.replicaID(order.parameters)
        guard let replica = try await store.replica(id, of: service.name) else {
            throw ServiceError.notFound("The service has no replica \(ReplicaID.text(id)).")
        }
        let definition = replica.definition
        let (asked, found) = try await synchronization(order, definition)
        var request = asked
        try await reckonRestorations(&request, id, order)
        let result = try await handIn(request, replica, order)
        // Files of uploads stay until the store has read them.
        withExtendedLifetime(found) {}
        if replica.state != .retired {
            // What one device has, the others that start from a prepared replica may lack.
            let known =
                definition.preparedScope != nil
                ? [] : request.layers.compactMap { layer in layer.generation.map { (layer.layerID, $0) } }
            try await store.acknowledge(
                Dictionary(known, uniquingKeysWith: min), of: id, in: service.name, at: order.moment)
        }
        var head = ReplicaAnswer.head(of: definition)
        if let result, request.uploadID != nil {
            head.append("conflicts", .array(result.conflicts.map { .integer($0) }))
        }
        // A client whose replica was ended would wait for changes for ever.
        if replica.state == .retired { head.append("replicaState", .string(replica.state.rawValue)) }
        var document = ReplicaDocument(
            .synchronisation, model: definition.syncModel, head: head, layerIDs: request.layers.map(\.layerID),
            write: write)
        document.returnsIDsForAdds = request.returnsIDsForAdds
        document.attachmentBase = request.returnsAttachmentsByURL ? order.address : nil
        for results in result?.layers ?? [] { document.results[results.layerID] = results }
        let layers = request.layers.map { part -> ChangeRequest.Layer in
            let upload = request.uploads.first { $0.layerID == part.layerID }
            // A retired replica only hands in.
            guard part.direction != .upload, replica.state != .retired else {
                document.keptGenerations[part.layerID] =
                    part.generation ?? replica.generations[part.layerID] ?? 0
                // Who names uploads learns what became of these features, and of these alone: one that the service
                // keeps otherwise, or not at all, may have changed in a generation that the client has.
                let tells = request.uploadID != nil && replica.state != .retired
                var wanted = layer(part.layerID, since: .max, definition, service, upload: tells ? upload : nil)
                wanted.uploadGeneration = result?.generation
                wanted.includesAttachments =
                    tells && upload?.attachments.isEmpty == false && definition.attachments.direction == .bidirectional
                return wanted
            }
            var wanted = layer(
                part.layerID,
                since: part.direction == .snapshot || request.wholeLayers.contains(part.layerID)
                    ? nil : part.generation,
                definition, service, upload: upload)
            wanted.uploadGeneration = result?.generation
            wanted.includesAttachments = definition.attachments.direction == .bidirectional
            return wanted
        }
        let made = try await store.extract(
            ChangeRequest(layers: layers, rows: try definition.rows(in: service)), from: service.name, into: document)
        if request.closesReplica { _ = try await store.retireReplica(id, of: service.name) }
        return members(of: definition, made.responseType, made.generations)
    }

    /// A client whose past the service no longer has is told so when it can do something about it: send again what is gone. Any
    /// other one is taken for what it has in common with the service, and gets all rows.
    private func reckonRestorations(_ request: inout SynchronizeReplicaRequest, _ id: UUID, _ order: Order) async throws
    {
        let timeline = try await store.timeline(of: order.service.name)
        let bases = request.layers.compactMap(\.generation)
        if let known = request.knownRestoration {
            let unknown = timeline.news(knowing: known) ?? bases.compactMap(timeline.loss).first { $0.to > known }
            if let unknown {
                let uploads = try await store.uploads(of: id, to: order.service.name)
                throw RestoredService(from: unknown.from, to: unknown.to, uploads: uploads).error
            }
        }
        for index in request.layers.indices {
            guard let base = request.layers[index].generation, timeline.loss(of: base) != nil else { continue }
            request.layers[index].generation = timeline.common(base)
            request.wholeLayers.insert(request.layers[index].layerID)
        }
        for index in request.uploads.indices {
            request.uploads[index].baseGeneration = request.uploads[index].baseGeneration.map(timeline.common)
            for edit in request.uploads[index].adds.indices {
                let base = request.uploads[index].adds[edit].baseGeneration
                request.uploads[index].adds[edit].baseGeneration = base.map(timeline.common)
            }
            for edit in request.uploads[index].updates.indices {
                let base = request.uploads[index].updates[edit].baseGeneration
                request.uploads[index].updates[edit].baseGeneration = base.map(timeline.common)
            }
        }
    }

    /// Takes in the edits, exactly once for each upload that has a name.
    private func handIn(
        _ request: SynchronizeReplicaRequest, _ replica: Replica, _ order: Order
    ) async throws -> ReplicaUploadResult? {
        guard !request.uploads.isEmpty else { return nil }
        for upload in request.uploads {
            guard let layer = order.service.layer(id: upload.layerID) else { continue }
            let permissions = Permissions(service: order.service, layer: layer)
            if !upload.adds.isEmpty { try permissions.require(.create) }
            if !upload.updates.isEmpty { try permissions.require(.update) }
            if !upload.deletes.isEmpty { try permissions.require(.delete) }
            try permissions.require(for: upload.attachments)
        }
        let result = try await store.apply(
            ReplicaUpload(
                id: request.uploadID ?? (order.isJob ? order.id : nil), replicaID: replica.definition.id,
                layers: request.uploads, rollsBackOnFailure: request.rollsBackOnFailure, editor: order.editor,
                moment: order.moment,
                // Who knows only the plain protocol knows nothing of edits that are held back.
                rule: request.uploadID == nil ? .lastInWins : order.service.conflictRule),
            to: order.service.name)
        if request.rollsBackOnFailure, result.hasErrors {
            let failures = result.layers.flatMap(\.all).compactMap(\.error)
            let reasons = failures.filter { $0 != .rolledBack }.map(\.description)
            throw ServiceError(
                code: 400, message: "The edits could not be applied; nothing was changed.",
                details: Array(reasons.prefix(Limits.reasonsPerError)))
        }
        return result
    }

    // MARK: extractChanges

    private func extractChanges(
        _ order: Order, write: @escaping @Sendable ([UInt8]) throws -> Void
    ) async throws -> JSONObject {
        let request = try ExtractChangesRequest(order.parameters, service: order.service)
        let floors = try await store.logFloors(of: order.service.name)
        let timeline = try await store.timeline(of: order.service.name)
        for layer in request.changes.layers {
            guard let since = layer.since, let loss = timeline.loss(of: since) else { continue }
            throw ServiceError.invalidParameter(
                "The service was put back to generation \(loss.from): the state of generation \(since) is gone. Read the layer anew."
            )
        }
        for layer in request.changes.layers {
            let floor = floors[layer.layerID] ?? 0
            guard layer.since ?? floor >= floor else {
                throw ServiceError.invalidParameter(
                    "The changes of layer \(layer.layerID) before generation \(floor) are no longer kept.")
            }
        }
        var document = ReplicaDocument(
            .changes, model: .perLayer, head: JSONObject(["transportType": "esriTransportTypeEmbedded"]),
            layerIDs: request.changes.layers.map(\.layerID), write: write)
        document.options = request.options
        document.attachmentBase = request.returnsAttachmentsByURL ? order.address : nil
        if request.returnsDeletedFeatures {
            document.deletedFeatures = try await DeletedFeatures(store: store).of(request, service: order.service)
        }
        let made = try await store.extract(request.changes, from: order.service.name, into: document)
        var members = made.generations
        members["responseType"] = .string(made.responseType)
        return members
    }
}

/// How the protocol writes the id of a replica.
enum ReplicaID {
    static func text(_ id: UUID) -> String { id.uuidString.lowercased() }
}
