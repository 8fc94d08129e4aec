import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Kills the app in the middle of the work in an offline area, and looks whether everything is there, once.
@Suite("Collect crash", .serialized)
struct CollectCrashTests {
    private static let area = "2b0c3a1e-8f57-4c11-9a52-7d1c5e0f6a90"

    /// The app, and a visitor of its page.
    private struct App {
        let process: FieldworkProcess
        let root: String
        let session: URLSession

        static func start(map: String, data: URL) async throws -> App {
            let process = try FieldworkProcess.start(["collect", "--map", map, "--data", data.path, "--port", "0"])
            let line = try await process.readyLine()
            let address = try #require(line.components(separatedBy: "app ").last)
            let parts = try #require(URLComponents(string: address.trimmingCharacters(in: .whitespaces)))
            let app = App(
                process: process, root: "http://127.0.0.1:\(try #require(parts.port))",
                session: URLSession(configuration: .ephemeral))
            _ = try await app.page("/")
            return app
        }

        func page(_ path: String) async throws -> String {
            let url = try #require(URL(string: root + path))
            return String(
                decoding: try await session.data(for: URLRequest(url: url, timeoutInterval: 30)).0, as: UTF8.self)
        }

        @discardableResult
        func post(_ path: String, _ form: [String: String] = [:]) async throws -> String {
            var request = URLRequest(url: try #require(URL(string: root + path)), timeoutInterval: 30)
            request.httpMethod = "POST"
            request.setValue(root, forHTTPHeaderField: "Origin")
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            let pairs = form.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
            request.httpBody = Data(pairs.joined(separator: "&").utf8)
            return String(decoding: try await session.data(for: request).0, as: UTF8.self)
        }

        /// Looks at a page until it says something.
        func wait(_ path: String, for text: String) async throws {
            for _ in 0..<1_200 {
                if try await page(path).contains(text) { return }
                try await Task.sleep(for: .milliseconds(50))
            }
            Issue.record("\(path) never said \(text).")
        }

        func add(_ number: Int) async throws {
            try await post(
                "/add/0", ["lon": "-94.8\(number)", "lat": "29.5", "template": "t1", "session": "crash-\(number)"])
        }
    }

    private static func count(_ service: String) async throws -> Int {
        let form = [("f", "json"), ("where", "1=1"), ("returnCountOnly", "true")]
        return try #require(try await PlainRequest.post("\(service)/0/query", form)["count"] as? Int)
    }

    @Test("A transaction that SIGKILL broke off is there again; kept and synced its edits are on the server once")
    func transaction() async throws {
        let folder = try TemporaryFolder()
        let demo = try FieldworkProcess.start([
            "demo", "--data", folder.url.appending(path: "demo").path, "--port", "0",
        ])
        _ = try await demo.readyLine()
        let service = "\(demo.services)/SaveTheBaySync/FeatureServer"
        let before = try await Self.count(service)
        let data = folder.url.appending(path: "crew")

        var app = try await App.start(map: service, data: data)
        try await app.post(
            "/offline/new",
            [
                "west": "-95.1", "south": "29.3", "east": "-94.6", "north": "29.7", "name": "The bay",
                "session": Self.area,
            ])
        try await app.wait("/jobs/\(Self.area)", for: "is on this device")
        try await app.post("/offline/mode", ["area": Self.area])
        try await app.post("/transaction/start")
        for number in 1...3 { try await app.add(number) }
        #expect(try await app.page("/map").contains("Transaction: 3 edits not kept yet"))
        await app.process.kill()

        app = try await App.start(map: service, data: data)
        #expect(try await app.page("/map").contains("A transaction with 3 edits was not finished."))
        #expect(try await Self.count(service) == before)
        #expect(try await app.post("/transaction/keep").contains("3 edits kept."))
        await app.process.kill()

        app = try await App.start(map: service, data: data)
        #expect(try await app.page("/map").contains("3 not sent"))
        try await app.post("/sync")
        try await app.wait("/changes", for: "All is sent.")
        #expect(try await Self.count(service) == before + 3)
        // The form that was answered before the crash, posted again by a browser that kept it.
        try await app.add(2)
        try await app.post("/sync")
        try await app.wait("/changes", for: "All is sent.")
        #expect(try await Self.count(service) == before + 3)
        await app.process.kill()
        #expect(await demo.interrupt() == 0)
    }
}
