import FieldworkGeometry
public import Foundation
import Synchronization

/// Takes an area of a feature service offline. The file appears whole or not at all; a job that was broken off goes on
/// where it was: the service's work is not asked for twice, and what was downloaded stays.
///
/// ``GeodatabaseSyncTask/makeGenerateGeodatabaseJob(parameters:downloadFileURL:)`` makes it. To go on in another run of the app, keep
/// its state:
///
/// ```swift
/// try job.toJSON().write(to: stateFile)
/// // In the next run:
/// if let job = try Job.fromJSON(Data(contentsOf: stateFile)) as? GenerateGeodatabaseJob {
///     job.start()
///     let geodatabase = try await job.output
/// }
/// ```
public final class GenerateGeodatabaseJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "GenerateGeodatabase"

    /// What survives the process.
    private struct Stage: Sendable {
        var statusURL: URL?
        var resultURL: URL?
    }

    /// Where the file will be.
    public let downloadFileURL: URL
    /// What is taken offline.
    public let parameters: GenerateGeodatabaseParameters
    private let serviceURL: URL
    /// Names the job, also at the service.
    private let id: UUID
    private let environment: ServiceEnvironment
    private let stage: Mutex<Stage>
    private let arrival = Mutex<Arrival?>(nil)

    init(
        serviceURL: URL, parameters: GenerateGeodatabaseParameters, downloadFileURL: URL,
        environment: ServiceEnvironment
    ) {
        self.serviceURL = serviceURL
        self.parameters = parameters
        self.downloadFileURL = downloadFileURL
        self.environment = environment
        id = environment.makeID()
        stage = Mutex(Stage())
        super.init(isResumed: false)
    }

    init(snapshot: JSONValue, environment: ServiceEnvironment = .standard) throws {
        guard let service = snapshot["service"]?.stringValue.flatMap(URL.init(string:)),
            let path = snapshot["file"]?.stringValue, let id = snapshot["id"]?.stringValue.flatMap(UUID.init),
            let parameters = snapshot["parameters"]
        else { throw CommonError.invalidJSON(details: "The state of the job is not complete.") }
        serviceURL = service
        downloadFileURL = URL(filePath: path)
        self.parameters = try GenerateGeodatabaseParameters(json: parameters)
        self.id = id
        self.environment = environment
        stage = Mutex(Self.stage(of: snapshot))
        super.init(isResumed: true)
        // The job may have come further after this state was asked for.
        if let later = try? JSONParser.parse(Data(contentsOf: noteURL)), later["id"] == snapshot["id"] {
            stage.withLock { $0 = Self.stage(of: later) }
        }
    }

    private static func stage(of snapshot: JSONValue) -> Stage {
        Stage(
            statusURL: snapshot["statusURL"]?.stringValue.flatMap(URL.init(string:)),
            resultURL: snapshot["resultURL"]?.stringValue.flatMap(URL.init(string:)))
    }

    override func snapshot() -> JSONValue {
        let stage = stage.withLock { $0 }
        var object = JSONObject()
        object.append("job", .string(Self.kind))
        object.append("id", .string(id.uuidString))
        object.append("service", .string(serviceURL.absoluteString))
        object.append("file", .string(downloadFileURL.path))
        object.append("parameters", parameters.json)
        if let url = stage.statusURL { object.append("statusURL", .string(url.absoluteString)) }
        if let url = stage.resultURL { object.append("resultURL", .string(url.absoluteString)) }
        return .object(object)
    }

    /// The geodatabase, not yet loaded.
    public var output: Geodatabase { get async throws { try await outcome(as: Geodatabase.self) } }

    override public var serverJobID: String { stage.withLock { $0.statusURL }?.lastPathComponent ?? "" }

    override public func checkStatus() async throws {
        guard let url = stage.withLock({ $0.statusURL }) else { return }
        tell(try await replicas.status(at: url).word, source: .service)
    }

    /// Bytes that are on this device, of those of the file that the service has made.
    public struct Arrival: Sendable, Hashable {
        /// Bytes that are on this device.
        public var there: Int64
        /// Bytes of the whole file.
        public var whole: Int64

        /// So many bytes of a file.
        public init(there: Int64, whole: Int64) { (self.there, self.whole) = (there, whole) }
    }

    /// nil while nothing is downloaded, and for a service that does not say how much there is. Not part of the vendor's API.
    public var arrived: Arrival? { arrival.withLock { $0 } }

    // MARK: Files

    /// How far the job is, for a process that got an older state from its app.
    private var noteURL: URL { beside("job") }
    private var contentURL: URL { beside("download") }
    private var makingURL: URL { beside("making") }
    private var attachmentsURL: URL { beside("contents") }

    private func beside(_ suffix: String) -> URL { URL(filePath: "\(downloadFileURL.path).\(suffix)") }

    private func keep(_ change: (inout Stage) -> Void) throws {
        stage.withLock { change(&$0) }
        try toJSON().write(to: noteURL, options: .atomic)
    }

    override func discard() async {
        for url in [noteURL, contentURL, makingURL, attachmentsURL] { try? FileManager.default.removeItem(at: url) }
    }

    // MARK: Work

    private var replicas: ReplicaClient { ReplicaClient(root: serviceURL, client: environment.client) }

    override func work() async throws -> any Sendable {
        guard !FileManager.default.fileExists(atPath: downloadFileURL.path) else {
            // The file is whole when it is there: a job that was killed at its very end has done its work.
            if FileManager.default.fileExists(atPath: noteURL.path), await isMadeByThis() {
                await discard()
                return Geodatabase(fileURL: downloadFileURL)
            }
            throw CommonError.illegalState(details: "There is a file \(downloadFileURL.lastPathComponent) already.")
        }
        try await askForReplica()
        let result = try await waitForReplica()
        try await fetch(result)
        let maker = ReplicaFileMaker(
            root: serviceURL, client: environment.client, parameters: parameters.values, target: makingURL,
            downloads: environment.downloads, contents: attachmentsURL, id: id)
        let made = try await maker.make(from: contentURL) { [self] part in advance(to: 60 + Int(part * 38)) }
        guard rename(made.path, downloadFileURL.path) == 0 else {
            throw CommonError.io(
                details: "The file \(downloadFileURL.lastPathComponent) could not be put in its place.")
        }
        await discard()
        tell("The area is on this device.")
        return Geodatabase(fileURL: downloadFileURL)
    }

    /// Whether this job made the file at `downloadFileURL`. Somebody may have put another file there meanwhile.
    private func isMadeByThis() async -> Bool {
        let geodatabase = Geodatabase(fileURL: downloadFileURL)
        defer { geodatabase.close() }
        guard (try? await geodatabase.load()) != nil, let session = try? geodatabase.openSession() else { return false }
        // A file that is never synchronised does not say which replica it was.
        guard let name = session.replica?.replicaName else { return parameters.syncModel == .none }
        return name.lowercased().contains(Self.replicaName(id))
    }

    /// What the service calls the replica of a job.
    static func replicaName(_ id: UUID) -> String { "fieldwork-\(id.uuidString.lowercased())" }

    private func askForReplica() async throws {
        guard stage.withLock({ $0.statusURL }) == nil else { return }
        tell("Asking the service for the area.")
        // The name of the request is on the disk before it leaves: a process that dies over it asks for the same replica again.
        try keep { _ in }
        var asked = parameters.values
        asked.attachmentSources = await AttachmentSources.worthwhile(asked.attachmentSources)
        let url: URL
        do {
            url = try await replicas.create(asked, name: Self.replicaName(id), id: id)
        } catch {
            // What the service has refused is not asked again. Where it may have begun the replica, the same one is asked for again.
            if !Self.mayHaveArrived(error) { try? FileManager.default.removeItem(at: noteURL) }
            throw error
        }
        try keep { $0.statusURL = url }
        advance(to: 5)
    }

    /// Whether the service may have taken a request that ended with an error.
    private static func mayHaveArrived(_ error: any Error) -> Bool {
        if case ServiceError.connectionFailed = error { return true }
        return error is CancellationError
    }

    private func waitForReplica() async throws -> URL {
        if let url = stage.withLock({ $0.resultURL }) { return url }
        guard let statusURL = stage.withLock({ $0.statusURL }) else {
            throw CommonError.illegalState(details: "The service was not asked for the area.")
        }
        return try await JobPolling.wait {
            let status = try await replicas.status(at: statusURL)
            guard status.isFinished else {
                tell(status.word, source: .service)
                return nil
            }
            guard let url = status.resultURL else {
                throw ServiceError.unknown(
                    details: "The service finished the replica but does not say where it is.")
            }
            try keep { $0.resultURL = url }
            advance(to: 20)
            return url
        }
    }

    private func fetch(_ url: URL) async throws {
        tell("Downloading.")
        if !FileManager.default.fileExists(atPath: contentURL.path) {
            // What belongs to another file of this name would be taken for changes of this one.
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: contentURL.path + suffix) }
        }
        defer { arrival.withLock { $0 = nil } }
        try await environment.downloads.download(url, to: contentURL) { [self] there, whole in
            guard let whole, whole > 0 else { return }
            arrival.withLock { $0 = Arrival(there: there, whole: whole) }
            advance(to: 20 + Int(Double(there) / Double(whole) * 40))
        }
        advance(to: 60)
    }
}
