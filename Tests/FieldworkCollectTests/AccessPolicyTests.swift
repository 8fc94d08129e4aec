import HTTPTypes
import Testing

@testable import FieldworkCollect

@Suite struct AccessPolicyTests {
    private static let port = 8_081

    private static func policy() -> AccessPolicy {
        let policy = AccessPolicy(key: PageKey.make())
        policy.bind(port: port)
        return policy
    }

    private static func request(
        _ method: HTTPRequest.Method = .get, path: String = "/map", host: String = "127.0.0.1:8081",
        fields: [(HTTPField.Name, String)] = []
    ) -> HTTPRequest {
        var request = HTTPRequest(method: method, scheme: "http", authority: host, path: path)
        for (name, value) in fields { request.headerFields.append(HTTPField(name: name, value: value)) }
        return request
    }

    private typealias Fields = [(HTTPField.Name, String)]

    @Test("The address with the key is welcome, typed or followed from a terminal")
    func theKeyInTheAddressOpens() {
        let policy = Self.policy()
        for fields in [[], [(.secFetchSite, "none"), (.secFetchMode, "navigate")]] as [Fields] {
            #expect(policy.decide(Self.request(path: "/", fields: fields), path: "/", offered: policy.key) == .welcome)
        }
    }

    @Test("The first page without the key, or with another one, is refused")
    func theFrontDoorNeedsTheKey() {
        let policy = Self.policy()
        let plain = Self.request(path: "/")
        #expect(policy.decide(plain, path: "/") == .refuse(.noKey))
        for wrong in [PageKey.make(), "", String(policy.key.dropLast()), policy.key + "0", policy.key.uppercased()] {
            #expect(policy.decide(plain, path: "/", offered: wrong) == .refuse(.wrongKey))
        }
    }

    @Test("Other sites and scripts don't get the cookie, even with the key")
    func theFrontDoorIsClosedToOtherSitesAndToScripts() {
        let policy = Self.policy()
        let cross = Self.request(path: "/", fields: [(.secFetchSite, "cross-site"), (.secFetchMode, "navigate")])
        #expect(policy.decide(cross, path: "/", offered: policy.key) == .refuse(.crossSite))
        let sameMachine = Self.request(path: "/", fields: [(.secFetchSite, "same-site")])
        #expect(policy.decide(sameMachine, path: "/", offered: policy.key) == .refuse(.crossSite))
        let script = Self.request(path: "/", fields: [(.secFetchSite, "same-origin"), (.secFetchMode, "cors")])
        #expect(policy.decide(script, path: "/", offered: policy.key) == .refuse(.wrongKey))
        #expect(policy.decide(Self.request(), path: "/map", offered: policy.key) == .refuse(.wrongKey))
        #expect(policy.decide(Self.request(.post, path: "/"), path: "/", offered: policy.key) == .refuse(.wrongOrigin))
    }

    @Test("Style sheets are answered without the key, for the page that explains a refusal; other assets are not")
    func styleSheetsAreNoSecret() {
        let policy = Self.policy()
        let path = "/assets/x/css/app.css"
        #expect(policy.decide(Self.request(path: path), path: path) == .allow)
        #expect(policy.decide(Self.request(path: path, host: "evil.example:8081"), path: path) == .allow)
        let cross = Self.request(path: path, fields: [(.secFetchSite, "cross-site")])
        #expect(policy.decide(cross, path: path) == .refuse(.crossSite))
        #expect(policy.decide(Self.request(.post, path: path), path: path) == .refuse(.wrongOrigin))
        for other in ["/data/app.css", "/assets/x/js/app.js", "/map/x.css"] {
            #expect(policy.decide(Self.request(path: other), path: other) == .refuse(.noKey))
        }
    }

    @Test(arguments: ["/map", "/data/map", "/events", "/f/0/1", "/assets/x/js/app.js"])
    func everythingElseNeedsTheKey(path: String) {
        #expect(Self.policy().decide(Self.request(path: path), path: path) == .refuse(.noKey))
    }

