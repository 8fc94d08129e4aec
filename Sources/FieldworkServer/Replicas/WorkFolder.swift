import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// The files that are made on behalf of clients: jobs and results. Each appears whole or not at all, and goes when it is
/// too old.
struct WorkFolder: WorkKeeper {
    let url: URL

    private var jobs: URL { url.appending(path: "jobs", directoryHint: .isDirectory) }
    private var results: URL { url.appending(path: "results", directoryHint: .isDirectory) }
    private var preparedFiles: URL { url.appending(path: "prepared", directoryHint: .isDirectory) }

    // It is one process's alone.
    var watchInterval: Duration? { nil }
    var repeatsInterrupted: Bool { false }

    func prepare() throws {
        for folder in [jobs, results, preparedFiles] {
            try StoreError.writing {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            }
        }
    }

    // MARK: Jobs

    private func url(ofJob id: UUID) -> URL { jobs.appending(path: "\(id.uuidString).json") }

    /// The parameters of a job lie in a file of their own: clients ask often how far a job is, and its edits may be large.
    private func url(ofRequest id: UUID) -> URL { jobs.appending(path: "\(id.uuidString).request") }

    /// Has the job on the disk when it returns: first what it needs, then the job.
    func keep(_ job: ServiceJob) throws {
        try prepare()
        if !job.status.isFinal { try write(job.storageJSON, as: url(ofRequest: job.id)) }
        _ = try change(job)
    }

    private func write(_ json: JSONValue, as target: URL) throws {
        let file = try ResultFile(at: jobs.appending(path: ".\(target.lastPathComponent).\(UUID().uuidString)"))
        try file.write(Array(json.text.utf8))
        try file.publish(as: target)
    }

    func job(_ id: UUID) -> ServiceJob? { job(at: url(ofJob: id)) }

    private func job(at url: URL) -> ServiceJob? {
        guard let data = try? Data(contentsOf: url), let json = try? JSONParser.parse(data) else { return nil }
        return ServiceJob(storageJSON: json)
    }

    /// Throws when they can't be read: without its edits a synchronisation would seem to succeed.
    func parameters(of id: UUID) throws -> [(name: String, value: String)] {
        guard let request = job(at: url(ofRequest: id)) else {
            throw StoreError(.failure, "The request of the job \(id) can't be read.")
        }
        return request.parameters
    }

    func submit(_ job: ServiceJob) throws -> Bool {
        guard self.job(job.id) == nil else { return false }
        try keep(job)
        return true
    }

    func change(_ job: ServiceJob) throws -> Bool {
        var state = job
        state.parameters = []
        try write(state.storageJSON, as: url(ofJob: job.id))
        if job.status.isFinal { try? FileManager.default.removeItem(at: url(ofRequest: job.id)) }
        return true
    }

    func claim(_ limit: Int) throws -> [LeftJob] {
        let left = allJobs().filter { !$0.status.isFinal }.sorted { $0.submitted < $1.submitted }.prefix(limit)
        // An older server kept the parameters with the job, where the next change of it would lose them. A job without any is not
        // made whole by that: it fails when they are read.
        for job in left where !job.parameters.isEmpty {
            if !FileManager.default.fileExists(atPath: url(ofRequest: job.id).path) { try keep(job) }
        }
        return left.map { LeftJob(job: $0) }
    }

    func renew(_ ids: [UUID]) {}

    func uncount(_ ids: [UUID]) {}

    func release() {}

