import FieldworkGeometry
import FieldworkTiles
import Foundation
import Synchronization

/// The way of a package of tiles from a service to this device, with what survives the process: the service's work is not asked for
/// twice, and what was downloaded stays. The package appears whole or not at all.
final class TilePackageDownload: Sendable {
    private struct Stage: Sendable {
        var jobURL: URL?
        var fileURL: URL?
    }

    let serviceURL: URL
    let file: URL
    private let isVector: Bool
    private let id: UUID
    private let environment: ServiceEnvironment
    private let stage: Mutex<Stage>
    private let arrival = Mutex<GenerateGeodatabaseJob.Arrival?>(nil)

    init(serviceURL: URL, file: URL, isVector: Bool, environment: ServiceEnvironment) {
        self.serviceURL = serviceURL
        self.file = file
        self.isVector = isVector
        self.environment = environment
        id = environment.makeID()
        stage = Mutex(Stage())
    }

    init(snapshot: JSONValue, isVector: Bool, environment: ServiceEnvironment) throws {
        guard let service = snapshot["service"]?.stringValue.flatMap(URL.init(string:)),
            let path = snapshot["file"]?.stringValue, let id = snapshot["id"]?.stringValue.flatMap(UUID.init)
        else { throw CommonError.invalidJSON(details: "The state of the job is not complete.") }
        serviceURL = service
        file = URL(filePath: path)
        self.isVector = isVector
        self.id = id
        self.environment = environment
        stage = Mutex(Self.stage(of: snapshot))
        // The job may have come further after this state was asked for.
        if let later = try? JSONParser.parse(Data(contentsOf: noteURL)), later["id"] == snapshot["id"] {
            stage.withLock { $0 = Self.stage(of: later) }
        }
    }

    private static func stage(of snapshot: JSONValue) -> Stage {
        Stage(
            jobURL: snapshot["jobURL"]?.stringValue.flatMap(URL.init(string:)),
            fileURL: snapshot["fileURL"]?.stringValue.flatMap(URL.init(string:)))
    }

    /// The members of a job's state.
    var snapshot: JSONObject {
        let stage = stage.withLock { $0 }
        var object = JSONObject()
        object.append("id", .string(id.uuidString))
        object.append("service", .string(serviceURL.absoluteString))
        object.append("file", .string(file.path))
        if let url = stage.jobURL { object.append("jobURL", .string(url.absoluteString)) }
        if let url = stage.fileURL { object.append("fileURL", .string(url.absoluteString)) }
        return object
    }

    var serverJobID: String { stage.withLock { $0.jobURL }?.lastPathComponent ?? "" }
    var arrived: GenerateGeodatabaseJob.Arrival? { arrival.withLock { $0 } }

    // MARK: Files

    private var noteURL: URL { URL(filePath: "\(file.path).job") }
    private var partURL: URL { URL(filePath: "\(file.path).download") }

    /// Keeps the state of the job beside the package, for a later process.
    private func keep(_ job: Job, _ change: (inout Stage) -> Void) throws {
        stage.withLock { change(&$0) }
        try job.toJSON().write(to: noteURL, options: .atomic)
    }

    /// Removes what lies beside the package.
    func discard() { for url in [noteURL, partURL] { try? FileManager.default.removeItem(at: url) } }

    // MARK: Work

    private var client: TileExportClient { TileExportClient(root: serviceURL, client: environment.client) }

    /// What the job's service says of its work.
    func word() async throws -> String? {
        guard let url = stage.withLock({ $0.jobURL }) else { return nil }
        return try await client.status(at: url).word
    }

    /// - Parameters:
    ///   - form: what is wanted of the service.
    ///   - job: the job whose progress and messages this work sets.
    func run(_ form: [(name: String, value: String)], for job: Job) async throws {
        guard !FileManager.default.fileExists(atPath: file.path) else {
            // The file is whole when it is there: a job that was killed at its very end has done its work.
            if FileManager.default.fileExists(atPath: noteURL.path) { return discard() }
            throw CommonError.illegalState(details: "There is a file \(file.lastPathComponent) already.")
        }
        let address = try await begin(form, job)
        job.advance(to: 5)
        let source = try await wait(address, job)
        job.advance(to: 30)
        job.tell("Downloading the tiles.")
        defer { arrival.withLock { $0 = nil } }
        try await environment.downloads.download(source, to: partURL) { [self] there, whole in
            guard let whole, whole > 0 else { return }
            arrival.withLock { $0 = GenerateGeodatabaseJob.Arrival(there: there, whole: whole) }
            job.advance(to: 30 + Int(Double(there) / Double(whole) * 68))
        }
        do {
            // The server may have sent something else: only a file that opens as a package is kept.
            try TileFile(FileSection(partURL), isVector: isVector).open()
        } catch {
            discard()
            throw error
        }
        guard rename(partURL.path, file.path) == 0 else {
            throw CommonError.io(details: "The file \(file.lastPathComponent) could not be put in its place.")
        }
        discard()
        job.tell("The tiles are on this device.")
    }

    private func begin(_ form: [(name: String, value: String)], _ job: Job) async throws -> URL {
        if let url = stage.withLock({ $0.jobURL }) { return url }
        job.tell("Asking the service for the tiles.")
        let url = try await client.begin(.exportTiles, form, id: id)
        try keep(job) { $0.jobURL = url }
        return url
    }

    private func wait(_ address: URL, _ job: Job) async throws -> URL {
        if let url = stage.withLock({ $0.fileURL }) { return url }
        try await JobPolling.wait {
            let status = try await client.status(at: address)
            job.tell(status.word, source: .service)
            return status.isFinished ? true : nil
        }
        let url = try await client.file(of: address)
        try keep(job) { $0.fileURL = url }
        return url
    }
}
