import FieldworkGeometry
public import Foundation
import Synchronization

/// Long work. Its kinds make themselves: `GeodatabaseSyncTask.makeGenerateGeodatabaseJob` and others.
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public class Job: @unchecked Sendable {
    /// How far a job is.
    public enum Status: String, Sendable {
        /// `paused` is also the state of a job that was made from its JSON.
        case notStarted, started, paused, succeeded, failed, canceling
    }

    private typealias Waiter = CheckedContinuation<any Sendable, any Error>

    private struct State {
        var task: Task<Void, Never>?
        /// Counts the starts: an attempt that was paused no longer speaks for the job.
        var attempt = 0
        var messages: [JobMessage] = []
        var outcome: Result<any Sendable, any Error>?
        var waiters: [UUID: Waiter] = [:]
    }

    /// How far the job is.
    @Streamed public private(set) var status: Status
    /// How much of the work is done, in hundredths.
    public let progress = Progress(totalUnitCount: 100)
    private let state = Mutex(State())

    init(isResumed: Bool) { _status = Streamed(wrappedValue: isResumed ? .paused : .notStarted) }

    // MARK: What kinds of jobs say

    /// The work, from wherever it stands. It ends soon after its task is cancelled, and can be begun again.
    func work() async throws -> any Sendable {
        throw CommonError.illegalState(details: "A job without work was started.")
    }

    /// What `Job.fromJSON` needs to go on.
    func snapshot() -> JSONValue { [:] }

    /// The job's id at the service; empty until the service has taken it.
    public var serverJobID: String { "" }

    /// Asks the service once how far it is.
    public func checkStatus() async throws {}

    /// Undoes what a cancelled job has left on this device.
    func discard() async {}

    // MARK: State

    /// What the job has told so far, oldest first.
    public var messages: AnySequence<JobMessage> { AnySequence(state.withLock { $0.messages }) }

    /// Why the job failed; nil while it has not.
    public var error: (any Error)? {
        guard case .failure(let error) = state.withLock({ $0.outcome }) else { return nil }
        return error
    }

    func tell(_ message: String, severity: JobMessage.Severity = .info, source: JobMessage.Source = .client) {
        let message = JobMessage(message, severity: severity, source: source, timestamp: Date.now)
        state.withLock { state in
            // A job of days must not grow without end.
            if state.messages.count >= Limits.jobMessages { state.messages.removeFirst() }
            state.messages.append(message)
        }
    }

    func advance(to hundredths: Int) {
        progress.completedUnitCount = max(progress.completedUnitCount, Int64(min(hundredths, 100)))
    }

    // MARK: Running

    /// Starts the job, or goes on with one that was paused or that failed; returns at once.
    public func start() {
        state.withLock { state in
            guard state.task == nil else { return }
            if case .success = state.outcome { return }
            if case .failure(let error) = state.outcome, error is CancellationError { return }
            state.outcome = nil
            state.attempt += 1
            let attempt = state.attempt
            status = .started
            state.task = Task {
                do {
                    finish(attempt, .success(try await work()))
                } catch {
                    finish(attempt, .failure(error))
                }
            }
        }
    }

    /// Stops the work on this device; what was done stays done, and `start` goes on from there.
    @discardableResult
    public func pause() -> Bool {
        state.withLock { state in
            guard let task = state.task, state.outcome == nil else { return false }
            task.cancel()
            state.task = nil
            state.attempt += 1
            status = .paused
            return true
        }
    }

    /// Ends the job for good. What it has left on this device is removed.
    @discardableResult
    public func cancel() async -> Bool {
        let (task, isNew) = state.withLock { state -> (Task<Void, Never>?, Bool) in
            guard state.outcome == nil else { return (nil, false) }
            status = .canceling
            state.attempt += 1
            defer { state.task = nil }
            state.task?.cancel()
            return (state.task, true)
        }
        guard isNew else { return false }
        await task?.value
        await discard()
        end(.failure(CancellationError()), as: .failed)
        return true
    }

    private func finish(_ attempt: Int, _ outcome: Result<any Sendable, any Error>) {
        let isCurrent = state.withLock { state in
            guard state.attempt == attempt else { return false }
            state.task = nil
            return true
        }
        guard isCurrent else { return }
        switch outcome {
        case .success:
            advance(to: 100)
            end(outcome, as: .succeeded)
        case .failure(let error):
            if !(error is CancellationError) { tell(error.localizedDescription, severity: .error) }
            end(outcome, as: .failed)
        }
    }

    private func end(_ outcome: Result<any Sendable, any Error>, as status: Status) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [:] }
            self.status = status
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: outcome) }
    }

    /// Waits for the end.
    func outcome<Output: Sendable>(as type: Output.Type) async throws -> Output {
        let id = UUID()
        let value = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in
                let outcome = state.withLock { state -> Result<any Sendable, any Error>? in
                    if let outcome = state.outcome { return outcome }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters[id] = waiter
                    return nil
                }
                if let outcome { waiter.resume(with: outcome) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
        guard let output = value as? Output else {
            throw CommonError.illegalState(details: "The job has a result of another kind.")
        }
        return output
    }

    // MARK: JSON

    /// The state of the job, for `fromJSON` in this process or a later one.
    public func toJSON() -> Data { Data(snapshot().text.utf8) }

    /// The job of a state, paused. Throws `CommonError.invalidJSON` for what is no state of a job.
    public static func fromJSON(_ json: Data) throws -> Job? {
        guard let state = try? JSONParser.parse(json), let kind = state["job"]?.stringValue else {
            throw CommonError.invalidJSON(details: "This is no state of a job.")
        }
        switch kind {
        case GenerateGeodatabaseJob.kind: return try GenerateGeodatabaseJob(snapshot: state)
        case SyncGeodatabaseJob.kind: return try SyncGeodatabaseJob(snapshot: state)
        case ExportVectorTilesJob.kind: return try ExportVectorTilesJob(snapshot: state)
        case ExportTileCacheJob.kind: return try ExportTileCacheJob(snapshot: state)
        case GenerateOfflineMapJob.kind: return try GenerateOfflineMapJob(snapshot: state)
        case DownloadPreplannedOfflineMapJob.kind: return try DownloadPreplannedOfflineMapJob(snapshot: state)
        case EstimateTileCacheSizeJob.kind: return try EstimateTileCacheSizeJob(snapshot: state)
        default: throw CommonError.invalidJSON(details: "There is no kind of job named \(kind.prefix(80)).")
        }
    }
}
