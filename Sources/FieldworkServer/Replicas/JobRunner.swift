import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Logging

/// Does the jobs, one after the other for each service, and begins anew those that a stopped server left unfinished: an
/// earlier run of this one, or another process of the same database.
actor JobRunner {
    /// Does the work of a job: gives the name of its result and what the status says besides.
    typealias Work = @Sendable (ServiceJob) async throws -> (result: String?, members: JSONObject)

    static let tooMany = ServiceError(code: 503, message: "The service has too many jobs. Try again.")
    private static let neverEnds = ServiceError(
        code: 500, message: "The job was begun \(Limits.jobAttempts) times and never came to an end.")

    private let keeper: any WorkKeeper
    private let work: Work
    /// Undoes what a job has begun that is given up.
    private let abandon: @Sendable (ServiceJob) async -> Void
    private let logger: Logger
    private var running: [UUID: Task<Void, Never>] = [:]
    private var last: [ServiceName: Task<Void, Never>] = [:]
    /// What the jobs that clients have submitted here hold on the disk, and whose they are.
    private var load = JobLoad()
    /// Those whose last beginning is not to be counted, and of which the store has not been told: trouble with it broke them off,
    /// or their lease ran out while they were done here.
    private var brokenOff: Set<UUID> = []
    private var isStopped = false

    init(
        keeper: any WorkKeeper, logger: Logger, abandon: @escaping @Sendable (ServiceJob) async -> Void = { _ in },
        work: @escaping Work
    ) {
        self.keeper = keeper
        self.logger = logger
        self.abandon = abandon
        self.work = work
    }

    /// Keeps a job and starts it. One that is known already goes on, or stays finished.
    func submit(_ job: ServiceJob) async throws {
        if try await keeper.job(job.id) != nil { return }
        guard running.count < Limits.jobsAtOnce, load.begin(job) else { throw Self.tooMany }
        do {
            guard try await keeper.submit(job) else { return load.end(job.id) }
        } catch {
            load.end(job.id)
            throw error
        }
        start(job)
        // A server that stops leaves it to the next one.
        if running[job.id] == nil { load.end(job.id) }
    }

    nonisolated func job(_ id: UUID) async throws -> ServiceJob? { try await keeper.job(id) }

    /// Jobs that are done in this process, or wait for their turn.
    var runningCount: Int { running.count }

    /// Whether nothing is under way in this process.
    var isIdle: Bool { running.isEmpty }

    /// Begins what was not finished, and clears away what is too old.
    func resume() async {
        await attempt("Old results could not be removed") { try await $0.sweep() }
        await takeOver()
    }

    /// Keeps the jobs of this process its own and takes over those of others that are gone, until its task is cancelled.
    func watch() async {
        guard let interval = keeper.watchInterval else { return }
        var swept = ContinuousClock.now
        while (try? await Task.sleep(for: interval)) != nil {
            let ids = Array(running.keys)
            await attempt("Jobs could not be said to go on") { try await $0.renew(ids) }
            await uncountBrokenOff()
            await takeOver()
            if swept.duration(to: .now) > .seconds(Limits.workSweepSeconds) {
                swept = .now
                await attempt("Old results could not be removed") { try await $0.sweep() }
            }
        }
    }

    private func takeOver() async {
        guard !isStopped else { return }
        // What one process takes, the others can't: each takes a few at a time.
        let limit = keeper.watchInterval == nil ? Limits.jobsAtOnce : Limits.jobsTakenOver - running.count
        var left: [LeftJob] = []
        await attempt("Jobs could not be looked for") { left = try await $0.claim(limit) }
        for found in left {
            if running[found.job.id] != nil {
                // Its lease ran out while it is done here, on a busy machine: that is no new beginning, and no reason to give it up.
                brokenOff.insert(found.job.id)
            } else if found.attempts > Limits.jobAttempts {
                await giveUp(found.job)
            } else {
                start(found.job)
            }
        }
    }

    private func uncountBrokenOff() async {
        guard !brokenOff.isEmpty else { return }
        let ids = brokenOff
        await attempt("Jobs could not be left") {
            try await $0.uncount(Array(ids))
            brokenOff.subtract(ids)
        }
    }

    /// The database is away at times: the next look finds it.
    private func attempt(_ failure: String, _ body: (any WorkKeeper) async throws -> Void) async {
        do {
            try await body(keeper)
        } catch {
            logger.warning("\(failure)", metadata: ["error": "\(error)"])
        }
    }

    private func start(_ job: ServiceJob) {
        guard running[job.id] == nil, !isStopped else { return }
        // The parameters are read again when it begins: those of all that wait would be too much to hold.
        var job = job
        job.parameters = []
        let previous = last[job.service]
        let task = Task { [job] in
            await previous?.value
            await self.run(job)
            self.ended(job)
        }
        running[job.id] = task
        last[job.service] = task
    }

    private func ended(_ job: ServiceJob) {
        running[job.id] = nil
        load.end(job.id)
    }

    private func run(_ known: ServiceJob) async {
        guard !isStopped, !Task.isCancelled else { return }
        var job = known
        job.status = .inProgress
        // Whoever has it now tells what becomes of it.
        guard await keep(&job) else { return }
        do {
            var order = job
            order.parameters = try await keeper.parameters(of: job.id)
            (job.result, job.members) = try await work(order)
            job.status = .completed
        } catch {
            if isLeft(job, after: error) { return }
            job.status = .failed
            job.error =
                error as? ServiceError ?? (error as? AllowanceError).map { ServiceError(limit: $0) }
                ?? (error as? StoreError).flatMap { ServiceError($0) } ?? .internalFailure
            logger.error("A job failed", metadata: ["operation": "\(job.operation)", "error": "\(error)"])
        }
        await keep(&job)
    }

    /// A server that stops leaves its jobs to the next one, and one that has lost the database to whoever finds it again.
    private func isLeft(_ job: ServiceJob, after error: any Error) -> Bool {
        if isStopped || error is CancellationError { return true }
        guard let error = error as? StoreError else { return false }
        if error.code == .closed { return true }
        guard [.busy, .inDoubt].contains(error.code), keeper.repeatsInterrupted else { return false }
        brokenOff.insert(job.id)
        return true
    }

    private func giveUp(_ known: ServiceJob) async {
        var job = known
        job.status = .failed
        job.error = Self.neverEnds
        logger.error("A job is given up", metadata: ["operation": "\(job.operation)"])
        if await keep(&job) { await abandon(job) }
    }

    /// - Returns: whether the job is this process's still.
    @discardableResult
    private func keep(_ job: inout ServiceJob) async -> Bool {
        job.updated = Date.now
        do {
            return try await keeper.change(job)
        } catch {
            logger.error("A job could not be kept", metadata: ["error": "\(error)"])
            // In a folder it is nobody else's; in a database its time runs out.
            guard keeper.repeatsInterrupted else { return true }
            brokenOff.insert(job.id)
            return false
        }
    }

    /// Waits for the job that is under way; the others stay for the next start, or for other processes.
    func stop() async {
        isStopped = true
        for task in running.values { await task.value }
        await attempt("Jobs could not be left to others") { try await $0.release() }
    }
}
