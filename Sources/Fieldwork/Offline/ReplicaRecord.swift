import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// What a geodatabase knows about the replica that it is: the service, the area, and how far both have been brought
/// together. Kept in the file itself.
struct ReplicaRecord: Sendable, Hashable {
    static let note = GeoPackageFile.replicaNote

    var serviceURL: URL
    var replicaID: UUID
    var replicaName: String
    var syncModel: Geodatabase.SyncModel
    /// The service's generation that the file has: of the whole replica, or by layer.
    var serverGeneration: Int64
    var layerGenerations: [Int: Int64]
    /// The file's own generation up to which the service has its edits.
    var sentGeneration: Int64
    /// The same of layers that were not sent with the others.
    var layerSentGenerations: [Int: Int64] = [:]
    var area: Geometry?
    var lastSync: Date?
    /// The upload that was begun and not yet known to have arrived: it is repeated under the same id.
    var pendingUpload: PendingUpload?

    /// The uploads that the service has taken.
    var sent = SentEdits()
    /// The newest restoration of the service that was taken into account, by the generation at which the service went on.
    var knownRestoration: Int64 = 0
    /// Layers of which the file has rows that the service may not have had since it was put back: all come anew.
    var wholeLayers: Set<Int> = []

    /// Features whose edits the service refused, with what was asked: they go with the next sync again.
    var refused: [Int: [UUID: FeatureChange.Operation]] = [:]
    /// Which fields a refused update would have changed: the others are whatever the service says.
    var refusedFields: [UUID: [String]] = [:]
    /// Why it refused them, features and attachments; files of earlier versions don't tell it.
    var refusals: [UUID: Refusal] = [:]
    /// Attachments whose edits the service refused, with what was asked.
    var refusedAttachments: [Int: [UUID: AttachmentEdit.Operation]] = [:]
    /// Which way attachments go.
    var attachmentDirection = AttachmentSyncDirection.none
    /// Whether the service has said that it takes compressed requests.
    var acceptsGzip = false

    /// Whether a feature is one that the service refused as a new one: it is new to it, however often it is edited here.
    func isRefusedAdd(_ id: UUID, _ layer: LayerDefinition) -> Bool { refused[layer.id]?[id] == .add }

    var hasRefused: Bool {
        refused.values.contains { !$0.isEmpty } || refusedAttachments.values.contains { !$0.isEmpty }
    }

    /// What a sync brought and has not taken over whole yet: a process that dies over it leaves rows of a generation that
    /// the file does not name, and the service would not tell which of them have gone since.
    var arrived: Arrived?

    struct Arrived: Sendable, Hashable {
        var answer: JSONValue
        /// What the sync was to do, as `SyncGeodatabaseParameters.json`.
        var parameters: JSONValue
        /// The file's own generation up to which the sync sent.
        var through: Int64
    }

    struct PendingUpload: Sendable, Hashable {
        var id: UUID
        var throughGeneration: Int64
    }

    /// Contents that are on their way to the service or there, each under its name on this device, until the edits that
    /// need them have arrived.
    /// The service's name for it stands beside that.
    var contentUploads: [String: String] = [:]

    /// By layer, features that the service has deleted and that are here as long as it has not taken their attachments.
    var heldFeatures: [Int: Set<UUID>] = [:]

    /// By layer and global id, attachments as the service told of them whose contents are not on this device: each sync asks
    /// for them again.
    var awaitedAttachments: [Int: [UUID: JSONValue]] = [:]

    /// By layer, what came as new with an answer that was taken over in part, when the rest of it could no longer be: if it
    /// has gone from the service by the next answer, that one does not name it, since it was never this replica's.
    var halfTaken: [Int: Set<UUID>] = [:]
    /// The same of attachments.
    var halfTakenAttachments: [Int: Set<UUID>] = [:]

    /// The file's own generation up to which the service has the edits of a layer.
    func sentGeneration(of layerID: Int) -> Int64 { layerSentGenerations[layerID] ?? sentGeneration }

    /// Takes note that the service has the edits of some layers; those of the others wait.
    mutating func handedIn(_ sent: Set<Int>, of all: [Int], through generation: Int64) {
        for id in all {
            layerSentGenerations[id] =
                sent.contains(id) ? max(generation, sentGeneration(of: id)) : sentGeneration(of: id)
        }
        sentGeneration = all.map(sentGeneration(of:)).min() ?? generation
        layerSentGenerations = layerSentGenerations.filter { $0.value != sentGeneration }
    }
}

