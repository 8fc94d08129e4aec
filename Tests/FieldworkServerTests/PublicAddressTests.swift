import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import FieldworkServer

/// The server behind a proxy: which address it gives to clients, and whom it believes.
@Suite("Behind a proxy", .fewAtATime)
struct PublicAddressTests {
    private static func serve(
        _ access: AccessRules, _ test: (TestClient) async throws -> Void
    ) async throws {
        let configuration = ServerConfiguration(port: 0, definitionLifetime: .zero, access: access)
        try await SyncService.serve(configuration: configuration) { client, _ in try await test(client) }
    }

    /// The address of a job's state, as a client gets it.
    private static func statusURL(_ client: TestClient, _ headers: [(String, String)] = []) async throws -> String {
        let answer = try await client.post(
            "extractChanges",
            ["layers": "0", "serverGens": "[0]", "returnInserts": "true", "async": "true", "f": "json"],
            headers: headers)
        return try #require(try answer.json["statusUrl"]?.stringValue, "\(answer.text)")
    }

    private static let passedOn = [
        ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "gis.example"), ("X-Forwarded-For", "192.0.2.7"),
    ]

    @Test("Addresses in answers use the name that the client used, as long as it is allowed")
    func checkedHost() async throws {
        try await Self.serve(AccessRules(hosts: [try #require(HostName("gis.example"))])) { client in
            #expect(try await Self.statusURL(client).hasPrefix("\(client.base)/"))
            let named = try await Self.statusURL(client, [("Host", "gis.example:81")])
            #expect(named.hasPrefix("http://gis.example:81/arcgis/rest/services/"))
        }
    }

    @Test("What a stranger forwards is not believed")
    func strangerForwards() async throws {
        try await Self.serve(AccessRules()) { client in
            let address = try await Self.statusURL(client, Self.passedOn)
            #expect(address.hasPrefix("\(client.base)/"))
        }
        let elsewhere = AccessRules(proxies: [try #require(NetworkRange("192.0.2.0/24"))])
        try await Self.serve(elsewhere) { client in
            let address = try await Self.statusURL(client, Self.passedOn)
            #expect(address.hasPrefix("\(client.base)/"))
        }
    }

    @Test("What a trusted proxy forwards is believed, for the names that are allowed")
    func proxyForwards() async throws {
        let rules = AccessRules(
            hosts: [try #require(HostName("gis.example"))], proxies: [try #require(NetworkRange("127.0.0.0/8"))])
        try await Self.serve(rules) { client in
            let address = try await Self.statusURL(client, Self.passedOn + [("Host", "upstream")])
            #expect(address.hasPrefix("https://gis.example/arcgis/rest/services/"))
            let foreign = try await client.get("/health", headers: [("X-Forwarded-Host", "evil.example")])
            #expect(foreign.status == 403)
            let scheme = try await client.get("/health", headers: [("X-Forwarded-Proto", "javascript")])
            #expect(scheme.status == 400)
            let page = try await client.get(
                "/health", headers: Self.passedOn + [("Origin", "https://gis.example")])
            #expect(page.status == 200, "its own page")
        }
    }

    @Test("The public address is given to every client, with its path")
    func publicAddress() async throws {
        let publicAddress = try #require(PublicAddress("https://gis.example/field/"))
        let rules = AccessRules(publicAddress: publicAddress)
        try await Self.serve(rules) { client in
            for headers in [[], [("Host", "gis.example")]] {
                let address = try await Self.statusURL(client, headers)
                #expect(address.hasPrefix("https://gis.example/field/arcgis/rest/services/"))
            }
            let home = try await client.get("/", headers: [("Host", "gis.example")])
            #expect(home.text.contains("href=\"/field/arcgis/rest/services\""))
            #expect(home.text.contains("href=\"/field/fieldwork.css\""))
            // A proxy may leave the path in, or take it away.
            #expect(try await client.get("/field/arcgis/rest/info", ["f": "json"]).json["currentVersion"] != nil)
            #expect(try await client.get("/arcgis/rest/info", ["f": "json"]).json["currentVersion"] != nil)
            let own = try await client.get("/health", headers: [("Origin", "https://gis.example")])
            #expect(own.status == 200)
        }
    }

    @Test("An address that is none is not taken")
    func malformed() {
        for text in [
            "gis.example", "ftp://gis.example", "https://gis.example/?a=b", "https://gis.example/a b", "https://",
            "https://gis.example/../x", "https://gis.example/#a",
        ] { #expect(PublicAddress(text) == nil, "\(text)") }
        for text in ["null", "maps.example", "https://maps.example/", "https://maps.example/a", "https://a b", "*"] {
            #expect(SiteOrigin(text) == nil, "\(text)")
        }
        for text in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.0/-1", "gis.example", "10.0.0.0/"] {
            #expect(NetworkRange(text) == nil, "\(text)")
        }
        #expect(HostName(String(repeating: "a", count: Limits.hostNameBytes)) != nil)
        #expect(HostName(String(repeating: "a", count: Limits.hostNameBytes + 1)) == nil)
    }

    @Test("A network is the addresses that begin with its bits")
    func networks() throws {
        let network = try #require(NetworkRange("10.32.0.0/11"))
        #expect(network.contains(try #require(NetworkAddress("10.63.255.255"))))
        #expect(!network.contains(try #require(NetworkAddress("10.64.0.0"))))
        #expect(network.contains(try #require(NetworkAddress("::ffff:10.33.1.1"))))
        #expect(try #require(NetworkRange("0.0.0.0/0")).contains(try #require(NetworkAddress("192.0.2.1"))))
        let six = try #require(NetworkRange("2001:db8::/32"))
        #expect(six.contains(try #require(NetworkAddress("2001:db8:1::1"))))
        #expect(!six.contains(try #require(NetworkAddress("2001:db9::1"))))
        #expect(!six.contains(try #require(NetworkAddress("10.0.0.1"))))
    }

    @Test("A server that other machines reach answers to its addresses and to its own name")
    func reachable() throws {
        let policy = AccessPolicy(AccessRules(), host: "0.0.0.0", routes: RouteTable(instance: "arcgis"))
        let client = NetworkAddress("192.0.2.7")
        func isAdmitted(_ host: String) -> Bool {
            let request = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/")
            return (try? policy.admit(request, from: client)) != nil
        }
        for host in ["192.0.2.1:8080", "[2001:db8::1]", "localhost"] { #expect(isAdmitted(host), "\(host)") }
        for host in HostName.ofThisMachine { #expect(isAdmitted(host), "\(host)") }
        for host in ["evil.example", "1.2.3.4.evil.example"] { #expect(!isAdmitted(host), "\(host)") }
        let named = AccessPolicy(AccessRules(), host: "gis.example", routes: RouteTable(instance: "arcgis"))
        let request = HTTPRequest(method: .get, scheme: "http", authority: "gis.example:80", path: "/")
        #expect(throws: Never.self) { try named.admit(request, from: client) }
    }

    @Test(
        "A host under which a program was admitted opens nothing to pages of other sites, nor makes what is passed on local"
    )
    func knownHost() throws {
        let policy = AccessPolicy(AccessRules(), host: "127.0.0.1", routes: RouteTable(instance: "arcgis"))
        let client = NetworkAddress("127.0.0.1")
        func request(_ fields: HTTPFields = [:], host: String = "localhost:8080") -> HTTPRequest {
            HTTPRequest(method: .get, scheme: "http", authority: host, path: "/", headerFields: fields)
        }
        for _ in 0..<2 {
            let visit = try policy.admit(request(), from: client)
            #expect(visit.address == "http://localhost:8080" && visit.isOfThisMachine)
        }
        #expect(throws: (any Error).self) { try policy.admit(request([.origin: "http://evil.example"]), from: client) }
        #expect(throws: (any Error).self) { try policy.admit(request([.secFetchSite: "cross-site"]), from: client) }
        #expect(throws: (any Error).self) { try policy.admit(request(host: "evil.example:8080"), from: client) }
        #expect(try !policy.admit(request([.forwardedFor: "192.0.2.7"]), from: client).isOfThisMachine)
        #expect(try !policy.admit(request(), from: NetworkAddress("192.0.2.7")).isOfThisMachine)
        for number in 0..<Limits.knownHosts + 8 {
            let host = "127.0.0.1:\(number + 1)"
            #expect(try policy.admit(request(host: host), from: client).address == "http://\(host)")
        }
    }

    @Test("The metrics are for this machine's programs, or for who has a key")
    func metrics() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-metrics-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "key")
        let key = try AdministrationKey.writeNew(to: file)
        let rules = AccessRules(
            hosts: [try #require(HostName("gis.example"))], proxies: [try #require(NetworkRange("127.0.0.2"))],
            metricsKey: try AdministrationKey(file: file))
        try await Self.serve(rules) { client in
            #expect(try await client.get("/metrics").status == 200)
            // A proxy on this machine asks for somebody else, also one that nobody has named.
            for headers in [[("Host", "gis.example")], [("X-Forwarded-For", "192.0.2.7")], [("Forwarded", "for=x")]] {
                let answer = try await client.get("/metrics", headers: headers)
                #expect(answer.status == 403 && answer.errorCode == 499)
                #expect(!answer.text.contains("fieldwork_requests"))
                let wrong = try await client.get("/metrics", headers: headers + [("Authorization", "Bearer \(key)0")])
                #expect(wrong.status == 403 && wrong.errorCode == 498)
                let right = try await client.get("/metrics", headers: headers + [("Authorization", "Bearer \(key)")])
                #expect(right.status == 200 && right.text.contains("fieldwork_requests_total"))
                #expect(try await client.get("/metrics", ["token": key], headers: headers).status == 200)
            }
        }
    }
}
