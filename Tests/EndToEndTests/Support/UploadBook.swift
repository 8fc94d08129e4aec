import Crypto
import Foundation

/// Uploads, each in stretches to whichever server, then attached by its id; and what came of them. Nothing that a server has
/// said to have may be missing later.
actor UploadBook {
    private var expected: [String: String] = [:]
    private var faults: [String] = []
    private var parent: String?
    private(set) var done = 0
    private var repeated = 0

    var summary: String { "\(done) uploads attached, \(repeated) requests of them repeated" }

    /// Goes on until the file is attached, whatever becomes of the servers.
    func uploadOne(to servers: ServerGroup) async {
        let seed = Int.random(in: 0..<1_000)
        let content = Data((0..<Int.random(in: 100_000...700_000)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) })
        let hash = SHA256.hash(data: content)
        let hexadecimal = hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let registered = await json(servers) { root in
            try await PlainRequest.post("\(root)/uploads/register", [("f", "json"), ("itemName", "a.jpg")])
        }
        guard let id = (registered["item"] as? [String: Any])?["itemID"] as? String else {
            return faults.append("an upload was not registered: \(registered)")
        }
        guard await send(content, of: id, to: servers) else { return }
        let committed = await json(servers) { root in
            try await PlainRequest.post(
                "\(root)/uploads/\(id)/commit",
                [("f", "json"), ("size", "\(content.count)"), ("sha256", hexadecimal)])
        }
        guard committed["success"] as? Bool == true else {
            return faults.append("an upload was not committed: \(committed)")
        }
        let global = "{\(UUID().uuidString)}"
        guard await attach(id, as: global, servers) else { return }
        expected[global] = hash.description
        done += 1
    }

    /// - Returns: whether all of it arrived.
    private func send(_ content: Data, of id: String, to servers: ServerGroup) async -> Bool {
        var acknowledged = 0
        while acknowledged < content.count {
            let end = min(content.count, acknowledged + Int.random(in: 20_000...300_000))
            let address = "\(await servers.any)/Crash/FeatureServer/uploads/\(id)/append?f=json&offset=\(acknowledged)"
            let answer: [String: Any]
            do {
                answer = try await PlainRequest.octets(address, content[acknowledged..<end])
            } catch {
                repeated += 1
                answer = await json(servers) { try await PlainRequest.post("\($0)/uploads/\(id)", [("f", "json")]) }
            }
            let item = answer["item"] as? [String: Any] ?? answer
            guard let received = item["received"] as? Int else {
                faults.append("an upload is not known: \(answer)")
                return false
            }
            if received < acknowledged {
                faults.append("\(received) bytes are left of \(acknowledged) that were acknowledged")
                return false
            }
            acknowledged = received
        }
        return true
    }

    private func attach(_ id: String, as global: String, _ servers: ServerGroup) async -> Bool {
        if parent == nil {
            let found = await json(servers) { root in
                try await PlainRequest.post(
                    "\(root)/0/query", [("f", "json"), ("objectIds", "1"), ("outFields", "GlobalID")])
            }
            let features = found["features"] as? [[String: Any]]
            parent = (features?.first?["attributes"] as? [String: Any])?["GlobalID"] as? String
        }
        let edits = """
            {"adds":[{"globalId":"\(global)","parentGlobalId":"\(parent ?? "")","uploadId":"\(id)"}]}
            """
        let answer = await json(servers) { root in
            try await PlainRequest.post(
                "\(root)/0/applyEdits", [("f", "json"), ("useGlobalIds", "true"), ("attachments", edits)])
        }
        let results = (answer["attachments"] as? [String: Any])?["addResults"] as? [[String: Any]]
        let code = (results?.first?["error"] as? [String: Any])?["code"] as? Int
        // An answer was lost, and this is the receipt for it.
        if results?.first?["success"] as? Bool == true || code == 1_016 { return true }
        faults.append("an upload was not attached: \(answer)")
        return false
    }

    /// Asks one server after the other until there is an answer.
    private func json(
        _ servers: ServerGroup, _ ask: @Sendable (_ service: String) async throws -> [String: Any]
    ) async -> sending [String: Any] {
        while true {
            do {
                return try await ask("\(await servers.any)/Crash/FeatureServer")
            } catch {
                repeated += 1
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    /// What is wrong with what the service has: hashes by global id.
    func problems(_ found: [String: [String]]) -> [String] {
        var problems = faults
        for (id, hash) in expected where found[id] != [hash] {
            problems.append("the attachment \(id) is \(found[id] ?? []), and was \(hash)")
        }
        for id in found.keys where expected[id] == nil { problems.append("the attachment \(id) was never added") }
        return problems
    }
}