extension ReplicaRecord {
    var json: JSONValue {
        var object = JSONObject()
        object.append("serviceURL", .string(serviceURL.absoluteString))
        object.append("replicaID", .string(replicaID.uuidString))
        object.append("replicaName", .string(replicaName))
        object.append("syncModel", .string(syncModel.rawValue))
        object.append("serverGeneration", .integer(serverGeneration))
        var layers = JSONObject()
        for (id, generation) in layerGenerations.sorted(by: { $0.key < $1.key }) {
            layers.append(String(id), .integer(generation))
        }
        object.append("layerGenerations", .object(layers))
        object.append("sentGeneration", .integer(sentGeneration))
        var sent = JSONObject()
        for (id, generation) in layerSentGenerations.sorted(by: { $0.key < $1.key }) {
            sent.append(String(id), .integer(generation))
        }
        object.append("layerSentGenerations", .object(sent))
        if let area { object.append("area", GeoServicesJSON.json(for: area)) }
        if let lastSync { object.append("lastSync", .integer(Int64(lastSync.timeIntervalSince1970 * 1_000))) }
        if let pendingUpload {
            object.append(
                "pendingUpload",
                ["id": .string(pendingUpload.id.uuidString), "through": .integer(pendingUpload.throughGeneration)])
        }
        if let arrived {
            object.append(
                "arrived",
                [
                    "answer": arrived.answer, "parameters": arrived.parameters, "through": .integer(arrived.through),
                ])
        }
        object.append("sent", self.sent.json)
        object.append("knownRestoration", .integer(knownRestoration))
        object.append("wholeLayers", .array(wholeLayers.sorted().map { .integer(Int64($0)) }))
        object.append("refused", Self.json(operations: refused))
        var fields = JSONObject()
        for (id, names) in refusedFields.sorted(by: { $0.key.uuidString < $1.key.uuidString }) {
            fields.append(GUID.normalForm(id), .array(names.map { .string($0) }))
        }
        object.append("refusedFields", .object(fields))
        object.append("refusals", refusalsJSON)
        object.append("attachmentDirection", .string(attachmentDirection.rawValue))
        object.append("acceptsGzip", .bool(acceptsGzip))
        object.append("refusedAttachments", Self.json(operations: refusedAttachments))
        var uploads = JSONObject()
        for (name, item) in contentUploads.sorted(by: { $0.key < $1.key }) { uploads.append(name, .string(item)) }
        object.append("contentUploads", .object(uploads))
        object.append("awaitedAttachments", awaitedAttachmentsJSON)
        object.append("heldFeatures", Self.json(heldFeatures))
        object.append("halfTaken", Self.json(halfTaken))
        object.append("halfTakenAttachments", Self.json(halfTakenAttachments))
        return .object(object)
    }

    /// Throws `CommonError.invalidJSON`.
    init(json: JSONValue) throws {
        guard let address = json["serviceURL"]?.stringValue, let url = URL(string: address),
            let id = json["replicaID"]?.stringValue.flatMap(UUID.init),
            let model = json["syncModel"]?.stringValue.flatMap(Geodatabase.SyncModel.init)
        else { throw CommonError.invalidJSON(details: "The file's record of its replica can't be read.") }
        serviceURL = url
        replicaID = id
        replicaName = json["replicaName"]?.stringValue ?? ""
        syncModel = model
        serverGeneration = json["serverGeneration"]?.integerValue ?? 0
        layerGenerations = [:]
        for member in json["layerGenerations"]?.objectValue?.members ?? [] {
            if let id = Int(member.key) { layerGenerations[id] = member.value.integerValue ?? 0 }
        }
        sent = SentEdits(json: json["sent"])
        knownRestoration = json["knownRestoration"]?.integerValue ?? 0
        wholeLayers = Set(
            (json["wholeLayers"]?.arrayValue ?? []).compactMap { $0.integerValue.flatMap { Int(exactly: $0) } })
        refused = Self.operations(json["refused"])
        for member in json["refusedFields"]?.objectValue?.members ?? [] {
            guard let id = GUID.parse(member.key) else { continue }
            refusedFields[id] = (member.value.arrayValue ?? []).compactMap(\.stringValue)
        }
        // Files of earlier versions list the ids, and those of the adds once more.
        for (name, operation) in [("refused", FeatureChange.Operation.update), ("refusedAdds", .add)] {
            for (layerID, ids) in Self.features(json[name]) {
                for id in ids { refused[layerID, default: [:]][id] = operation }
            }
        }
        refusals = Self.refusals(json["refusals"])
        heldFeatures = Self.features(json["heldFeatures"])
        halfTaken = Self.features(json["halfTaken"])
        halfTakenAttachments = Self.features(json["halfTakenAttachments"])
        sentGeneration = json["sentGeneration"]?.integerValue ?? 0
        for member in json["layerSentGenerations"]?.objectValue?.members ?? [] {
            if let id = Int(member.key) { layerSentGenerations[id] = member.value.integerValue ?? 0 }
        }
        attachmentDirection =
            json["attachmentDirection"]?.stringValue.flatMap(AttachmentSyncDirection.init) ?? .none
        acceptsGzip = json["acceptsGzip"]?.boolValue ?? false
        readAttachments(json)
        area = try json["area"].map { try GeoServicesJSON.geometry(from: $0) } ?? nil
        lastSync = json["lastSync"]?.integerValue.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
        if let answer = json["arrived"]?["answer"], let parameters = json["arrived"]?["parameters"],
            let through = json["arrived"]?["through"]?.integerValue
        {
            arrived = Arrived(answer: answer, parameters: parameters, through: through)
        }
        if let upload = json["pendingUpload"], let id = upload["id"]?.stringValue.flatMap(UUID.init) {
            pendingUpload = PendingUpload(id: id, throughGeneration: upload["through"]?.integerValue ?? 0)
        }
    }
}

