import Crypto
import FieldworkPostGIS
import Foundation
import Synchronization
import TemporaryPostgres
import Testing

/// Three servers of one database, requests to any of them, and one after the other killed: nothing that was acknowledged is
/// lost, nothing is done twice.
@Suite(
    "Three servers of one database", .serialized,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct ThreeServersTests {
    /// `FIELDWORK_SERVERS_CRASH_ROUNDS` sets how often one is killed; the full proof is 100.
    private static let rounds =
        ProcessInfo.processInfo.environment["FIELDWORK_SERVERS_CRASH_ROUNDS"].flatMap(Int.init) ?? 4

    @Test("Edits, uploads and jobs survive whichever server is killed with SIGKILL")
    func survivesKills() async throws {
        let folder = try TemporaryFolder()
        let address = try await TemporaryPostgres.shared.value.storeAddress()
        try await Self.publish(in: folder.url, at: address)
        let servers = try await ServerGroup(of: 3, on: address)
        let (book, uploads, jobs) = (Book(), UploadBook(), JobBook())
        let end = End()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask { await end.repeating { await Self.edit(servers, book) } }
                group.addTask { await end.repeating { await uploads.uploadOne(to: servers) } }
                group.addTask { await end.repeating { await jobs.doOne(on: servers) } }
            }
            for _ in 0..<Self.rounds {
                try? await Task.sleep(for: .milliseconds(Int.random(in: 100...900)))
                do { try await servers.killOne() } catch { Issue.record(error) }
            }
            end.isReached.withLock { $0 = true }
        }
        while let request = await book.unanswered() { await Self.send(request, servers, book) }
        let root = await servers.any
        for problem in await book.close(with: try await Self.features(root)) { Issue.record("\(problem)") }
        for problem in await uploads.problems(try await Self.attachments(root)) { Issue.record("\(problem)") }
        for problem in await jobs.problems(try await Self.replicas(root)) { Issue.record("\(problem)") }
        let taken = try PostgresConnection(PostgresSettings(address)).integer(
            "SELECT count(*) FROM fieldwork.jobs WHERE attempts > 1")
        let ledger = await book.ledger
        print(
            """
            Three servers: \(Self.rounds) killed; \(ledger.acknowledged) edits acknowledged, \(ledger.lost) without an \
            answer; \(await uploads.summary); \(await jobs.summary), \(taken ?? 0) taken over
            """)
        // A test in which nothing was acknowledged would prove nothing.
        #expect(ledger.acknowledged > Self.rounds && ledger.sentAgain == ledger.lost)
        #expect(await uploads.done > 0)
        #expect(await jobs.done > 0)
        await servers.end()
    }

    /// When the clients stop: each after what it has begun.
    private final class End: Sendable {
        let isReached = Mutex(false)

        func repeating(_ step: @Sendable () async -> Void) async {
            while !isReached.withLock({ $0 }) { await step() }
        }
    }

    // MARK: The service

    private static let words = "Create,Delete,Query,Update,Editing,Uploads,Sync,ChangeTracking"

    private static func publish(in folder: URL, at address: String) async throws {
        let (csv, file) = (folder.appending(path: "seed.csv"), folder.appending(path: "definition.json"))
        let rows = (0..<1_500).map { "1,1,first,\($0)\n" }.joined()
        try Data("x,y,name,counter\n\(rows)".utf8).write(to: csv)
        let layer: [String: Any] = ["id": 0, "capabilities": words, "hasAttachments": true]
        let document: [String: Any] = ["capabilities": words, "layers": [layer]]
        try JSONSerialization.data(withJSONObject: document).write(to: file)
        let published = try await FieldworkProcess.run([
            "publish", csv.path, "--service", "Crash", "--x", "x", "--y", "y", "--wkid", "4326", "--store", address,
            "--definition", file.path,
        ])
        try #require(published.status == 0, "\(published.errors)")
    }

    // MARK: Edits

    private static func edit(_ servers: ServerGroup, _ book: Book) async {
        await send(await book.next(), servers, book)
    }

    private static func send(_ request: EditLedger.Request, _ servers: ServerGroup, _ book: Book) async {
        do {
            let answer = try await PlainRequest.post(
                "\(await servers.any)/Crash/FeatureServer/0/applyEdits",
                [("f", "json"), ("useGlobalIds", "true"), ("rollbackOnFailure", "true")] + request.form)
            await book.record(request, EditLedger.Answer(answer))
        } catch {
            await book.lose(request)
        }
    }

    // MARK: What is there in the end

    private static func features(_ root: String) async throws -> [String: [Int]] {
        var found: [String: [Int]] = [:]
        for attributes in try await rows("\(root)/Crash/FeatureServer/0/query") {
            let id = try #require(attributes["GlobalID"] as? String)
            found[id, default: []].append(try #require(attributes["counter"] as? Int))
        }
        return found
    }

    private static func rows(_ address: String) async throws -> [[String: Any]] {
        var found: [[String: Any]] = []
        var last = 0
        while true {
            let page = try await PlainRequest.post(
                address,
                [
                    ("f", "json"), ("where", "name <> 'first' AND OBJECTID > \(last)"),
                    ("outFields", "OBJECTID,GlobalID,counter"), ("returnGeometry", "false"),
                    ("orderByFields", "OBJECTID"),
                ])
            let attributes = try #require(page["features"] as? [[String: Any]]).compactMap {
                $0["attributes"] as? [String: Any]
            }
            found += attributes
            last = attributes.last?["OBJECTID"] as? Int ?? last
            guard page["exceededTransferLimit"] as? Bool == true else { return found }
        }
    }

    /// The hashes of all attachments' bytes, by global id.
    private static func attachments(_ root: String) async throws -> [String: [String]] {
        let layer = "\(root)/Crash/FeatureServer/0"
        let answer = try await PlainRequest.post("\(layer)/queryAttachments", [("f", "json"), ("objectIds", "1")])
        var found: [String: [String]] = [:]
        for group in answer["attachmentGroups"] as? [[String: Any]] ?? [] {
            for info in group["attachmentInfos"] as? [[String: Any]] ?? [] {
                let (id, global) = (try #require(info["id"] as? Int), try #require(info["globalId"] as? String))
                let bytes = try await PlainRequest.page("\(layer)/1/attachments/\(id)")
                found[global.uppercased(), default: []].append(SHA256.hash(data: bytes).description)
            }
        }
        return found
    }

    private static func replicas(_ root: String) async throws -> [String] {
        let data = try await PlainRequest.page("\(root)/Crash/FeatureServer/replicas?f=json")
        let list = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        return list.compactMap { ($0["replicaID"] as? String)?.uppercased() }
    }
}
