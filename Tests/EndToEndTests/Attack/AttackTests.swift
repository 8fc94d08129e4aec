import Foundation
import Testing

/// A server that is attacked from outside, on both stores. `make attack` runs the whole forms.
@Suite("Attack", .serialized)
struct AttackTests {
    private static let requests = AttackForm.isFull ? 200_000 : 2_000
    /// Everything that is loaded once has been loaded by then.
    private static let warmUp = requests / 10

    /// What a row of requests came to.
    private struct Tally: Sendable {
        var slowest = (seconds: 0.0, line: "")
        var overASecond = 0
        var refused = 0
        var failures: [String] = []

        /// - Parameter isRefused: by a limit, which may take its time.
        mutating func add(_ seconds: Double, _ line: String, isRefused: Bool) {
            if seconds > 1, !isRefused { overASecond += 1 }
            if seconds > slowest.seconds { slowest = (seconds, line) }
        }
    }

    @Test(
        "No generated request of any operation fails the server, ends it, or leaves memory behind",
        arguments: ServiceHome.Kind.installed)
    func generated(_ kind: ServiceHome.Kind) async throws {
        let folder = try TemporaryFolder()
        let home = try await ServiceHome(kind, in: folder.url)
        let target = try await AttackTarget.start(home, in: folder.url)
        let start = ContinuousClock.now
        let first = AttackForm.onlyRequest ?? 0
        let last = AttackForm.onlyRequest.map { $0 + 1 } ?? Self.requests
        let middle = max(first, min(last, Self.warmUp))
        let warm = await Self.send(first..<middle, to: target)
        // What large requests leave is given back some seconds after them.
        let rests = Duration.seconds(AttackForm.isFull ? 15 : 0)
        try await Task.sleep(for: rests)
        let before = try target.memory().now
        let rest = await Self.send(middle..<last, to: target)
        let busy = try target.memory().now
        try await Task.sleep(for: rests)
        let after = try target.memory()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let slowest = warm.slowest.seconds > rest.slowest.seconds ? warm.slowest : rest.slowest
        let longest = String(format: "%.2f", slowest.seconds)
        print(
            """
            Attack, \(kind): \(last - first) generated requests in \(Int(seconds)) s, \(warm.refused + rest.refused) refused; slowest \
            \(longest) s, \(warm.overASecond + rest.overASecond) over 1 s; \
            memory \(before) MB after the warm-up, \(busy) MB with the last request, \(after.now) MB at the end, \(after.peak) MB at most
              slowest: \(slowest.line.prefix(300))
            """)
        for failure in (warm.failures + rest.failures).prefix(20) { Issue.record("\(failure)") }
        #expect(target.process.isRunning)
        if AttackForm.isFull, AttackForm.onlyRequest == nil {
            #expect(after.now <= before + before / 10, "memory grew")
            #expect(warm.overASecond + rest.overASecond == 0, "requests were answered after more than a second")
        }
        #expect(await target.process.interrupt() == 0)
        try await home.expectSound()
    }

    /// One after the other: a failure names its request.
    private static func send(_ numbers: Range<Int>, to target: AttackTarget) async -> Tally {
        let port = target.port
        return await AttackTarget.onThread {
            let requests = GeneratedRequests(seed: AttackForm.seed, port: port)
            var tally = Tally()
            var line = AttackLine(port: port)
            for number in numbers {
                let request = requests.request(number)
                let start = ContinuousClock.now
                var isRefused = false
                do {
                    let answer = try line.answer(to: request.bytes)
                    // One client that asks one thing at a time never finds the server too busy.
                    if answer.status >= 500 || [500, 503, 504].contains(answer.errorCode) {
                        tally.failures.append(
                            Self.text(number, request.line, "status \(answer.status) \(answer.text.prefix(300))"))
                    }
                    isRefused = answer.status >= 400 || answer.errorCode != nil
                    if isRefused { tally.refused += 1 }
                } catch {
                    tally.failures.append(Self.text(number, request.line, "\(error)"))
                    // A server that is gone answers none of the others.
                    if tally.failures.count > 50 { return tally }
                }
                tally.add(
                    (ContinuousClock.now - start) / .seconds(1), "request \(number): \(request.line)",
                    isRefused: isRefused)
            }
            return tally
        }
    }

    private static func text(_ number: Int, _ line: String, _ what: String) -> String {
        """
        FIELDWORK_ATTACK_SEED=\(AttackForm.seed) FIELDWORK_ATTACK_REQUEST=\(number) of \(requests): \(what)
          \(line.prefix(700))
        """
    }
}
