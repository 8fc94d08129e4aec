import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Brings a geodatabase and its service together: sends the edits of this device, takes over those of others.
///
/// The edits of one sync travel under one upload id, which is on disk before they leave: when the answer is lost, the next
/// sync sends the same upload again and the service answers what it did. What the service refuses stays in the file.
public final class SyncGeodatabaseJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "SyncGeodatabase"

    /// The file that is synced.
    public let geodatabase: Geodatabase
    /// What goes which way.
    public let parameters: SyncGeodatabaseParameters
    private let environment: ServiceEnvironment

    init(geodatabase: Geodatabase, parameters: SyncGeodatabaseParameters, environment: ServiceEnvironment) {
        self.geodatabase = geodatabase
        self.parameters = parameters
        self.environment = environment
        super.init(isResumed: false)
    }

    init(snapshot: JSONValue, environment: ServiceEnvironment = .standard) throws {
        guard let path = snapshot["file"]?.stringValue, let parameters = snapshot["parameters"] else {
            throw CommonError.invalidJSON(details: "The state of the job is not complete.")
        }
        geodatabase = Geodatabase(fileURL: URL(filePath: path))
        self.parameters = SyncGeodatabaseParameters(json: parameters)
        self.environment = environment
        super.init(isResumed: true)
    }

    /// How far a sync is stands in the file itself.
    override func snapshot() -> JSONValue {
        ["job": .string(Self.kind), "file": .string(geodatabase.fileURL.path), "parameters": parameters.json]
    }

    /// The edits that the service refused, layer by layer; empty when nothing went wrong.
    public var output: [SyncLayerResult] { get async throws { try await outcome(as: [SyncLayerResult].self) } }

    // MARK: Work

    override func work() async throws -> any Sendable {
        try await geodatabase.load()
        let session = try geodatabase.openSession()
        guard !session.file.isInTransaction else {
            throw CommonError.illegalState(details: "A geodatabase can't be synced while a transaction is open.")
        }
        guard let record = session.replica else {
            throw CommonError.illegalState(details: "The geodatabase was not taken from a service.")
        }
        return try await session.syncing { [self] in try await sync(session, record) }
    }

    private func sync(_ session: GeodatabaseSession, _ known: ReplicaRecord) async throws -> [SyncLayerResult] {
        var record = known
        try await finish(session, &record)
        let through = try await onDevice { try await session.file.generation() }
        var outgoing = ReplicaUploadDocument(session: session, record: record, parameters: parameters)
        let edits = try await outgoing.edits(through: record.pendingUpload?.throughGeneration ?? through)
        if record.pendingUpload == nil, !edits.isEmpty {
            record.pendingUpload = ReplicaRecord.PendingUpload(id: environment.makeID(), throughGeneration: through)
            try await session.keep(record)
            // The request names the upload.
            outgoing.record = record
        }
        advance(to: 20)
        tell(edits.isEmpty ? "Nothing to send." : "Sending \(edits.count) edits.")
        let client = ReplicaClient(root: record.serviceURL, client: environment.client)
        let answer = try await client.synchronize(outgoing.form(edits))
        advance(to: 60)
        try Task.checkCancellation()
        if Self.bringsRows(answer) {
            record.arrived = ReplicaRecord.Arrived(answer: answer, parameters: parameters.json)
            try await session.keep(record)
        }
        let results = try await takeOver(answer, outgoing, edits, &record, session)
        try await session.lookForEdits()
        tell(results.isEmpty ? "Synchronized." : "Synchronized; some edits were refused.")
        return results
    }

    /// Takes over what an earlier sync brought when the process died over it. What was taken over then is taken again,
    /// which changes nothing.
    private func finish(_ session: GeodatabaseSession, _ record: inout ReplicaRecord) async throws {
        guard let arrived = record.arrived else { return }
        let parameters = SyncGeodatabaseParameters(json: arrived.parameters)
        let outgoing = ReplicaUploadDocument(session: session, record: record, parameters: parameters)
        let through = record.pendingUpload?.throughGeneration
        let edits = if let through { try await outgoing.edits(through: through) } else { [OutgoingEdit]() }
        do {
            _ = try await takeOver(arrived.answer, outgoing, edits, &record, session)
        } catch let error where Self.staysUnreadable(error) {
            // Nothing may wait for it: the service is asked again.
            tell("What the service sent can't be taken over: \(error)")
            record = outgoing.record
            record.arrived = nil
            try await session.keep(record)
        }
    }

    /// Whether an answer can't be taken over now or ever; a full disk or a line that is down says nothing of it.
    private static func staysUnreadable(_ error: any Error) -> Bool {
        if case ServiceError.unknown = error { return true }
        return error is GeodatabaseError
    }

    /// Whether an answer changes rows of the file.
    private static func bringsRows(_ answer: JSONValue) -> Bool {
        let layers = (answer["edits"]?.arrayValue ?? []) + (answer["layers"]?.arrayValue ?? [])
        return layers.contains { layer in
            guard layer["attachments"] == nil, let features = layer["features"], features.arrayValue == nil else {
                return layer["attachments"] != nil || layer["features"] != nil
            }
            return ["adds", "updates", "deleteIds"].contains { !(features[$0]?.arrayValue ?? []).isEmpty }
        }
    }

    private func takeOver(
        _ answer: JSONValue, _ outgoing: ReplicaUploadDocument, _ edits: [OutgoingEdit],
        _ record: inout ReplicaRecord, _ session: GeodatabaseSession
    ) async throws -> [SyncLayerResult] {
        let incoming = ReplicaDownload(session: session, sent: edits, parameters: outgoing.parameters)
        let results = try await incoming.takeOver(answer, into: &record)
        if let pending = record.pendingUpload, !outgoing.sentLayers.isEmpty {
            let layers = session.file.definition.layers.map(\.id)
            record.handedIn(outgoing.sentLayers, of: layers, through: pending.throughGeneration)
            record.pendingUpload = nil
        }
        record.lastSync = DeviceClock.now()
        record.arrived = nil
        try await session.keep(record)
        return results
    }
}
