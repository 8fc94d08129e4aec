import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Makes a geodatabase file of a replica's document and the definitions of the service's layers.
struct ReplicaFileMaker: Sendable {
    let root: URL
    let client: any ServiceClient
    let parameters: GenerateGeodatabaseParameters.Values
    /// A temporary name: whatever lies there is left over from an attempt that was broken off.
    let target: URL
    let downloads: any FileDownloading
    /// Where the contents of attachments lie until they are in the file; what is there need not be fetched again.
    let contents: URL
    /// The id of the replica, which the file of a prepared one does not tell.
    var id: UUID?

    /// - Parameter progress: called with the part that is done, 0 to 1.
    /// - Returns: where the complete file lies.
    func make(from document: URL, progress: @Sendable (Double) -> Void) async throws -> URL {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: target.path + suffix) }
        if try Self.isDatabase(document) {
            try await complete(document)
            return document
        }
        let content: JSONValue
        do {
            content = try JSONParser.parse(Data(contentsOf: document, options: .mappedIfSafe))
        } catch {
            // What can't be read now can't be read later either: the next attempt fetches it again.
            try? FileManager.default.removeItem(at: document)
            throw ServiceError.unknown(details: "The replica that the service made can't be read.")
        }
        let definition = try await definition(of: content)
        let session = try await GeodatabaseSession.create(at: target, definition: definition)
        let sources = await AttachmentSources.open(parameters.attachmentSources)
        do {
            let awaited = try await load(content, definition, session, sources, progress)
            await sources.close()
            try await finish(session, content, awaited)
            return target
        } catch {
            await sources.close()
            throw error
        }
    }

    /// Loads the layers of a document, each with its attachments.
    /// - Returns: the attachments that the service did not give.
    private func load(
        _ content: JSONValue, _ definition: ServiceDefinition, _ session: GeodatabaseSession,
        _ sources: AttachmentSources, _ progress: (Double) -> Void
    ) async throws -> [Int: [UUID: JSONValue]] {
        let layers = content["layers"]?.arrayValue ?? []
        var awaited: [Int: [UUID: JSONValue]] = [:]
        for (index, layer) in layers.enumerated() {
            try await load(layer, definition, into: session.file)
            try await loadAttachments(of: layer, definition, session, sources, &awaited)
            progress(Double(index + 1) / Double(layers.count + 1))
        }
        return awaited
    }

    /// A SQLite file says so in its first bytes.
    private static func isDatabase(_ file: URL) throws -> Bool {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        return try handle.read(upToCount: 16) == Data("SQLite format 3\0".utf8)
    }

    /// Completes the file that the service made where it lies: who is killed meanwhile does not download it again.
    private func complete(_ download: URL) async throws {
        let session = try await GeodatabaseSession.open(at: download)
        let note = try await onDevice { try await session.file.note(ReplicaAnswer.fileNote) }
        guard let content = note.flatMap({ try? JSONParser.parse($0) }) else {
            await session.file.close()
            // The next attempt fetches it again.
            try? FileManager.default.removeItem(at: download)
            throw ServiceError.unknown(details: "The file does not say which replica it is.")
        }
        try await finish(session, content)
    }

    private func finish(
        _ session: GeodatabaseSession, _ content: JSONValue, _ awaited: [Int: [UUID: JSONValue]] = [:]
    ) async throws {
        // Without a replica at the service there is nothing to synchronise; packages of changes lead on from the prepared one.
        if let reference = parameters.reference, parameters.syncModel == .none {
            var replica = try await record(of: content, replica: reference, file: session.file)
            replica.syncModel = content["layerServerGens"] == nil ? .geodatabase : .layer
            try await session.keep(PreparedFileRecord(replica, parameters))
            try await onDevice { try await session.file.checkpoint() }
            return await session.file.close()
        }
        let own = parameters.reference == nil ? nil : id
        var record = try await record(of: content, replica: own, file: session.file)
        record.awaitedAttachments = awaited
        try await session.keep(record)
        try await onDevice { try await session.file.checkpoint() }
        await session.file.close()
    }

    private func definition(of content: JSONValue) async throws -> ServiceDefinition {
        var service = try await FeatureServiceClient(root: root, client: client).definition()
        let wanted = Set((content["layers"]?.arrayValue ?? []).compactMap { $0["id"]?.integerValue })
        service.layers = service.layers.filter { wanted.contains(Int64($0.id)) }.map { layer in
            var layer = layer
            if let reference = parameters.outSpatialReference, !layer.isTable { layer.spatialReference = reference }
            if parameters.effectiveAttachmentDirection == .none { layer.hasAttachments = false }
            return layer
        }
        guard service.layers.count == wanted.count else {
            throw ServiceError.unknown(details: "The replica has a layer that the service does not have.")
        }
        if let lacking = service.layers.first(where: { $0.globalIDField == nil }) {
            throw ServiceError.unknown(
                details: "The layer \(lacking.name) has no global ids and can't be kept in step.")
        }
        return service
    }

    private func load(_ json: JSONValue, _ service: ServiceDefinition, into file: GeoPackageFile) async throws {
        guard let id = json["id"]?.integerValue.flatMap({ Int(exactly: $0) }), let layer = service.layer(id: id) else {
            throw ServiceError.unknown(details: "A layer of the replica has no id.")
        }
        let features = json["features"]?.arrayValue ?? []
        for start in stride(from: 0, to: features.count, by: Limits.featuresPerLoad) {
            try Task.checkCancellation()
            let part = features[start..<min(start + Limits.featuresPerLoad, features.count)]
            let edits = try part.map { try ReplicaFeature(json: $0, layer: layer).edit(keepsObjectID: true) }
            try await ReplicaFeature.takeOver([LayerEdits(layerID: id, adds: edits)], into: file)
        }
    }

    /// The attachments of the features that are there by now.
    private func loadAttachments(
        of json: JSONValue, _ service: ServiceDefinition, _ session: GeodatabaseSession, _ sources: AttachmentSources,
        _ awaited: inout [Int: [UUID: JSONValue]]
    ) async throws {
        guard let items = json["attachments"]?.arrayValue, !items.isEmpty,
            let layer = json["id"]?.integerValue.flatMap({ Int(exactly: $0) }).flatMap({ service.layer(id: $0) })
        else { return }
        let download = AttachmentDownload(
            session: session, layer: layer, downloads: downloads, folder: contents, sources: sources)
        // They stay until the whole file is made: an attempt that is broken off makes it anew.
        let rest = try await download.take(items, gone: [], keeping: { .init() }, discardsFiles: false)
        if let failure = rest.failure { throw failure }
        // What the service fails over, the syncs ask for again.
        if !rest.items.isEmpty { awaited[layer.id] = rest.items }
    }

    /// - Parameter own: the id of the replica, where the content is that of another one.
    private func record(
        of content: JSONValue, replica own: UUID?, file: GeoPackageFile
    ) async throws -> ReplicaRecord {
        var content = content
        if let id = own, var members = content.objectValue {
            members["replicaID"] = .string(id.uuidString)
            members["replicaName"] = .string(GenerateGeodatabaseJob.replicaName(id))
            content = .object(members)
        }
        guard let id = content["replicaID"]?.stringValue.flatMap(GUID.parse) else {
            throw ServiceError.unknown(details: "The replica has no id.")
        }
        var layerGenerations: [Int: Int64] = [:]
        for layer in content["layerServerGens"]?.arrayValue ?? [] {
            guard let id = layer["id"]?.integerValue.flatMap({ Int(exactly: $0) }) else { continue }
            layerGenerations[id] = layer["serverGen"]?.integerValue ?? 0
        }
        var record = ReplicaRecord(
            serviceURL: root, replicaID: id, replicaName: content["replicaName"]?.stringValue ?? "",
            syncModel: parameters.syncModel, serverGeneration: content["replicaServerGen"]?.integerValue ?? 0,
            layerGenerations: layerGenerations, sentGeneration: try await onDevice { try await file.generation() },
            area: parameters.extent, lastSync: DeviceClock.now())
        record.attachmentDirection = parameters.effectiveAttachmentDirection
        record.acceptsGzip = content["acceptsGzip"] == .bool(true)
        return record
    }
}
