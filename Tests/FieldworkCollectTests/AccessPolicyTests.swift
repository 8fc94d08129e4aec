import HTTPTypes
import Testing

@testable import FieldworkCollect

@Suite struct AccessPolicyTests {
    private static let port = 8_081

    private static func policy() -> AccessPolicy {
        let policy = AccessPolicy()
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

    @Test func aPlainVisitToTheFrontDoorIsWelcome() {
        let request = Self.request(path: "/", fields: [(.secFetchSite, "none"), (.secFetchMode, "navigate")])
        #expect(Self.policy().decide(request, path: "/") == .welcome)
        #expect(Self.policy().decide(Self.request(path: "/"), path: "/") == .welcome)
    }

    @Test func theFrontDoorIsClosedToOtherSitesAndToScripts() {
        let cross = Self.request(path: "/", fields: [(.secFetchSite, "cross-site"), (.secFetchMode, "navigate")])
        #expect(Self.policy().decide(cross, path: "/") == .refuse(.crossSite))
        let sameMachine = Self.request(path: "/", fields: [(.secFetchSite, "same-site")])
        #expect(Self.policy().decide(sameMachine, path: "/") == .refuse(.crossSite))
        let script = Self.request(path: "/", fields: [(.secFetchSite, "same-origin"), (.secFetchMode, "cors")])
        #expect(Self.policy().decide(script, path: "/") == .refuse(.noKey))
    }

    @Test(arguments: ["/map", "/data/map", "/events", "/f/0/1", "/assets/x/js/app.js"])
    func everythingElseNeedsTheKey(path: String) {
        #expect(Self.policy().decide(Self.request(path: path), path: path) == .refuse(.noKey))
    }

    @Test func theKeyOpensAndAnotherStartsKeyDoesNot() {
        let policy = Self.policy()
        let mine = Self.request(fields: [(.cookie, "theme=dark; fieldwork-key=\(policy.key)")])
        #expect(policy.decide(mine, path: "/map") == .allow)
        #expect(Self.policy().decide(mine, path: "/map") == .refuse(.noKey))
    }

    @Test(arguments: ["evil.example:8081", "127.0.0.1", "127.0.0.1:8080", "localhost.evil.example:8081", ""])
    func anotherNameForThisAddressIsRefused(host: String) {
        let policy = Self.policy()
        let request = Self.request(host: host, fields: [(.cookie, "fieldwork-key=\(policy.key)")])
        #expect(policy.decide(request, path: "/map") == .refuse(.wrongHost))
    }

    @Test func aWriteNeedsItsOwnOriginAndTheKey() {
        let policy = Self.policy()
        let key = (HTTPField.Name.cookie, "fieldwork-key=\(policy.key)")
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
        #expect(AccessPolicy().decide(Self.request(path: "/"), path: "/") == .refuse(.notReady))
    }

    @Test func onlyAddressesOfThisMachineAreLoopback() {
        for host in ["127.0.0.1", "localhost", "::1", "127.1.2.3"] { #expect(AccessPolicy.isLoopback(host)) }
        for host in ["0.0.0.0", "192.168.0.1", "127.evil.example", "::"] { #expect(!AccessPolicy.isLoopback(host)) }
    }

    @Test func keysAreLongAndNeverTheSame() {
        let keys = Set((0..<50).map { _ in AccessPolicy().key })
        #expect(keys.count == 50)
        #expect(keys.allSatisfy { $0.count == 64 })
    }

    @Test func theCookieIsOutOfReachOfScriptsAndOtherSites() {
        let cookie = AccessPolicy().cookie
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
