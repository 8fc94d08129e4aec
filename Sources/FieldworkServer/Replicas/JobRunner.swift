import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Logging

/// Does the jobs, one after the other for each service, and begins anew those that a stopped server left unfinished.
actor JobRunner {
    /// Does the work of a job: gives the name of its result and what the status says besides.
    typealias Work = @Sendable (ServiceJob) async throws -> (result: String?, members: JSONObject)

    private let folder: WorkFolder
    private let work: Work
    private let logger: Logger
    private var running: [UUID: Task<Void, Never>] = [:]
    private var last: [ServiceName: Task<Void, Never>] = [:]
    private var isStopped = false

    init(folder: WorkFolder, logger: Logger, work: @escaping Work) {
        self.folder = folder
        self.logger = logger
        self.work = work
    }

    /// Keeps a job and starts it. One that is known already goes on, or stays finished.
    func submit(_ job: ServiceJob) throws {
        if folder.job(job.id) != nil { return }
        guard running.count < Limits.jobsAtOnce else {
            throw ServiceError(code: 503, message: "The service has too many jobs. Try again.")
        }
        try folder.keep(job)
        start(job)
    }

    nonisolated func job(_ id: UUID) -> ServiceJob? { folder.job(id) }

    /// Begins what was not finished, and clears away what is too old.
    func resume() {
        folder.sweep(before: Date.now.addingTimeInterval(-Limits.resultLifetimeSeconds))
        for job in folder.allJobs().sorted(by: { $0.submitted < $1.submitted }) where !job.status.isFinal { start(job) }
    }

    private func start(_ job: ServiceJob) {
        guard running[job.id] == nil, !isStopped else { return }
        let previous = last[job.service]
        let task = Task {
            await previous?.value
            await self.run(job)
            self.ended(job)
        }
        running[job.id] = task
        last[job.service] = task
    }

    private func ended(_ job: ServiceJob) { running[job.id] = nil }

    private func run(_ known: ServiceJob) async {
        guard !isStopped, !Task.isCancelled else { return }
        var job = known
        job.status = .inProgress
        keep(&job)
        do {
            (job.result, job.members) = try await work(job)
            job.status = .completed
        } catch {
            // A server that stops leaves its jobs to the next one.
            if isStopped || error is CancellationError || (error as? StoreError)?.code == .closed { return }
            job.status = .failed
            job.error =
                error as? ServiceError ?? (error as? StoreError).flatMap { ServiceError($0) } ?? .internalFailure
            logger.error("A job failed", metadata: ["operation": "\(job.operation)", "error": "\(error)"])
        }
        keep(&job)
    }

    private func keep(_ job: inout ServiceJob) {
        job.updated = Date.now
        do {
            try folder.keep(job)
        } catch {
            logger.error("A job could not be kept", metadata: ["error": "\(error)"])
        }
    }

    /// Waits for the job that is under way; the others stay for the next start.
    func stop() async {
        isStopped = true
        for task in running.values { await task.value }
    }
}
