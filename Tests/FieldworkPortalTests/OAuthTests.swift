import TestSupport
import Testing

@testable import FieldworkPortal

@Suite("OAuth 2.0", .fewAtATime)
struct OAuthTests {
    private static let redirect = "http://127.0.0.1:4711/back"
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    /// Of RFC 7636, appendix B.
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    private static func code(
        _ portal: TemporaryPortal, challenge: String? = Self.challenge, client: String = "fieldwork"
    ) async throws -> String {
        let client = try #require(try await portal.portal.client(client))
        return try await portal.portal.issueCode(to: "ana", client: client, redirect: redirect, challenge: challenge)
    }

    private static func exchange(
        _ portal: TemporaryPortal, _ code: String, client: String = "fieldwork", redirect: String = Self.redirect,
        verifier: String? = Self.verifier, secret: String? = nil
    ) async throws -> Grant {
        try await portal.portal.exchange(
            code: code, client: client, redirect: redirect, verifier: verifier, secret: secret, seconds: nil,
            by: TemporaryPortal.author)
    }

    @Test("A challenge is the hash of its verifier, as the standard's example has it")
    func challenges() { #expect(Secret.challenge(Self.verifier) == Self.challenge) }

    @Test("A code is exchanged once, by the verifier of its challenge", arguments: TemporaryPortal.kinds)
    func exchanged(_ kind: TemporaryPortal.Kind) async throws {
        try await TemporaryPortal.with(kind) { portal in
            try await portal.add("Ana", .publisher)
            let code = try await Self.code(portal)
            let grant = try await Self.exchange(portal, code)
            #expect(grant.access.person == "Ana")
            #expect(grant.access.expires == portal.portal.now + Limits.accessTokenSeconds * 1_000)
            #expect(try await portal.portal.principal(token: grant.access.token).name == "Ana")
            await #expect(throws: PortalError.self) { try await portal.portal.principal(token: code) }
            let refresh = try #require(grant.refresh)
            await #expect(throws: PortalError.self) { try await portal.portal.principal(token: refresh.token) }
        }
    }

    @Test("A code that comes twice ends what it was exchanged for")
    func replay() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .publisher)
            let code = try await Self.code(portal)
            let grant = try await Self.exchange(portal, code)
            await #expect(throws: PortalError.self) { try await Self.exchange(portal, code) }
            await #expect(throws: PortalError.self) {
                try await portal.portal.principal(token: grant.access.token)
            }
            let refresh = try #require(grant.refresh?.token)
            await #expect(throws: PortalError.self) {
                try await portal.portal.refresh(refresh, client: "fieldwork", exchanges: false, by: .commandLine)
            }
        }
    }

    @Test("A code is worth nothing with another verifier, client or address, without a verifier, or too late")
    func wrong() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .publisher)
            await #expect(throws: PortalError.self) {
                try await Self.exchange(portal, try await Self.code(portal), verifier: Self.verifier + "x")
            }
            await #expect(throws: PortalError.self, "no downgrade") {
                try await Self.exchange(portal, try await Self.code(portal), verifier: nil)
            }
            await #expect(throws: PortalError.self, "a challenge that was not sent can't be met") {
                try await Self.exchange(portal, try await Self.code(portal, challenge: nil))
            }
            await #expect(throws: PortalError.self) {
                try await Self.exchange(portal, try await Self.code(portal), client: "qgis")
            }
            await #expect(throws: PortalError.self) {
                try await Self.exchange(portal, try await Self.code(portal), redirect: "http://127.0.0.1:4712/back")
            }
            let late = try await Self.code(portal)
            portal.pass(seconds: Double(Limits.codeSeconds) + 1)
            await #expect(throws: PortalError.self) { try await Self.exchange(portal, late) }
            let failed = try await Self.code(portal)
            _ = try? await Self.exchange(portal, failed, verifier: "wrong")
            await #expect(throws: PortalError.self, "a code is good for one attempt") {
                try await Self.exchange(portal, failed)
            }
        }
    }

    @Test("An application with a secret exchanges a code without a challenge, and gets a token for itself")
    func secret() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .publisher)
            let made = try await portal.portal.addApp(
                title: "Reports", redirects: [Self.redirect], owner: "ana", for: .everybody, by: TemporaryPortal.author)
            let id = made.app.client.id
            await #expect(throws: PortalError.self) {
                try await Self.exchange(
                    portal, try await Self.code(portal, challenge: nil, client: id), client: id, verifier: nil,
                    secret: "wrong")
            }
            let code = try await Self.code(portal, challenge: nil, client: id)
            let grant = try await Self.exchange(portal, code, client: id, verifier: nil, secret: made.secret)
            #expect(grant.access.person == "ana")
            let own = try await portal.portal.credentials(client: id, secret: made.secret, seconds: 60)
            let principal = try await portal.portal.principal(token: own.token)
            #expect(principal.kind == .application && !principal.has(.edit))
            await #expect(throws: PortalError.self) {
                try await portal.portal.credentials(client: id, secret: "wrong", seconds: 60)
            }
        }
    }

    @Test("A refresh token that was exchanged is taken again for a minute: the answer may have been lost")
    func lostAnswer() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .publisher)
            let first = try #require(try await Self.exchange(portal, try await Self.code(portal)).refresh?.token)
            func exchange(_ token: String) async throws -> Grant {
                try await portal.portal.refresh(token, client: "fieldwork", exchanges: true, by: .commandLine)
            }
            let second = try #require(try await exchange(first).refresh?.token)
            portal.pass(seconds: Double(Limits.exchangeGraceSeconds))
            _ = try await exchange(first)
            let third = try #require(try await exchange(second).refresh?.token)
            portal.pass(seconds: 1)
            await #expect(throws: PortalError(.invalidToken, "refresh_token expired")) { try await exchange(first) }
            await #expect(throws: PortalError.self, "whoever has a used one so late may have stolen it: all end") {
                try await exchange(third)
            }
        }
    }

    @Test("A refresh token is good for its own application, with its secret where one is sent, and until it expires")
    func refreshTokens() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .publisher)
            let second = try #require(try await Self.exchange(portal, try await Self.code(portal)).refresh?.token)
            func exchange(_ token: String, secret: String? = nil) async throws -> Grant {
                try await portal.portal.refresh(
                    token, client: "fieldwork", exchanges: true, secret: secret, by: .commandLine)
            }
            await #expect(throws: PortalError.self) { try await exchange(second, secret: "wrong") }
            await #expect(throws: PortalError.self, "it belongs to another application") {
                try await portal.portal.refresh(second, client: "qgis", exchanges: false, by: .commandLine)
            }
            portal.pass(seconds: Double(Limits.refreshTokenSeconds) + 1)
            await #expect(throws: PortalError.self) { try await exchange(second) }
        }
    }

    @Test("Whoever signs out ends the refresh token and what was got by it")
    func signOut() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .publisher)
            let grant = try await Self.exchange(portal, try await Self.code(portal))
            let refresh = try #require(grant.refresh?.token)
            try await portal.portal.revoke(refresh, by: TemporaryPortal.author)
            await #expect(throws: PortalError.self) { try await portal.portal.principal(token: grant.access.token) }
            try await portal.portal.revoke("unknown", by: TemporaryPortal.author)
        }
    }

    @Test("A person is sent back only to registered addresses")
    func redirects() throws {
        let known = try #require(OAuthClient.wellKnown.first { $0.id == "pythonapi" })
        let own = "https://gis.example"
        for address in [
            OAuthClient.outOfBand, "http://127.0.0.1:9999/callback", "http://localhost:1/", "https://gis.example",
            "https://gis.example/", "fieldwork://auth",
        ] {
            #expect(known.allows(address, own: own), "\(address)")
        }
        for address in [
            "https://evil.example", "https://gis.example.evil", "http://127.0.0.1.evil:80/",
            "https://gis.example@evil/",
            "http://localhost@evil/", "javascript:alert(1)", "http://127.0.0.1#x", "http://127.0.0.1\\@evil/", "",
            "fieldwork://auth2", "http://127.0.0.1\n.evil/",
        ] {
            #expect(!known.allows(address, own: own), "\(address)")
        }
        let registered = OAuthClient(
            id: "x", title: "X", owner: "ana", redirects: ["http://localhost/back", "app.example://back"],
            isConfidential: false)
        #expect(registered.allows("http://localhost:81/back", own: own))
        #expect(registered.allows("app.example://back", own: own))
        #expect(!registered.allows("http://localhost:81/other", own: own))
        #expect(!registered.allows(own, own: own))
    }

    @Test(
        "Addresses that nobody can be sent to safely are not registered",
        arguments: [
            "http://app.example/back", "javascript:alert(1)", "data:text/html,x", "https://*.example", "x",
            "https:evil",
            "https://", "https://app.example@evil.example/", "intent://x", "1app://back",
            "http://127.0.0.1@evil.example/",
            "https://app.example/#x",
        ])
    func refused(_ address: String) async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .publisher)
            await #expect(throws: PortalError.self) {
                try await portal.portal.addApp(
                    title: "App", redirects: [address], owner: "ana", for: .everybody, by: TemporaryPortal.author)
            }
            let items = try await portal.portal.search("", for: .everybody)
            #expect(items.total == 0, "no item of an application that was not registered")
        }
    }

    @Test("What an application asked for is kept under a name that is good once")
    func states() async throws {
        try await TemporaryPortal.with { portal in
            let name = try await portal.portal.keepState("{\"a\":1}")
            #expect(try await portal.portal.takeState(name) == "{\"a\":1}")
            #expect(try await portal.portal.takeState(name) == nil)
            let late = try await portal.portal.keepState("{}")
            portal.pass(seconds: Double(Limits.stateSeconds) + 1)
            #expect(try await portal.portal.takeState(late) == nil)
        }
    }
}
