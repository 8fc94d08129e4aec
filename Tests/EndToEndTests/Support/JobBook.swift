import Foundation

/// Asynchronous jobs that any server takes, any answers for and any gives the result of; and what came of them.
actor JobBook {
    private var expected: Set<String> = []
    private var faults: [String] = []
    private(set) var done = 0

    var summary: String { "\(done) replicas made by jobs" }

    /// Goes on until the replica is there, whatever becomes of the servers.
    func doOne(on servers: ServerGroup) async {
        let id = UUID().uuidString
        expected.insert(id)
        let asked = await answer(servers) { root in
            try await PlainRequest.data(
                "\(root)/createReplica",
                [
                    ("f", "json"), ("layers", "0"), ("syncModel", "perLayer"), ("replicaName", id), ("async", "true"),
                    ("requestId", id),
                ])
        }
        guard Self.object(asked)["statusUrl"] is String else {
            return faults.append("a job was not taken: \(String(decoding: asked, as: UTF8.self))")
        }
        var status: [String: Any] = [:]
        while status["status"] as? String != "Completed" {
            status = Self.object(await answer(servers) { try await PlainRequest.page("\($0)/jobs/\(id)?f=json") })
            if status["status"] == nil || status["status"] as? String == "Failed" {
                return faults.append("the job \(id) has become \(status)")
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        guard let name = (status["resultUrl"] as? String)?.split(separator: "/").last.map(String.init) else {
            return faults.append("the job \(id) has no result: \(status)")
        }
        let first = await answer(servers) { root in
            try await PlainRequest.part("\(root)/replicafiles/\(name)", "bytes=0-9999")
        }
        let rest = await answer(servers) { root in
            try await PlainRequest.part("\(root)/replicafiles/\(name)", "bytes=10000-")
        }
        guard (Self.object(first + rest)["replicaID"] as? String)?.uppercased() == id else {
            return faults.append("the result of \(id) is not whole: \(first.count) and \(rest.count) bytes")
        }
        done += 1
    }

    private static func object(_ data: Data) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
    }

    /// Asks one server after the other until there is an answer.
    private func answer(
        _ servers: ServerGroup, _ ask: @Sendable (_ service: String) async throws -> Data
    ) async -> Data {
        while true {
            do {
                return try await ask("\(await servers.any)/Crash/FeatureServer")
            } catch {
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    /// What is wrong with the replicas that the service has.
    func problems(_ found: [String]) -> [String] {
        var problems = faults
        if Set(found).count != found.count { problems.append("a replica is there twice") }
        for id in expected.symmetricDifference(found) {
            problems.append(expected.contains(id) ? "the replica \(id) is gone" : "the replica \(id) was never made")
        }
        return problems
    }
}