    func allJobs() -> [ServiceJob] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: jobs.path)) ?? []
        return names.filter { $0.hasSuffix(".json") }
            .compactMap { UUID(uuidString: String($0.dropLast(5))) }.compactMap(job)
    }

    // MARK: Results

    /// Makes a result: `body` writes it, and it is there when this returns.
    func makeResult<Outcome: Sendable>(
        _ id: UUID, _ body: (_ write: @escaping @Sendable ([UInt8]) throws -> Void) async throws -> Outcome
    ) async throws -> (name: String, outcome: Outcome) {
        try prepare()
        let name = ResultKind.document.name(id)
        let file = try ResultFile(at: results.appending(path: ".\(name).\(UUID().uuidString)"))
        do {
            let outcome = try await body { try file.write($0) }
            try file.publish(as: results.appending(path: name))
            return (name, outcome)
        } catch {
            file.discard()
            throw error
        }
    }

    /// There is no other process.
    func makeShared(
        _ id: UUID, _ body: (_ write: @escaping @Sendable ([UInt8]) throws -> Void) async throws -> Void
    ) async throws {
        _ = try await makeResult(id, body)
    }

    /// Makes a file of a kind: `body` makes it under a name that nobody knows, and it is there when this returns.
    func makeFile<Outcome: Sendable>(
        _ id: UUID, _ kind: ResultKind, _ body: (_ file: URL) async throws -> Outcome
    ) async throws -> (name: String, outcome: Outcome) {
        try await makeFile(id, kind, in: results, body)
    }

    private func makeFile<Outcome: Sendable>(
        _ id: UUID, _ kind: ResultKind, in folder: URL, _ body: (_ file: URL) async throws -> Outcome
    ) async throws -> (name: String, outcome: Outcome) {
        try prepare()
        let name = kind.name(id)
        // What a server that was killed leaves is swept with the results.
        let temporary = results.appending(path: ".\(name).\(UUID().uuidString)")
        do {
            let outcome = try await body(temporary)
            try ResultFile(completed: temporary).publish(as: folder.appending(path: name))
            return (name, outcome)
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            throw error
        }
    }

    /// The file of a result; nil when there is none (any more).
    func result(_ name: String) -> URL? {
        guard ResultKind(ofName: name) != nil else { return nil }
        return [results, preparedFiles].map { $0.appending(path: name.lowercased()) }
            .first { FileManager.default.fileExists(atPath: $0.path) }
    }

    func kept(_ name: String) throws -> KeptResult? { try result(name).map(KeptResult.init(file:)) }

    // MARK: Prepared files

    func makePrepared<Outcome: Sendable>(
        _ id: UUID, _ kind: ResultKind, _ body: (_ file: URL) async throws -> Outcome
    ) async throws -> (name: String, outcome: Outcome) {
        try await makeFile(id, kind, in: preparedFiles, body)
    }

    private var preparedNames: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: preparedFiles.path)) ?? [])
            .filter { ResultKind(ofName: $0) != nil }
    }

    func prepared() -> [UUID] {
        preparedNames.compactMap { $0.split(separator: ".").first.flatMap { UUID(uuidString: String($0)) } }
    }

    func releasePrepared(_ id: UUID) throws {
        for name in preparedNames where name.hasPrefix("\(id.uuidString.lowercased()).") {
            let file = preparedFiles.appending(path: name)
            // From now on it ages.
            try FileManager.default.setAttributes([.modificationDate: Date.now], ofItemAtPath: file.path)
            guard rename(file.path, results.appending(path: name).path) == 0 else {
                throw StoreError(.failure, "The prepared file \(name) could not be released.")
            }
        }
    }

    func sweep() { sweep(before: Date.now.addingTimeInterval(-Limits.resultLifetimeSeconds)) }

    /// Removes what is older than a moment; what is being worked on stays.
    func sweep(before moment: Date) {
        for job in allJobs() where job.status.isFinal && job.updated < moment {
            for url in [url(ofJob: job.id), url(ofRequest: job.id)] { try? FileManager.default.removeItem(at: url) }
        }
        let keys: Set<URLResourceKey> = [.contentModificationDateKey]
        func files(_ folder: URL) -> [URL] {
            (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: Array(keys))) ?? []
        }
        // A server that was killed between the two files of a job leaves the first one.
        let requests = files(jobs).filter { file in
            let id = UUID(uuidString: file.deletingPathExtension().lastPathComponent)
            return file.pathExtension == "request" && id.flatMap(job) == nil
        }
        for file in files(results) + requests {
            let modified = try? file.resourceValues(forKeys: keys).contentModificationDate
            if let modified, modified < moment { try? FileManager.default.removeItem(at: file) }
        }
    }
}
