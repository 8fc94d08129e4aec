import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Jobs and results in the database of a store. A job belongs to the process that does it, for as long as that says again
/// and again that it lives; then another takes it over.
struct DatabaseWork: WorkKeeper {
    let work: SharedWork
    /// For what is being made on this machine.
    let local: WorkFolder
    /// How long a process may be silent.
    let lease: Duration
    /// Names this process among those of the database.
    private let owner = UUID().uuidString

    init(work: SharedWork, local: WorkFolder, lease: Duration) {
        self.work = work
        self.local = local
        self.lease = lease
    }

    /// So often that a hiccup or two do no harm.
    var watchInterval: Duration? { lease / 5 }
    var repeatsInterrupted: Bool { true }
    private var leaseSeconds: Double { lease / .seconds(1) }

    // MARK: Jobs

    func submit(_ job: ServiceJob) async throws -> Bool {
        guard try await work.openJobCount() < Limits.jobsAtOnce else { throw JobRunner.tooMany }
        return try await work.keepJob(
            job.id.uuidString, request: job.storageJSON.text, owner: owner, seconds: leaseSeconds)
    }

    func job(_ id: UUID) async throws -> ServiceJob? { try await work.job(id.uuidString).flatMap(Self.job) }

    func parameters(of id: UUID) async throws -> [(name: String, value: String)] {
        guard let request = try await work.jobRequest(id.uuidString).flatMap(Self.job) else {
            throw StoreError(.failure, "The request of the job \(id) can't be read.")
        }
        return request.parameters
    }

    private static func job(_ text: String) -> ServiceJob? {
        (try? JSONParser.parse(Array(text.utf8))).flatMap(ServiceJob.init(storageJSON:))
    }

    /// The request stays as it was written.
    func change(_ job: ServiceJob) async throws -> Bool {
        var state = job
        state.parameters = []
        return try await work.changeJob(
            job.id.uuidString, state: state.storageJSON.text, isFinal: job.status.isFinal, owner: owner)
    }

    func claim(_ limit: Int) async throws -> [LeftJob] {
        guard limit > 0 else { return [] }
        return try await work.claimJobs(for: owner, seconds: leaseSeconds, limit: limit).compactMap { claimed in
            Self.job(claimed.request).map { LeftJob(job: $0, attempts: claimed.attempts) }
        }.sorted { $0.job.submitted < $1.job.submitted }
    }

    func renew(_ ids: [UUID]) async throws {
        guard !ids.isEmpty else { return }
        try await work.renewJobs(ids.map(\.uuidString), of: owner, seconds: leaseSeconds)
    }

    func uncount(_ ids: [UUID]) async throws {
        try await work.uncountJobs(ids.map(\.uuidString), youngerThan: Limits.jobTroubleSeconds)
    }

    func release() async throws { try await work.releaseJobs(of: owner) }

    // MARK: Results

    /// Each has a name of its own: a client that is in the midst of one never goes on in another that was made later.
    func makeResult<Outcome: Sendable>(
        _ id: UUID, _ body: (_ write: @escaping @Sendable ([UInt8]) throws -> Void) async throws -> Outcome
    ) async throws -> (name: String, outcome: Outcome) {
        try await handOver(try await local.makeResult(UUID(), body))
    }

    func makeShared(
        _ id: UUID, _ body: (_ write: @escaping @Sendable ([UInt8]) throws -> Void) async throws -> Void
    ) async throws {
        let made = try await local.makeResult(UUID(), body)
        try await handOver(made) { try await work.keepFirstResult(ResultKind.document.name(id), at: $0) }
    }

    func makeFile<Outcome: Sendable>(
        _ id: UUID, _ kind: ResultKind, _ body: (_ file: URL) async throws -> Outcome
    ) async throws -> (name: String, outcome: Outcome) {
        try await handOver(try await local.makeFile(UUID(), kind, body))
    }

    private func handOver<Outcome: Sendable>(
        _ made: (name: String, outcome: Outcome)
    ) async throws -> (name: String, outcome: Outcome) {
        try await handOver(made) { try await work.keepResult(made.name, at: $0) }
        return made
    }

    /// From this machine to the database.
    private func handOver<Outcome>(
        _ made: (name: String, outcome: Outcome), _ keep: (URL) async throws -> Void
    ) async throws {
        guard let url = local.result(made.name) else {
            throw StoreError(.failure, "A result has gone before it was kept.")
        }
        defer { try? FileManager.default.removeItem(at: url) }
        try await keep(url)
    }

    // MARK: Prepared files

    func makePrepared<Outcome: Sendable>(
        _ id: UUID, _ kind: ResultKind, _ body: (_ file: URL) async throws -> Outcome
    ) async throws -> (name: String, outcome: Outcome) {
        let made = try await local.makeFile(UUID(), kind, body)
        let name = kind.name(id)
        try await handOver(made) { try await work.keepResult(name, at: $0, isPrepared: true) }
        return (name, made.outcome)
    }

    func prepared() async throws -> [UUID] {
        try await work.preparedResults().compactMap {
            $0.split(separator: ".").first.flatMap { UUID(uuidString: String($0)) }
        }
    }

    func releasePrepared(_ id: UUID) async throws {
        for kind in ResultKind.allCases { try await work.releasePrepared(kind.name(id)) }
    }

    func kept(_ name: String) async throws -> KeptResult? {
        guard ResultKind(ofName: name) != nil, let kept = try await work.result(name.lowercased()) else { return nil }
        return KeptResult(size: kept.size) { .stream(work.pieces(of: kept.file, in: $0)) }
    }

    func sweep() async throws {
        try await work.sweepResults(olderThan: Limits.resultLifetimeSeconds)
        try await work.sweepUploads(olderThan: Limits.uploadLifetimeSeconds)
    }
}
