import Foundation
import Testing

/// Kills the server in mid-edit, again and again, and looks whether it kept its word.
@Suite("Crash", .serialized)
struct CrashTests {
    /// `FIELDWORK_CRASH_ROUNDS` sets how often; the full proof is 200.
    private static let rounds = ProcessInfo.processInfo.environment["FIELDWORK_CRASH_ROUNDS"].flatMap(Int.init) ?? 8

    @Test("Every acknowledged edit survives SIGKILL, none is there twice")
    func survivesKills() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        let csv = folder.url.appending(path: "seed.csv")
        try Data("x,y,name,counter\n1,1,first,0\n".utf8).write(to: csv)
        let published = try await FieldworkProcess.run([
            "publish", csv.path, "--service", "Crash", "--x", "x", "--y", "y", "--wkid", "4326", "--data", data.path,
        ])
        try #require(published.status == 0, "\(published.errors)")

        let ledger = Ledger()
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<Self.rounds {
            let server = try await FieldworkProcess.serve(data: data)
            try await Self.compare(ledger, with: server)
            let delay = Int.random(in: 10...300, using: &generator)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask { await Self.edit(server, ledger) }
                }
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(delay))
                    await server.kill()
                }
            }
        }
        let server = try await FieldworkProcess.serve(data: data)
        try await Self.compare(ledger, with: server)
        #expect(await server.interrupt() == 0)
        // A test in which nothing was acknowledged would prove nothing.
        #expect(await ledger.acknowledged > Self.rounds)
        let doctor = try await FieldworkProcess.run(["doctor", "--data", data.path])
        #expect(doctor.status == 0, "\(doctor.text)\(doctor.errors)")
    }

    /// Adds, changes and deletes until the server is gone.
    private static func edit(_ server: FieldworkProcess, _ ledger: Ledger) async {
        while true {
            let request = await ledger.next()
            do {
                let answer = try await PlainRequest.post(
                    "\(server.services)/Crash/FeatureServer/0/applyEdits",
                    [("f", "json"), ("useGlobalIds", "true"), ("rollbackOnFailure", "true")] + request.form)
                await ledger.record(request, answer)
            } catch {
                await ledger.lost(request)
                return
            }
        }
    }

    /// Everything the server has, against everything it said.
    private static func compare(_ ledger: Ledger, with server: FieldworkProcess) async throws {
        var found: [String: [Int]] = [:]
        var offset = 0
        while true {
            let page = try await PlainRequest.post(
                "\(server.services)/Crash/FeatureServer/0/query",
                [
                    ("f", "json"), ("where", "name <> 'first'"), ("outFields", "OBJECTID,GlobalID,counter"),
                    ("returnGeometry", "false"), ("orderByFields", "OBJECTID"), ("resultOffset", "\(offset)"),
                ])
            let features = try #require(page["features"] as? [[String: Any]])
            for feature in features {
                let attributes = try #require(feature["attributes"] as? [String: Any])
                let id = try #require(attributes["GlobalID"] as? String)
                found[id, default: []].append(try #require(attributes["counter"] as? Int))
            }
            offset += features.count
            guard page["exceededTransferLimit"] as? Bool == true else { break }
        }
        for problem in await ledger.problems(in: found) { Issue.record("\(problem)") }
        await ledger.settle(with: found)
    }
}

/// What was asked of the server and what it acknowledged.
private actor Ledger {
    enum Request: Sendable {
        case add([String])
        case update(String, counter: Int)
        case delete(String)

        var form: [(String, String)] {
            switch self {
            case .add(let ids):
                let features = ids.map {
                    #"{"attributes":{"GlobalID":"\#($0)","name":"tree","counter":0},"geometry":{"x":2,"y":3}}"#
                }
                return [("adds", "[\(features.joined(separator: ","))]")]
            case .update(let id, let counter):
                return [("updates", #"[{"attributes":{"GlobalID":"\#(id)","counter":\#(counter)}}]"#)]
            case .delete(let id): return [("deletes", #"["\#(id)"]"#)]
            }
        }
    }

    /// What a feature may look like now. A request whose answer was lost leaves both ways open.
    private struct Expectation {
        var mustExist = false
        var mayExist = true
        var counters: Set<Int> = [0]
        var isBusy = false
    }

    private var features: [String: Expectation] = [:]
    private var free: [String] = []
    private(set) var acknowledged = 0
    private var counter = 0

    func next() -> Request {
        let choice = Int.random(in: 0..<10)
        if choice < 5 || free.isEmpty {
            let ids = (0..<Int.random(in: 1...5)).map { _ in "{\(UUID().uuidString)}" }
            for id in ids { features[id] = Expectation(isBusy: true) }
            return .add(ids)
        }
        // One request at a time for a feature, so that the order of its edits is known.
        let id = free.remove(at: Int.random(in: 0..<free.count))
        features[id]?.isBusy = true
        if choice < 9 {
            counter += 1
            features[id]?.counters.insert(counter)
            return .update(id, counter: counter)
        }
        features[id]?.mustExist = false
        return .delete(id)
    }

    func record(_ request: Request, _ answer: [String: Any]) {
        func succeeded(_ key: String) -> Bool {
            let results = answer[key] as? [[String: Any]] ?? []
            return !results.isEmpty && results.allSatisfy { $0["success"] as? Bool == true }
        }
        switch request {
        case .add(let ids):
            guard succeeded("addResults") else { return lost(request) }
            for id in ids {
                features[id] = Expectation(mustExist: true)
                free.append(id)
            }
        case .update(let id, let counter):
            guard succeeded("updateResults") else { return lost(request) }
            features[id] = Expectation(mustExist: true, counters: [counter])
            free.append(id)
        case .delete(let id):
            guard succeeded("deleteResults") else { return lost(request) }
            features[id] = Expectation(mayExist: false)
        }
        acknowledged += 1
    }

    /// No answer: the edit may have been committed or not.
    func lost(_ request: Request) {
        switch request {
        case .add(let ids): for id in ids { features[id]?.isBusy = false }
        case .update(let id, _), .delete(let id): features[id]?.isBusy = false
        }
    }

    func problems(in found: [String: [Int]]) -> [String] {
        var problems: [String] = []
        for (id, counters) in found {
            guard let expected = features[id] else {
                problems.append("\(id) was never added")
                continue
            }
            if counters.count > 1 { problems.append("\(id) is there \(counters.count) times") }
            if !expected.mayExist { problems.append("\(id) was deleted, and is there") }
            for counter in counters where !expected.counters.contains(counter) {
                problems.append("\(id) has the value \(counter), not one of \(expected.counters.sorted())")
            }
        }
        for (id, expected) in features where expected.mustExist && found[id] == nil {
            problems.append("\(id) was acknowledged, and is gone")
        }
        return problems
    }

    /// After a restart what is there is the truth; the next round starts from it.
    func settle(with found: [String: [Int]]) {
        features = found.mapValues { Expectation(mustExist: true, counters: Set($0)) }
        free = Array(found.keys)
    }
}
