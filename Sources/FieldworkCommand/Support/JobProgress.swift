import Fieldwork
import Foundation

/// Runs a job to its end with a bar that shows how far it is.
enum JobProgress {
    /// - Parameter done: what is said when it succeeded, and only then.
    static func run<J: JobProtocol>(_ job: J, title: String, done: String) async throws -> J.Output {
        job.start()
        let watching = Task {
            var bar = ProgressBar(title, total: 100)
            while !Task.isCancelled {
                bar.advance(to: Int(job.progress.completedUnitCount))
                try? await Task.sleep(for: .milliseconds(100))
            }
            bar.breakOff()
        }
        do {
            let output = try await job.output
            watching.cancel()
            await watching.value
            Terminal.error(done)
            return output
        } catch {
            // What was done stays done: the same command goes on from there.
            job.pause()
            watching.cancel()
            await watching.value
            throw CommandFailure(error)
        }
    }
}