    @Test func theKeyOpensAndAnotherStartsKeyDoesNot() {
        let policy = Self.policy()
        let other = Self.request(fields: [(.cookie, "fieldwork-key-8082=\(policy.key)")])
        #expect(policy.decide(other, path: "/map") == .refuse(.noKey), "the cookie of another port")
        let mine = Self.request(fields: [(.cookie, "theme=dark; fieldwork-key-8081=\(policy.key)")])
        #expect(policy.decide(mine, path: "/map") == .allow)
        #expect(Self.policy().decide(mine, path: "/map") == .refuse(.noKey))
    }

    @Test(arguments: [0, 1, 63]) func aPartOfTheKeyOpensNothing(count: Int) {
        let policy = Self.policy()
        let part = Self.request(fields: [(.cookie, "fieldwork-key-8081=\(policy.key.prefix(count))")])
        #expect(policy.decide(part, path: "/map") == .refuse(.noKey))
        let longer = Self.request(fields: [(.cookie, "fieldwork-key-8081=\(policy.key)0")])
        #expect(policy.decide(longer, path: "/map") == .refuse(.noKey))
    }

    @Test(arguments: ["evil.example:8081", "127.0.0.1", "127.0.0.1:8080", "localhost.evil.example:8081", ""])
    func anotherNameForThisAddressIsRefused(host: String) {
        let policy = Self.policy()
        let request = Self.request(host: host, fields: [(.cookie, "fieldwork-key-8081=\(policy.key)")])
        #expect(policy.decide(request, path: "/map") == .refuse(.wrongHost))
    }

    @Test func aWriteNeedsItsOwnOriginAndTheKey() {
        let policy = Self.policy()
        let key = (HTTPField.Name.cookie, "fieldwork-key-8081=\(policy.key)")
        let own = (HTTPField.Name.origin, "http://127.0.0.1:8081")
        #expect(policy.decide(Self.request(.post, fields: [key, own]), path: "/sync") == .allow)
        #expect(policy.decide(Self.request(.post, fields: [key]), path: "/sync") == .refuse(.wrongOrigin))
        #expect(policy.decide(Self.request(.post, fields: [own]), path: "/sync") == .refuse(.noKey))
        for origin in ["http://evil.example", "null", "http://127.0.0.1:8080", "https://127.0.0.1:8081"] {
            let foreign = Self.request(.post, fields: [key, (.origin, origin)])
            #expect(policy.decide(foreign, path: "/sync") == .refuse(.wrongOrigin))
        }
    }

    @Test func nothingIsAnsweredBeforeThePortIsKnown() {
        let policy = AccessPolicy(key: PageKey.make())
        #expect(policy.decide(Self.request(path: "/"), path: "/", offered: policy.key) == .refuse(.notReady))
    }

    @Test func onlyAddressesOfThisMachineAreLoopback() {
        for host in ["127.0.0.1", "localhost", "::1", "127.1.2.3"] { #expect(AccessPolicy.isLoopback(host)) }
        for host in ["0.0.0.0", "192.168.0.1", "127.evil.example", "::"] { #expect(!AccessPolicy.isLoopback(host)) }
    }

    @Test func keysAreLongAndNeverTheSame() {
        let keys = Set((0..<50).map { _ in PageKey.make() })
        #expect(keys.count == 50)
        #expect(keys.allSatisfy { $0.count == 64 })
    }

    @Test func theCookieIsOutOfReachOfScriptsAndOtherSites() {
        let cookie = Self.policy().cookie
        #expect(cookie.hasPrefix("fieldwork-key-8081="))
        #expect(cookie.contains("HttpOnly"))
        #expect(cookie.contains("SameSite=Strict"))
    }

    @Test func theContentPolicyAllowsNothingInlineAndNothingFromElsewhere() {
        let policy = SecurityHeaders.contentPolicy
        #expect(policy.hasPrefix("default-src 'none'"))
        #expect(policy.contains("script-src 'self';"))
        #expect(policy.contains("style-src 'self';"))
        #expect(policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe"))
        #expect(!policy.contains("http:") && !policy.contains("https:") && !policy.contains("*"))
    }
}
