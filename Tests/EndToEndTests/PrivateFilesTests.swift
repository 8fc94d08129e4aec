import Foundation
import Testing

/// What the app and the demo keep of a user, as other users of the machine see it.
@Suite("Private files", .serialized)
struct PrivateFilesTests {
    /// What group or others may do something with, below a folder and with it.
    private static func open(_ folder: URL) throws -> [String] {
        let manager = FileManager.default
        return try ([""] + manager.subpathsOfDirectory(atPath: folder.path)).filter { path in
            let item = path.isEmpty ? folder : folder.appending(path: path)
            // A temporary file may be gone by now.
            let mode = (try? manager.attributesOfItem(atPath: item.path))?[.posixPermissions] as? Int
            return (mode ?? 0) & 0o077 != 0
        }
    }

    @Test("Folders and files of the app and of the demo are the owner's alone, and the page needs the printed key")
    func modes() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "demo")
        let demo = try FieldworkProcess.start(["demo", "--data", data.path, "--port", "0"])
        let line = try await demo.readyLine()
        let door = try #require(line.components(separatedBy: "app ").last)
        let parts = try #require(URLComponents(string: door))
        #expect(parts.queryItems?.first { $0.name == "key" }?.value?.count == 64)
        let root = "http://127.0.0.1:\(try #require(parts.port))/"
        #expect(String(decoding: try await PlainRequest.page(root), as: UTF8.self).contains("This page is closed"))

        let crew = folder.url.appending(path: "crew")
        let app = try await CollectVisitor.start(
            map: "\(demo.services)/DamageAssessment/FeatureServer", data: crew)
        #expect(try await app.page("/list/0?scope=all").contains("/edit"))
        try await app.post("/settings", ["theme": "dark"])
        #expect(try Self.open(crew) == [])
        #expect(try Self.open(data) == [])
        await app.process.kill()
        #expect(await demo.interrupt() == 0)
    }
}
