import FieldworkGeometry
import FieldworkREST
import FieldworkStore
public import Foundation
import Synchronization

/// Brings a geodatabase and its service together: sends the edits of this device, takes over those of others.
///
/// The edits of one sync travel under one upload id, which is on disk before they leave: when the answer is lost, the next
/// sync sends the same upload again and the service answers what it did. What the service refuses stays in the file.
///
/// ```swift
/// let parameters = try await task.makeDefaultSyncGeodatabaseParameters(geodatabase: geodatabase)
/// let job = task.makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase)
/// job.start()
/// let refused = try await job.output.flatMap(\.editResults).filter(\.didCompleteWithErrors)
/// ```
///
/// What two have changed is merged field by field: see <doc:Conflicts>. Feature objects in hand are stale after a sync.
public final class SyncGeodatabaseJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "SyncGeodatabase"

    /// The file that is synced.
    public let geodatabase: Geodatabase
    /// What goes which way.
    public let parameters: SyncGeodatabaseParameters
    /// Told how far the sending has come; nil where nobody asks. Not part of the vendor's API.
    private let watch: SendingWatch?
    private let environment: ServiceEnvironment
    private let reported = Mutex(SyncReport())

    /// What the job has sent and brought so far. Not part of the vendor's API.
    package var report: SyncReport { reported.withLock { $0 } }

    init(
        geodatabase: Geodatabase, parameters: SyncGeodatabaseParameters, environment: ServiceEnvironment,
        watch: SendingWatch? = nil
    ) {
        self.watch = watch
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
        watch = nil
        super.init(isResumed: true)
    }

    /// How far a sync is stands in the file itself.
    override func snapshot() -> JSONValue {
        ["job": .string(Self.kind), "file": .string(geodatabase.fileURL.path), "parameters": parameters.json]
    }

    /// The edits that the service refused, layer by layer; empty when nothing went wrong.
    public var output: [SyncLayerResult] { get async throws { try await outcome(as: [SyncLayerResult].self) } }

    // MARK: Deltas

    /// The folder of what was exchanged, beside the geodatabase, where the parameters say that it is kept: for each sync
    /// what went and what came, as JSON.
    public var deltaFileURL: URL? {
        parameters.keepsGeodatabaseDeltas ? geodatabase.fileURL.appendingPathExtension("deltas") : nil
    }

    private func keepDelta(_ delta: JSONValue, _ what: String) throws {
        guard let folder = deltaFileURL else { return }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let moment = Int64(DeviceClock.now().timeIntervalSince1970 * 1_000)
            let file = folder.appending(path: "\(moment)-\(environment.makeID().uuidString)-\(what).json")
            try Data(delta.text.utf8).write(to: file, options: .atomic)
        } catch {
            throw CommonError.io(details: "What was exchanged could not be kept: \(error.localizedDescription)")
        }
    }

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
        return try await session.syncing { [self] in
            var record = record
            try await finish(session, &record)
            let first = try await exchangeAlsoAfterRestoration(session, record)
            // What was edited after a sync that broke off could not go under the name of its upload.
            guard first.leavesLaterEdits, let record = session.replica else { return first.results }
            return try await exchangeAlsoAfterRestoration(session, record).results
        }
    }

    /// When the service turns out to have been put back to an earlier state, the file goes back with it: what the service has
    /// taken since is sent again, which no edit is doubled by, since rows are known by their global ids.
    private func exchangeAlsoAfterRestoration(
        _ session: GeodatabaseSession, _ known: ReplicaRecord
    ) async throws -> (results: [SyncLayerResult], leavesLaterEdits: Bool) {
        do {
            return try await exchange(session, known)
        } catch let restored as RestoredService {
            guard var record = session.replica else { throw ServiceError(restored.error) }
            record.goBack(restored, layers: session.file.definition.layers.map(\.id))
            try await session.keep(record)
            tell("The service was put back to an earlier state. The edits that it lost are sent again.")
        }
        guard let record = session.replica else { throw CommonError.illegalState(details: "The file has no replica.") }
        do {
            return try await exchange(session, record)
        } catch let restored as RestoredService {
            // Put back once more in between: the next sync goes back with it.
            throw ServiceError(restored.error)
        }
    }

    /// One request with all that it needs before and brings after.
    private func exchange(
        _ session: GeodatabaseSession, _ known: ReplicaRecord
    ) async throws -> (results: [SyncLayerResult], leavesLaterEdits: Bool) {
        var record = known
        let through = try await onDevice { try await session.file.generation() }
        var outgoing = ReplicaUploadDocument(session: session, record: record, parameters: parameters)
        let last = record.pendingUpload?.throughGeneration ?? through
        let edits = try await outgoing.edits(through: last)
        var attachments = try await outgoing.attachments(through: last)
        let count = edits.count + attachments.count
        if record.pendingUpload == nil, count > 0 {
            record.pendingUpload = ReplicaRecord.PendingUpload(id: environment.makeID(), throughGeneration: through)
            try await session.keep(record)
            // The request names the upload.
            outgoing.record = record
        }
        advance(to: 10)
        tell(count == 0 ? "Nothing to send." : "Sending \(count) \(count == 1 ? "edit" : "edits").")
        let service = FeatureServiceClient(root: record.serviceURL, client: environment.client)
        watch?.expect(edits: edits.count)
        let contents = try await ContentSender(session: session, service: service, watch: watch).send(
            &attachments, &record
        ) {
            [self] part in advance(to: 10 + Int(part * 30))
        }
        let sender = EditsSender(session: session, service: service)
        let member = try await sender.member(
            count == 0 ? nil : outgoing.json(edits, attachments, contents).text, &record)
        let client = ReplicaClient(root: record.serviceURL, client: environment.client)
        let form = outgoing.form(member)
        if parameters.keepsGeodatabaseDeltas {
            var sent = JSONObject()
            for parameter in form { sent.append(parameter.name, .string(parameter.value)) }
            try keepDelta(.object(sent), "upload")
        }
        let answer = try await client.synchronize(form, isCompressed: record.acceptsGzip)
        if parameters.keepsGeodatabaseDeltas { try keepDelta(answer, "download") }
        advance(to: 60)
        watch?.finished()
        try Task.checkCancellation()
        if Self.bringsRows(answer) {
            record.arrived = ReplicaRecord.Arrived(answer: answer, parameters: parameters.json, through: last)
            try await session.keep(record)
        }
        let outcome = try await takeOver(
            answer, outgoing, (edits, attachments), through: last, &record, session)
        sender.discard()
        reported.withLock { report in
            report.take(answer, edits, attachments, of: session.file.definition.layers)
            report.missingContents += outcome.refusedContents
        }
        try await session.lookForEdits()
        if outcome.refusedContents > 0 {
            tell("\(outcome.refusedContents) photos or files can't be had now; the next sync asks for them again.")
        }
        if let failure = outcome.failure { throw failure }
        tell(outcome.results.isEmpty ? "Synchronized." : "Synchronized; some edits were refused.")
        return (outcome.results, leavesLaterEdits: last < through)
    }

    /// Takes over what an earlier sync brought when the process died over it. What was taken over then is taken again,
    /// which changes nothing.
    private func finish(_ session: GeodatabaseSession, _ record: inout ReplicaRecord) async throws {
        guard let arrived = record.arrived else { return }
        let parameters = SyncGeodatabaseParameters(json: arrived.parameters)
        let outgoing = ReplicaUploadDocument(session: session, record: record, parameters: parameters)
        let edits = try await outgoing.edits(through: arrived.through)
        let attachments = try await outgoing.attachments(through: arrived.through)
        do {
            _ = try await takeOver(
                arrived.answer, outgoing, (edits, attachments), through: arrived.through, &record, session,
                isRepeated: true)
            reported.withLock {
                $0.take(arrived.answer, edits, attachments, of: session.file.definition.layers)
            }
        } catch let error where Self.staysUnreadable(error) {
            // Nothing may wait for it: the service is asked again.
            tell("What the service sent can't be taken over: \(error)")
            record = outgoing.record
            record.arrived = nil
            ReplicaDownload.noteHalfTaken(arrived.answer, session.file.definition.layers, in: &record)
            try await session.keep(record)
        }
    }

    /// Whether an answer can't be taken over now or ever; a full disk, a line that is down and a service that fails say
    /// nothing of it.
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

    /// - Parameters:
    ///   - sent: what the answer answers.
    ///   - last: the file's generation up to which it was sent.
    ///   - isRepeated: whether it was begun before, and may have been taken over in part.
    private func takeOver(
        _ answer: JSONValue, _ outgoing: ReplicaUploadDocument,
        _ sent: (edits: [OutgoingEdit], attachments: [OutgoingAttachment]), through last: Int64,
        _ record: inout ReplicaRecord, _ session: GeodatabaseSession, isRepeated: Bool = false
    ) async throws -> ReplicaDownload.Outcome {
        let incoming = ReplicaDownload(
            session: session, sent: sent.edits, sentAttachments: sent.attachments, parameters: outgoing.parameters,
            downloads: environment.downloads)
        let outcome = try await incoming.takeOver(answer, into: &record)
        if isRepeated, !outcome.behind.isEmpty {
            let layers = session.file.definition.layers.filter { outcome.behind.contains($0.id) }
            ReplicaDownload.noteHalfTaken(answer, layers, in: &record)
        }
        if !outgoing.sentLayers.isEmpty {
            // Also when there was nothing to send: what was done and undone again is no edit.
            let layers = session.file.definition.layers.map(\.id)
            let before = record.sentMark
            record.handedIn(outgoing.sentLayers, of: layers, through: last)
            if let upload = record.pendingUpload { record.sent.add(upload.id, from: before, to: record.sentMark) }
            record.pendingUpload = nil
            record.contentUploads = [:]
        }
        if record.awaitedAttachments.isEmpty { incoming.discardContents() }
        record.lastSync = DeviceClock.now()
        record.wholeLayers.subtract(
            outgoing.record.wholeLayers.filter { parameters.receives($0) && !outcome.behind.contains($0) })
        record.arrived = nil
        try await session.keep(record)
        return outcome
    }
}
