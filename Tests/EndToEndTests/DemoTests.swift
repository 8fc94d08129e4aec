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

        let taken = try HeldPort()
        let third = try FieldworkProcess.start(["demo", "--data", folder.url.path, "--port", "\(taken.before)"])
        let elsewhere = try #require(try await third.readyLine().components(separatedBy: "app ").last)
        #expect(try Self.port(of: elsewhere) != taken.number)
        #expect(try third.errors().contains("The port \(taken.number) is taken"))
        #expect(String(decoding: try await PlainRequest.page(elsewhere), as: UTF8.self).contains("<html"))
        #expect(await third.interrupt() == 0)
        #expect(await demo.interrupt() == 0)
    }

    private static func code(_ answer: [String: Any]) -> Int? { (answer["error"] as? [String: Any])?["code"] as? Int }

    private static func maps(_ root: String, token: String? = nil) async throws -> Set<String> {
        let form = [("f", "json"), ("q", "type:\"Web Map\"")] + (token.map { [("token", $0)] } ?? [])
        let found = try await PlainRequest.post("\(root)/sharing/rest/search", form)
        return Set((found["results"] as? [[String: Any]] ?? []).compactMap { $0["title"] as? String })
    }

    private static func token(_ name: String, _ password: String, _ root: String) async throws -> String? {
        let form = [("username", name), ("password", password), ("f", "json")]
        return try await PlainRequest.post("\(root)/tokens/generateToken", form)["token"] as? String
    }

    @Test("Its public maps need no sign-in; its two people, whose passwords are printed once, see one map more")
    func portal() async throws {
        let folder = try TemporaryFolder()
        let demo = try FieldworkProcess.start(["demo", "--data", folder.url.path, "--port", "0"])
        let line = try await demo.readyLine()
        let root = demo.services.replacing("/rest/services", with: "")
        #expect(line.contains(" · portal \(root)/home · "))
        let page = String(decoding: try await PlainRequest.page("\(root)/home"), as: UTF8.self)
        #expect(
            page.contains("Trees of Portland") && page.contains("Damage assessment") && !page.contains("Save the Bay"))
        #expect(try await Self.maps(root) == ["Trees of Portland", "Damage assessment"])
        for service in ["DamageAssessment", "SaveTheBaySync", "TreesOfPortland"] {
            let edit = try await PlainRequest.post(
                "\(demo.services)/\(service)/FeatureServer/0/deleteFeatures", [("f", "json"), ("objectIds", "999999")])
            #expect(Self.code(edit) == nil, "\(service): everybody may edit it, as without people")
        }
        for path in ["Portland/GeocodeServer", "Streets/VectorTileServer"] {
            #expect(
                Self.code(try await PlainRequest.post("\(demo.services)/\(path)", [("f", "json")])) == nil, "\(path)")
        }
        let said = try demo.errors()
        let people = said.matches(of: #/  (ana|ben) \((\w+)\)  ([a-z0-9-]{19})\n/#)
        #expect(people.map { "\($0.1) \($0.2)" } == ["ana administrator", "ben editor"], "\(said)")
        for person in people {
            let token = try #require(try await Self.token(String(person.1), String(person.3), root))
            #expect(try await Self.maps(root, token: token).contains("Save the Bay"), "\(person.1)")
        }
        let bytes = try Data(contentsOf: folder.url.appending(path: "portal.sqlite"))
        for person in people { #expect(bytes.range(of: Data(person.3.utf8)) == nil, "kept nowhere") }
        #expect(await demo.interrupt() == 0)

        // What a person has taken away or changed stays so, and the addresses in the maps follow the port.
        let place = ["--data", folder.url.path]
        #expect(try await FieldworkProcess.run(["items", "remove", "Save the Bay"] + place).status == 0)
        #expect(try await FieldworkProcess.run(["share", "SaveTheBaySync", "--private"] + place).status == 0)
        let again = try FieldworkProcess.start(["demo", "--data", folder.url.path, "--port", "0"])
        _ = try await again.readyLine()
        #expect(try !again.errors().contains("passwords"))
        let other = again.services.replacing("/rest/services", with: "")
        let token = try #require(try await Self.token("ben", String(people[1].3), other))
        #expect(try await Self.maps(other, token: token) == ["Trees of Portland", "Damage assessment"])
        let service = try await PlainRequest.post("\(again.services)/SaveTheBaySync/FeatureServer", [("f", "json")])
        #expect(Self.code(service) == 499)
        let found = try await PlainRequest.post(
            "\(other)/sharing/rest/search", [("f", "json"), ("q", "title:trees type:\"Web Map\"")])
        let id = try #require((found["results"] as? [[String: Any]])?.first?["id"] as? String)
        let map = String(
            decoding: try await PlainRequest.page("\(other)/sharing/rest/content/items/\(id)/data"), as: UTF8.self)
        #expect(map.replacing("\\/", with: "/").contains("\(again.services)/TreesOfPortland/FeatureServer/0"))
        #expect(!map.contains(":\(try Self.port(of: demo.services))/"))
        #expect(await again.interrupt() == 0)
    }

    @Test("On an address that other machines reach it starts only with --open, since everybody may edit its services")
    func reachable() async throws {
        let folder = try TemporaryFolder()
        let closed = try await FieldworkProcess.run(
            ["demo", "--data", folder.url.path, "--port", "0", "--host", "0.0.0.0"])
        #expect(closed.status == 69 && closed.errors.contains("--open"), "\(closed.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty, "nothing was made")
    }

    @Test("A folder with services of one's own gets no people, and stays as open as it was")
    func ownServices() async throws {
        let folder = try TemporaryFolder()
        let csv = folder.url.appending(path: "own.csv")
        let data = folder.url.appending(path: "data")
        try Data("name,x,y\nOne,1,1\n".utf8).write(to: csv)
        let published = try await FieldworkProcess.run([
            "publish", csv.path, "--service", "Own", "--x", "x", "--y", "y", "--data", data.path,
        ])
        #expect(published.status == 0 && !published.errors.contains("share"), "\(published.errors)")
        let demo = try FieldworkProcess.start(["demo", "--data", data.path, "--port", "0"])
        _ = try await demo.readyLine()
        #expect(try demo.errors().contains("services of your own (Own)"))
        let edit = try await PlainRequest.post(
            "\(demo.services)/Own/FeatureServer/0/deleteFeatures", [("f", "json"), ("objectIds", "999999")])
        #expect(Self.code(edit) == nil)
        #expect(await demo.interrupt() == 0)
        #expect(try await FieldworkProcess.run(["users", "list", "--data", data.path]).text.isEmpty)
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
