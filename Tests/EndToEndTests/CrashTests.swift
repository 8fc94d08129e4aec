import Foundation
import Testing

/// Kills the server in mid-edit, again and again, and looks whether it kept its word.
@Suite("Crash", .serialized)
struct CrashTests {
    /// `FIELDWORK_CRASH_ROUNDS` sets how often; the full proof is 200.
    private static let rounds = ProcessInfo.processInfo.environment["FIELDWORK_CRASH_ROUNDS"].flatMap(Int.init)

    @Test("Every acknowledged edit survives SIGKILL, none is there twice", arguments: ServiceHome.Kind.installed)
    func survivesKills(_ kind: ServiceHome.Kind) async throws {
        let rounds = Self.rounds ?? (kind == .folder ? 8 : 4)
        let folder = try TemporaryFolder()
        let home = try await ServiceHome(kind, in: folder.url)
        let csv = folder.url.appending(path: "seed.csv")
        try Data("x,y,name,counter\n1,1,first,0\n".utf8).write(to: csv)
        let published = try await FieldworkProcess.run(
            [
                "publish", csv.path, "--service", "Crash", "--x", "x", "--y", "y", "--wkid", "4326",
            ] + home.arguments)
        try #require(published.status == 0, "\(published.errors)")

        let book = Book()
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<rounds {
            let server = try await home.serve()
            try await Self.compare(book, with: server)
            let delay = Int.random(in: 10...300, using: &generator)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask { await Self.edit(server, book) }
                }
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(delay))
                    await server.kill()
                }
            }
            try await home.settle()
        }
        let server = try await home.serve()
        try await Self.compare(book, with: server)
        // The last requests without an answer are sent again too, before the books are closed.
        while let request = await book.unanswered() { await Self.send(request, server, book) }
        try await Self.compare(book, with: server)
        #expect(await server.interrupt() == 0)
        // A test in which nothing was acknowledged, lost or sent again would prove nothing.
        let ledger = await book.ledger
        #expect(ledger.acknowledged > rounds)
        #expect(ledger.lost > 0)
        #expect(ledger.sentAgain == ledger.lost)
        try await home.expectSound()
    }

    /// Adds, changes and deletes until the server is gone. What it left without an answer goes first.
    private static func edit(_ server: FieldworkProcess, _ book: Book) async {
        while await send(await book.next(), server, book) {}
    }

    /// Whether there was an answer.
    @discardableResult
    private static func send(_ request: EditLedger.Request, _ server: FieldworkProcess, _ book: Book) async -> Bool {
        do {
            let answer = try await PlainRequest.post(
                "\(server.services)/Crash/FeatureServer/0/applyEdits",
                [("f", "json"), ("useGlobalIds", "true"), ("rollbackOnFailure", "true")] + request.form)
            await book.record(request, EditLedger.Answer(answer))
            return true
        } catch {
            await book.lose(request)
            return false
        }
    }

    /// Everything the server has, against everything it said.
    private static func compare(_ book: Book, with server: FieldworkProcess) async throws {
        var found: [String: [Int]] = [:]
        var last = 0
        while true {
            let page = try await PlainRequest.post(
                "\(server.services)/Crash/FeatureServer/0/query",
                [
                    ("f", "json"), ("where", "name <> 'first' AND OBJECTID > \(last)"),
                    ("outFields", "OBJECTID,GlobalID,counter"), ("returnGeometry", "false"),
                    ("orderByFields", "OBJECTID"),
                ])
            let features = try #require(page["features"] as? [[String: Any]])
            for feature in features {
                let attributes = try #require(feature["attributes"] as? [String: Any])
                let id = try #require(attributes["GlobalID"] as? String)
                found[id, default: []].append(try #require(attributes["counter"] as? Int))
                last = max(last, try #require(attributes["OBJECTID"] as? Int))
            }
            guard page["exceededTransferLimit"] as? Bool == true else { break }
        }
        for problem in await book.close(with: found) { Issue.record("\(problem)") }
    }
}
