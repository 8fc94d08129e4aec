public import Foundation

/// Long work with a result: it can be watched, paused, cancelled, and continued by another process from its JSON.
public protocol JobProtocol: AnyObject, Sendable {
    /// What the job gives when it has succeeded.
    associatedtype Output: Sendable

    /// How far it is.
    var status: Job.Status { get }
    /// How much of the work is done.
    var progress: Progress { get }
    /// What it has told so far, oldest first.
    var messages: AnySequence<JobMessage> { get }
    /// Why it failed; nil while it has not.
    var error: (any Error)? { get }
    /// The job's id at the service; empty until the service has taken it.
    var serverJobID: String { get }
    /// Waits for the end. Throws the job's error, or `CancellationError` when the job or the waiting task was cancelled.
    var output: Output { get async throws }
    /// Like `output`, without throwing.
    var result: Result<Output, any Error> { get async }

    /// Starts or goes on; returns at once.
    func start()
    /// Stops the work on this device; the job can be started again. False when it was not running.
    @discardableResult func pause() -> Bool
    /// Ends the job; `output` then throws `CancellationError`. False when it had ended before.
    @discardableResult func cancel() async -> Bool
    /// Asks the service once how far it is.
    func checkStatus() async throws
    /// The state, for `Job.fromJSON`.
    func toJSON() -> Data
}

extension JobProtocol {
    /// Like `output`, without throwing.
    public var result: Result<Output, any Error> {
        get async {
            do { return .success(try await output) } catch { return .failure(error) }
        }
    }
}
