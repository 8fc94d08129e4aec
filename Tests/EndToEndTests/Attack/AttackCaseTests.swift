import Foundation
import Testing

/// Requests that once took a server's time or memory, each within what it may take.
@Suite("Attack by name", .serialized)
struct AttackCaseTests {
    /// What one request may add to the process.
    private static let megabytes = 512
    /// What one request may compute, in seconds. Only the whole form decides by times: beside other tests they say nothing.
    private static let seconds = 10.0
    /// How long another client's reads and edits may take meanwhile, in milliseconds: one of twenty may meet a hiccup of the machine.
    private static let (readMilliseconds, editMilliseconds) = (100, 500)
    static let kinds: [ServiceHome.Kind] = AttackForm.isFull ? ServiceHome.Kind.installed : [.folder]

    @Test("What took a server's time or memory is answered or refused within bounds", arguments: kinds)
    func named(_ kind: ServiceHome.Kind) async throws {
        let folder = try TemporaryFolder()
        let home = try await ServiceHome(kind, in: folder.url)
        let target = try await AttackTarget.start(home, in: folder.url)
        for one in AttackCase.all { try await Self.check(one, target, kind) }
        #expect(await target.process.interrupt() == 0)
    }

    @Test(
        "While fourteen clients ask for the worst, another one reads a feature and edits one",
        .enabled(if: AttackForm.isFull, "It loads the whole machine: make attack"), arguments: kinds)
    func crowd(_ kind: ServiceHome.Kind) async throws {
        let folder = try TemporaryFolder()
        let home = try await ServiceHome(kind, in: folder.url)
        let target = try await AttackTarget.start(home, in: folder.url)
        let worst = try AttackCase.all.prefix(14).map { try Self.request($0, target) }
        let port = target.port
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<14 {
                group.addTask {
                    await AttackTarget.onThread {
                        var line = AttackLine(port: port)
                        for round in 0..<3 { _ = try? line.answer(to: worst[(number + round) % worst.count]) }
                    }
                }
            }
            let read = try await Self.times("Crews/FeatureServer/0/query", "objectIds=1&f=json", target)
            let edit = try await Self.times(
                "Crews/FeatureServer/0/updateFeatures",
                "f=json&features=[{\"attributes\":{\"OBJECTID\":1,\"counter\":5}}]", target)
            print(
                "Attack, \(kind), fourteen of the worst at once: a read \(Self.text(read)), an edit \(Self.text(edit))")
            #expect(read[18] <= Self.readMilliseconds, "a read took \(read[18]) ms")
            #expect(edit[18] <= Self.editMilliseconds, "an edit took \(edit[18]) ms")
            try await group.waitForAll()
        }
        #expect(target.process.isRunning)
        #expect(await target.process.interrupt() == 0)
    }

    @Test(
        "What is asked by a client that leaves costs nothing a second later",
        .enabled(if: AttackForm.isFull, "It measures what a process computes: make attack"), arguments: kinds)
    func departure(_ kind: ServiceHome.Kind) async throws {
        let folder = try TemporaryFolder()
        let home = try await ServiceHome(kind, in: folder.url)
        let target = try await AttackTarget.start(home, in: folder.url)
        for one in AttackCase.all {
            let bytes = try Self.request(one, target)
            do {
                let socket = try AttackSocket(port: target.port)
                try? socket.write(bytes)
                try await Task.sleep(for: .milliseconds(300))
            }
            try await Task.sleep(for: .seconds(1))
            let before = try target.computed()
            try await Task.sleep(for: .seconds(1))
            let rest = try target.computed() - before
            print(
                "Attack, \(kind), \(one.name): \(Int(rest * 1_000)) ms computed in the second after its client had left for one"
            )
            #expect(rest < 0.2, "\(one.name) went on without its client")
        }
        #expect(await target.process.interrupt() == 0)
    }

    private static func text(_ times: [Int]) -> String { "\(times[10]) ms, \(times[18]) ms, \(times[19]) ms at most" }

    /// How long twenty requests of another client take each, in milliseconds, the shortest first.
    private static func times(_ path: String, _ body: String, _ target: AttackTarget) async throws -> [Int] {
        let head = "POST /arcgis/rest/services/\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(target.port)\r\n"
        let bytes = Array(
            "\(head)Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                .utf8)
        let port = target.port
        let times = await AttackTarget.onThread { () -> [Int] in
            var line = AttackLine(port: port, from: 2)
            return (0..<20).compactMap { _ -> Int? in
                Thread.sleep(forTimeInterval: 0.1)
                let start = ContinuousClock.now
                guard let answer = try? line.answer(to: bytes), answer.errorCode == nil else { return nil }
                return Int((ContinuousClock.now - start) / .milliseconds(1))
            }
        }
        try #require(times.count == 20, "\(path) was answered \(times.count) times of 20")
        return times.sorted()
    }

    private static func check(_ one: AttackCase, _ target: AttackTarget, _ kind: ServiceHome.Kind) async throws {
        let bytes = try request(one, target)
        let before = try target.memory().now
        target.forgetPeak()
        let computed = try target.computed()
        let start = ContinuousClock.now
        let result = await answer(to: bytes, target)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        guard target.process.isRunning else {
            let errors = try target.process.errors().suffix(500)
            throw FieldworkProcess.Failure(description: "\(one.name): the server is gone. \(errors)")
        }
        let core = try target.computed() - computed
        let grown = try target.memory().peak - before
        switch result {
        case .success(let answer):
            let error = answer.errorCode.map { ", error \($0): \(answer.text.prefix(200))" } ?? ""
            print(
                "Attack, \(kind), \(one.name): \(Int(seconds * 1_000)) ms, \(Int(core * 1_000)) ms computed, \(grown) MB, status \(answer.status)\(error)"
            )
            #expect(
                answer.status < 500 && answer.errorCode != 500,
                "\(one.name): \(answer.status) \(answer.text.prefix(300))")
        case .failure(let error): Issue.record("\(one.name): \(error)")
        }
        #expect(grown <= megabytes, "\(one.name) took \(grown) MB")
        if AttackForm.isFull { #expect(core <= Self.seconds, "\(one.name) computed for \(core) s") }
    }

    private static func request(_ one: AttackCase, _ target: AttackTarget) throws -> [UInt8] {
        let body = try one.body()
        let head =
            "POST /arcgis/rest/services/\(one.path) HTTP/1.1\r\nHost: 127.0.0.1:\(target.port)\r\n\(one.headers)"
            + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.count)\r\n\r\n"
        return Array(head.utf8) + body
    }

    private static func answer(
        to bytes: [UInt8], _ target: AttackTarget
    ) async -> Result<AttackSocket.Answer, any Error> {
        let port = target.port
        return await AttackTarget.onThread {
            Result {
                let socket = try AttackSocket(port: port)
                // A server that refuses a body need not read it to its end.
                try? socket.write(bytes)
                return try socket.answer()
            }
        }
    }
}