// MARK: - Features

extension ReplicaRecord {
    private static func json(_ features: [Int: Set<UUID>]) -> JSONValue {
        var layers = JSONObject()
        for (id, features) in features.sorted(by: { $0.key < $1.key }) where !features.isEmpty {
            layers.append(String(id), .array(features.map { .string($0.uuidString) }.sorted { $0.text < $1.text }))
        }
        return .object(layers)
    }

    private static func json<Operation: RawRepresentable<String>>(
        operations: [Int: [UUID: Operation]]
    ) -> JSONValue {
        var layers = JSONObject()
        for (id, operations) in operations.sorted(by: { $0.key < $1.key }) where !operations.isEmpty {
            var edits = JSONObject()
            for (id, operation) in operations.sorted(by: { $0.key.uuidString < $1.key.uuidString }) {
                edits.append(id.uuidString, .string(operation.rawValue))
            }
            layers.append(String(id), .object(edits))
        }
        return .object(layers)
    }

    private static func operations<Operation: RawRepresentable<String>>(
        _ json: JSONValue?
    ) -> [Int: [UUID: Operation]] {
        var operations: [Int: [UUID: Operation]] = [:]
        for layer in json?.objectValue?.members ?? [] {
            guard let layerID = Int(layer.key) else { continue }
            for edit in layer.value.objectValue?.members ?? [] {
                guard let id = UUID(uuidString: edit.key),
                    let operation = edit.value.stringValue.flatMap(Operation.init)
                else { continue }
                operations[layerID, default: [:]][id] = operation
            }
        }
        return operations
    }

    private static func features(_ json: JSONValue?) -> [Int: Set<UUID>] {
        var features: [Int: Set<UUID>] = [:]
        for layer in json?.objectValue?.members ?? [] {
            guard let id = Int(layer.key) else { continue }
            features[id] = Set((layer.value.arrayValue ?? []).compactMap { $0.stringValue.flatMap(UUID.init) })
        }
        return features
    }
}

// MARK: - Attachments

extension ReplicaRecord {
    private var awaitedAttachmentsJSON: JSONValue {
        var layers = JSONObject()
        for (id, items) in awaitedAttachments.sorted(by: { $0.key < $1.key }) {
            layers.append(String(id), .array(items.sorted { $0.key.uuidString < $1.key.uuidString }.map(\.value)))
        }
        return .object(layers)
    }

    private mutating func readAttachments(_ json: JSONValue) {
        refusedAttachments = Self.operations(json["refusedAttachments"])
        for upload in json["contentUploads"]?.objectValue?.members ?? [] {
            contentUploads[upload.key] = upload.value.stringValue
        }
        for layer in json["awaitedAttachments"]?.objectValue?.members ?? [] {
            guard let layerID = Int(layer.key) else { continue }
            for item in layer.value.arrayValue ?? [] {
                guard let id = item["globalId"]?.stringValue.flatMap(GUID.parse) else { continue }
                awaitedAttachments[layerID, default: [:]][id] = item
            }
        }
    }
}
