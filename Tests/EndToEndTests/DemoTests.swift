import Foundation
import Testing

/// The first thing that anybody runs.
@Suite("Demo", .serialized)
struct DemoTests {
    private static func port(of address: String) throws -> Int {
        try #require(URLComponents(string: address)?.port)
    }

    @Test("It says that it is ready when services and app both serve; a taken port ends it before it makes anything")
    func readyAndTaken() async throws {
        let folder = try TemporaryFolder()
        let demo = try FieldworkProcess.start(["demo", "--data", folder.url.path, "--port", "0"])
        let line = try await demo.readyLine()
        #expect(line.hasPrefix("Fieldwork is ready: services http://127.0.0.1:"))
        let app = try #require(line.components(separatedBy: "app ").last)
        #expect(String(decoding: try await PlainRequest.page(app), as: UTF8.self).contains("<html"))
        let catalogue = try await PlainRequest.post(demo.services, [("f", "json")])
        let names = try #require(catalogue["services"] as? [[String: Any]]).compactMap { $0["name"] as? String }
        #expect(Set(names).isSuperset(of: ["DamageAssessment", "SaveTheBaySync", "TreesOfPortland"]))

        let port = try Self.port(of: demo.services)
        let other = folder.url.appending(path: "other")
        let second = try await FieldworkProcess.run(["demo", "--data", other.path, "--port", "\(port)"])
        #expect(second.status == 69, "\(second.errors)")
        #expect(second.text.isEmpty, "nothing is ready")
        #expect(second.errors.contains("The port \(port) is taken"))
        #expect(!FileManager.default.fileExists(atPath: other.path), "nothing was made")

        // The port after this one is the app's of the demo that runs.
        let taken = try Self.port(of: app)
        let third = try FieldworkProcess.start(["demo", "--data", folder.url.path, "--port", "\(taken - 1)"])
        let elsewhere = try #require(try await third.readyLine().components(separatedBy: "app ").last)
        #expect(try Self.port(of: elsewhere) != taken)
        #expect(try third.errors().contains("The port \(taken) is taken"))
        #expect(String(decoding: try await PlainRequest.page(elsewhere), as: UTF8.self).contains("<html"))
        #expect(await third.interrupt() == 0)
        #expect(await demo.interrupt() == 0)
    }

    @Test("A server on an address of its own prints one that can be opened")
    func hosts() async throws {
        let folder = try TemporaryFolder()
        let all = try FieldworkProcess.start(
            ["serve", "--data", folder.url.path, "--port", "0", "--host", "0.0.0.0", "--open"])
        #expect(try await all.readyLine().hasPrefix("Fieldwork is ready: services http://127.0.0.1:"))
        #expect(try all.errors().contains("Everybody who reaches 0.0.0.0 may read"))
        #expect(try await PlainRequest.post(all.services, [("f", "json")])["services"] != nil)
        #expect(await all.interrupt() == 0)

        let nowhere = try await FieldworkProcess.run(
            ["serve", "--data", folder.url.path, "--port", "0", "--host", "192.0.2.1", "--open"])
        #expect(nowhere.status == 69)
        #expect(nowhere.errors.contains("192.0.2.1"))

        let closed = try await FieldworkProcess.run(
            ["serve", "--data", folder.url.path, "--port", "0", "--host", "0.0.0.0"])
        #expect(closed.status == 69)
        #expect(closed.errors.contains("there are no people yet") && closed.errors.contains("--open"))
    }

    @Test(
        "An IPv6 address is written with its brackets",
        .enabled(
            if: FileManager.default.fileExists(atPath: "/proc/net/if_inet6"), "this machine has no IPv6"),
        arguments: ["::1", "[::1]"])
    func sixthVersion(_ host: String) async throws {
        let folder = try TemporaryFolder()
        let server = try FieldworkProcess.start(["serve", "--data", folder.url.path, "--port", "0", "--host", host])
        #expect(try await server.readyLine().hasPrefix("Fieldwork is ready: services http://[::1]:"))
        // Foundation's URLSession on Linux refuses addresses of this form, so the request is written by hand.
        let port = try Self.port(of: server.services)
        let request = "GET /arcgis/rest/services?f=json HTTP/1.1\\r\\nHost: [::1]\\r\\nConnection: close\\r\\n\\r\\n"
        let code = try await Shell.run(
            "exec 3<>/dev/tcp/::1/\(port); printf '\(request)' >&3; grep -q '\"services\"' <&3")
        #expect(code == 0)
        #expect(await server.interrupt() == 0)
    }
}
