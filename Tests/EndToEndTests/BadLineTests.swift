import FieldworkGeometry
import Foundation
import Testing

@testable import Fieldwork

/// Photos go over a line on which hardly anything gets through in one piece.
@Suite("A bad line", .serialized, .timeLimit(.minutes(30)))
struct BadLineTests {
    /// `FIELDWORK_BAD_LINE` is `full` for the whole proof: a hundred photos of 5 MB.
    private static let isFull = ProcessInfo.processInfo.environment["FIELDWORK_BAD_LINE"] == "full"
    private static let photos = isFull ? 100 : 4
    private static let bytes = isFull ? 5_000_000 : 1_000_000

    /// Bytes that no compression makes less, the same each time.
    private static func photo(_ number: Int) -> Data {
        var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ 1
        var bytes = Data(capacity: Self.bytes)
        while bytes.count < Self.bytes {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            withUnsafeBytes(of: state) { bytes.append(contentsOf: $0) }
        }
        return bytes.prefix(Self.bytes)
    }

    @Test("With 64 kbit/s, a fifth lost and a cut every 30 seconds all photos arrive, at 1.05 times their bytes")
    func photos() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        try await CrewService.publish("1,1,first,0\n", in: data)
        let server = try await FieldworkProcess.serve(data: data)
        let line = try await Line.open(to: try #require(URL(string: server.services)?.port))
        let geodatabase = ServiceGeodatabase(
            url: try #require(
                URL(string: "http://127.0.0.1:\(line.port)/arcgis/rest/services/Crews/FeatureServer/0")),
            environment: ServiceEnvironment(directory: folder.url.appending(path: "device"), client: QuickClient()))
        try await geodatabase.load()
        let table = try #require(geodatabase.table(withLayerID: 0))
        let found = try await table.queryFeatures(using: QueryParameters()).features().first { _ in true }
        let feature = try #require(found as? ArcGISFeature)
        for number in 0..<Self.photos {
            try await feature.addAttachment(
                named: "\(number).jpg", contentType: "image/jpeg", data: Self.photo(number))
        }
        line.quality = Line.Quality()
        let before = line.carried
        var rounds = 0
        while geodatabase.hasLocalEdits, rounds < 10 * Self.photos {
            _ = try? await geodatabase.applyEdits()
            rounds += 1
        }
        let carried = (line.carried.up - before.up) + (line.carried.down - before.down)
        let ratio = Double(carried) / Double(Self.photos * Self.bytes)
        #expect(!geodatabase.hasLocalEdits)
        #expect(ratio <= 1.05)
        // A line that was good would prove nothing.
        #expect(line.cuts > Self.photos && line.lostConnections > 0)
        print(
            "A bad line: \(Self.photos) photos of \(Self.bytes) bytes, \(line.cuts) cuts, "
                + "\(line.lostConnections) lost connections, \(rounds) rounds, \(carried) bytes: \(ratio) times")
        await line.close()
        try await Self.compare(server)
        #expect(await server.interrupt() == 0)
    }

    /// Each photo is there once, with all of its bytes.
    private static func compare(_ server: FieldworkProcess) async throws {
        let root = "\(server.services)/Crews/FeatureServer/0/1/attachments"
        let list = try #require(
            try await PlainRequest.post(root, [("f", "json")])["attachmentInfos"] as? [[String: Any]])
        #expect(list.count == photos)
        var names: Set<String> = []
        for info in list {
            let name = try #require(info["name"] as? String)
            names.insert(name)
            let number = try #require(Int(name.prefix { $0 != "." }))
            let id = try #require(info["id"] as? Int)
            #expect(try await PlainRequest.page("\(root)/\(id)") == photo(number), "\(name)")
        }
        #expect(names.count == photos)
    }
}

/// Waits as long as the line's own time makes of it.
private struct QuickClient: ServiceClient {
    private let client = HTTPServiceClient(pause: { _ in try await Task.sleep(for: .milliseconds(20)) })

    func answer(to request: ServiceRequest) async throws -> ServiceAnswer { try await client.answer(to: request) }
    func wait(beforeAttempt attempt: Int) async throws { try await Task.sleep(for: .milliseconds(20)) }
}
