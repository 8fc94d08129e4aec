import Foundation
import Synchronization
import Testing

/// Clients of several servers that edit, upload in stretches and have replicas made, each request at a server by chance; and
/// what must have become of it.
struct EditingLoad: Sendable {
    let servers: ServerGroup
    let book = Book()
    let uploads = UploadBook()
    let jobs = JobBook()

    /// Lets the clients work until the body ends; then each completes what it has begun.
    func run(during body: () async -> Void) async {
        let end = End()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask { await end.repeating { await send(await book.next()) } }
                group.addTask { await end.repeating { await uploads.uploadOne(to: servers) } }
                group.addTask { await end.repeating { await jobs.doOne(on: servers) } }
            }
            await body()
            end.isReached.withLock { $0 = true }
        }
        while let request = await book.unanswered() { await send(request) }
    }

    private final class End: Sendable {
        let isReached = Mutex(false)

        func repeating(_ step: @Sendable () async -> Void) async {
            while !isReached.withLock({ $0 }) { await step() }
        }
    }

    private func send(_ request: EditLedger.Request) async {
        do {
            let answer = try await PlainRequest.post(
                "\(await servers.any)/Crash/FeatureServer/0/applyEdits",
                [("f", "json"), ("useGlobalIds", "true"), ("rollbackOnFailure", "true")] + request.form)
            await book.record(request, EditLedger.Answer(answer))
        } catch is PlainRequest.Busy {
            await book.postpone(request)
            try? await Task.sleep(for: .milliseconds(10))
        } catch {
            await book.lose(request)
        }
    }

    /// Records what is wrong in the end, and looks whether there was enough to go wrong.
    func check(atLeast edits: Int) async throws {
        let root = await servers.any
        for problem in await book.close(with: try await CrashService.features(root)) { Issue.record("\(problem)") }
        for problem in await uploads.problems(try await CrashService.attachments(root)) { Issue.record("\(problem)") }
        for problem in await jobs.problems(try await CrashService.replicas(root)) { Issue.record("\(problem)") }
        // A test in which nothing was acknowledged would prove nothing.
        let ledger = await book.ledger
        #expect(ledger.acknowledged > edits && ledger.sentAgain == ledger.lost)
        #expect(await uploads.done > 0)
        #expect(await jobs.done > 0)
    }

    var summary: String {
        get async {
            let ledger = await book.ledger
            return """
                \(ledger.acknowledged) edits acknowledged, \(ledger.lost) without an answer of which \(ledger.receipts) had been \
                done, \(ledger.timesBusy) told to come again; \(await uploads.summary); \(await jobs.summary)
                """
        }
    }
}
