import AsyncHTTPClient
import Crypto
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@testable import FieldworkPortal
@testable import FieldworkServer

/// Sign-ins by an outside provider, over HTTP on both sides, as a browser does them.
@Suite("Signing in by a provider", .fewAtATime)
struct ProviderSignInTests {
    private static let oauth = "/arcgis/sharing/rest/oauth2"
    private static let redirect = "http://127.0.0.1:4711/back"
    private static let verifier = "0123456789abcdef0123456789abcdef0123456789ab"
    private static let author = Author(name: "test", address: "")

    /// A provider, and a server that knows it.
    private static func with(
        _ kind: TestProvider.KeyKind = .ec, newcomers: Role? = nil, links: Bool = true,
        keyInterval: Duration = .zero, patience: Duration = .seconds(FieldworkServer.Limits.providerSeconds),
        _ test: @escaping @Sendable (TestProvider, PeopleServer) async throws -> Void
    ) async throws {
        try await TestProvider.with(kind) { provider in
            var settings = try ProviderSettings(
                issuer: provider.issuer, clientID: TestProvider.clientID, clientSecret: TestProvider.clientSecret,
                label: "Example & Sons", newcomers: newcomers)
            settings.keyInterval = keyInterval
            settings.patience = patience
            try await PeopleServer.with(provider: settings) { people in
                if links {
                    try await people.portal.link(
                        OutsideIdentity(issuer: provider.issuer, subject: provider.subject), to: "editor", by: author)
                }
                try await test(provider, people)
            }
        }
    }

    // MARK: A browser

    private struct Journey {
        var callback: String
        var cookie: String
    }

    /// Opens the page on which people sign in.
    private static func page(_ people: PeopleServer, client: String = "fieldwork") async throws -> TestClient.Answer {
        let challenge = Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return try await people.client.get(
            "\(oauth)/authorize",
            [
                "client_id": client, "response_type": "code", "redirect_uri": redirect, "state": "a&b",
                "code_challenge": challenge, "code_challenge_method": "S256",
            ])
    }

    /// Follows the link of the page.
    private static func begin(_ people: PeopleServer, _ page: TestClient.Answer) async throws -> TestClient.Answer {
        let text = page.text
        let start = try #require(text.range(of: "href=\"\(oauth)/provider?"))
        let end = try #require(text[start.upperBound...].firstIndex(of: "\""))
        return try await people.client.get(String(text[text.index(start.lowerBound, offsetBy: 6)..<end]))
    }

    /// Goes to the provider, where the person signs in, up to where the provider sends the browser.
    private static func visit(_ sent: TestClient.Answer) async throws -> Journey {
        #expect(sent.status == 302, "\(sent.text)")
        let location = try #require(sent.header("Location"))
        let cookie = try #require(sent.header("Set-Cookie"))
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "\(cookie)")
        let answer = try await TestClient.http.execute(HTTPClientRequest(url: location), timeout: .seconds(30))
        #expect(answer.status == .found)
        let back = try #require(answer.headers.first(name: "Location"))
        let path = try #require(back.range(of: "/arcgis/"))
        return Journey(
            callback: String(back[path.lowerBound...]), cookie: String(cookie.prefix { $0 != ";" }))
    }

    private static func finish(_ people: PeopleServer, _ journey: Journey, cookie: String? = nil) async throws
        -> TestClient.Answer
    {
        try await people.client.send("GET", journey.callback, headers: [("Cookie", cookie ?? journey.cookie)])
    }

    private static func signIn(_ people: PeopleServer, client: String = "fieldwork") async throws -> TestClient.Answer {
        let sent = try await begin(people, try await page(people, client: client))
        return try await finish(people, try await visit(sent))
    }

    /// The token that an application gets for the code of an answer.
    private static func token(_ people: PeopleServer, _ answer: TestClient.Answer) async throws -> JSONValue {
        #expect(answer.status == 302, "\(answer.text)")
        let location = try #require(answer.header("Location"))
        #expect(location.hasPrefix(redirect + "?"))
        let mark = try #require(location.firstIndex(of: "?"))
        let fields = RequestParameters(try FormURLEncoded.fields(location[location.index(after: mark)...].utf8))
        #expect(fields["state"] == "a&b")
        return try await people.client.post(
            "\(oauth)/token",
            [
                "grant_type": "authorization_code", "client_id": "fieldwork", "code": try #require(fields["code"]),
                "redirect_uri": redirect, "code_verifier": verifier, "f": "json",
            ]
        ).json
    }

    /// A page that says why nobody was signed in, and that nobody was.
    private static func expectRefusal(
        _ people: PeopleServer, _ answer: TestClient.Answer, _ words: String, audit: String? = nil
    ) async throws {
        #expect(answer.status == 200 && answer.header("Location") == nil)
        #expect(answer.text.contains(words), "\(answer.text)")
        #expect(!(answer.header("Set-Cookie") ?? "").contains("fieldwork_session"))
        let entry = try #require(try await people.portal.audit(count: 1).first)
        #expect(entry.action == "signIn.failed", "\(entry)")
        if let audit { #expect(entry.details.contains(audit), "\(entry.details)") }
    }

    // MARK: Good sign-ins

    @Test(
        "A linked person signs in by the provider, and an application gets tokens",
        arguments: TestProvider.KeyKind.allCases)
    func goodSignIn(kind: TestProvider.KeyKind) async throws {
        try await Self.with(kind) { provider, people in
            let page = try await Self.page(people)
            #expect(page.text.contains("Sign in with Example &amp; Sons"))
            let sent = try await Self.begin(people, page)
            let location = try #require(sent.header("Location"))
            #expect(location.hasPrefix("\(provider.issuer)/authorize?"))
            #expect(location.contains("code_challenge_method=S256") && !location.contains(TestProvider.clientSecret))
            let json = try await Self.token(
                people, try await Self.finish(people, try await Self.visit(sent)))
            #expect(json["username"] == "editor", "\(json)")
            let access = try #require(json["access_token"]?.stringValue)
            #expect(
                try await people.client.get("Trees/FeatureServer", ["f": "json", "token": access]).errorCode == nil)
            let entry = try #require(try await people.portal.audit(count: 10).first { $0.action == "signIn" })
            #expect(entry.actor == "editor" && entry.details == provider.issuer)
        }
    }

    @Test("The portal's own pages open by a cookie, which is good for nothing after the sign-out")
    func session() async throws {
        try await Self.with { _, people in
            let answer = try await Self.signIn(people, client: "home")
            #expect(answer.status == 302 && answer.header("Location") == "/arcgis/home", "\(answer.text)")
            let cookies = answer.headers["Set-Cookie"]
            let session = try #require(cookies.first { $0.hasPrefix("fieldwork_session=") }).prefix { $0 != ";" }
            #expect(cookies.contains { $0.hasPrefix("fieldwork_provider=;") && $0.contains("Max-Age=0") })
            let headers = [("Cookie", String(session))]
            #expect(try await people.client.get("/arcgis/home", headers: headers).text.contains("Sign out"))
            _ = try await people.client.send("POST", "\(Self.oauth)/signout", headers: headers, body: [])
            #expect(try await !people.client.get("/arcgis/home", headers: headers).text.contains("Sign out"))
        }
    }

    @Test("A server without a provider offers none, and takes nobody in by one")
    func withoutProvider() async throws {
        try await PeopleServer.with { people in
            #expect(try await !Self.page(people).text.contains("/provider?"))
            for path in ["provider?oauth_state=x", "provider/callback?state=x&code=y"] {
                let answer = try await people.client.get("\(Self.oauth)/\(path)")
                #expect(answer.status == 200 && answer.text.contains("There is no provider"))
            }
        }
    }

    // MARK: Replay and foreign browsers

    @Test("An answer of the provider is good once")
    func replay() async throws {
        try await Self.with { provider, people in
            let journey = try await Self.visit(try await Self.begin(people, try await Self.page(people)))
            #expect(try await Self.finish(people, journey).status == 302)
            let again = try await Self.finish(people, journey)
            #expect(again.status == 200 && again.text.contains("finished already"))
            #expect(provider.count("/token") == 1)
        }
    }

    @Test("An answer of the provider is worth nothing in another browser", arguments: ["", "fieldwork_provider=x"])
    func otherBrowser(cookie: String) async throws {
        try await Self.with { provider, people in
            let journey = try await Self.visit(try await Self.begin(people, try await Self.page(people)))
            let answer = try await Self.finish(people, journey, cookie: cookie)
            #expect(answer.status == 200 && answer.text.contains("another browser"))
            #expect(provider.count("/token") == 0)
            // Nor in the right one afterwards.
            #expect(try await Self.finish(people, journey).status == 200)
        }
    }

    @Test("What is kept of a sign-in that is under way lets nobody else finish it")
    func stolenDatabase() async throws {
        try await Self.with { _, people in
            let sent = try await Self.begin(people, try await Self.page(people))
            let journey = try await Self.visit(sent)
            let secret = String(journey.cookie.drop { $0 != "=" }.dropFirst())
            let location = try #require(sent.header("Location"))
            let rows = try await people.portal.keptSecrets()
            #expect(rows.contains { $0.contains("provider") })
            #expect(!rows.contains { $0.contains(secret) || location.contains("state=\($0)&") })
        }
    }

    @Test("A name of the form's page is no name of a journey, and the other way round")
    func mixedNames() async throws {
        try await Self.with { _, people in
            let page = try await Self.page(people)
            let start = try #require(page.text.range(of: "oauth_state\" value=\""))
            let state = page.text[start.upperBound...].prefix { $0 != "\"" }
            let answer = try await people.client.get("\(Self.oauth)/provider/callback?state=\(state)&code=x")
            #expect(answer.text.contains("finished already"))
            let journey = try await Self.visit(try await Self.begin(people, try await Self.page(people)))
            let mark = try #require(journey.callback.range(of: "state="))
            let name = String(journey.callback[mark.upperBound...].prefix { $0 != "&" })
            let signIn = try await people.client.post(
                "\(Self.oauth)/signin",
                ["oauth_state": name, "username": "owner", "password": PeopleServer.password])
            #expect(signIn.text.contains("Invalid oauth_state"))
        }
    }

    // MARK: Bad tokens and bad providers

    @Test("A token that breaks a rule signs nobody in", arguments: TestProvider.Fault.ofTokens)
    func badTokens(fault: TestProvider.Fault) async throws {
        for kind in [TestProvider.KeyKind.rsa, .ec] {
            try await Self.with(kind) { provider, people in
                provider.fault = fault
                let answer = try await Self.signIn(people)
                try await Self.expectRefusal(people, answer, "Example &amp; Sons has not signed you in.")
                #expect(provider.count("/token") == 1)
                provider.fault = .none
                #expect(try await Self.signIn(people).status == 302, "the next sign-in is good")
            }
        }
    }

    @Test(
        "A provider that fails signs nobody in, and is told from one that refuses",
        arguments: TestProvider.Fault.ofProviders)
    func badProviders(fault: TestProvider.Fault) async throws {
        try await Self.with(patience: .milliseconds(500)) { provider, people in
            provider.fault = fault
            let clock = ContinuousClock.now
            let answer = try await Self.signIn(people)
            let words =
                fault == .refusing
                ? "Example &amp; Sons has not signed you in." : "Example &amp; Sons does not answer as it should."
            try await Self.expectRefusal(people, answer, words)
            #expect(clock.duration(to: .now) < .seconds(20))
            #expect(provider.count("/stolen") == 0, "no redirect is followed")
        }
    }

    @Test(
        "A description of another issuer, or with an address that is not over TLS, is not used",
        arguments: [TestProvider.Fault.otherIssuer, .plainAddress])
    func badDescriptions(fault: TestProvider.Fault) async throws {
        try await Self.with { provider, people in
            provider.fault = fault
            let answer = try await Self.begin(people, try await Self.page(people))
            try await Self.expectRefusal(people, answer, "does not answer as it should.")
        }
    }

    @Test("A provider that is down is said to be, and people with passwords sign in all the same")
    func down() async throws {
        try await Self.with { provider, people in
            provider.fault = .down
            let answer = try await Self.begin(people, try await Self.page(people))
            try await Self.expectRefusal(people, answer, "does not answer as it should.")
            #expect(answer.text.contains("name=\"password\""))
        }
    }

    @Test("Somebody who turns back at the provider is asked again")
    func denied() async throws {
        try await Self.with { _, people in
            var journey = try await Self.visit(try await Self.begin(people, try await Self.page(people)))
            let state = try #require(journey.callback.range(of: "state="))
            let name = journey.callback[state.upperBound...].prefix { $0 != "&" }
            journey.callback = "\(Self.oauth)/provider/callback?state=\(name)&error=access_denied"
            try await Self.expectRefusal(
                people, try await Self.finish(people, journey), "has not signed you in.", audit: "access_denied")
        }
    }

    // MARK: Keys

    @Test("A new key of the provider is fetched when a token names it")
    func rotation() async throws {
        try await Self.with { provider, people in
            #expect(try await Self.signIn(people).status == 302)
            #expect(try await Self.signIn(people).status == 302)
            #expect(provider.count("/keys") == 1, "known keys are not asked for again")
            try provider.rotate(.rsa)
            #expect(try await Self.signIn(people).status == 302)
            #expect(provider.count("/keys") == 2)
        }
    }

    @Test("Tokens of unknown keys don't make the server ask for keys again and again")
    func limitedFetches() async throws {
        try await Self.with(keyInterval: .seconds(600)) { provider, people in
            #expect(try await Self.signIn(people).status == 302)
            try provider.rotate()
            for _ in 0..<3 {
                try await Self.expectRefusal(people, try await Self.signIn(people), "has not signed you in.")
            }
            #expect(provider.count("/keys") == 1)
        }
    }

    // MARK: People

    @Test("Somebody who is not known is refused and told by what name an administrator can link him")
    func unknownPerson() async throws {
        try await Self.with(links: false) { provider, people in
            provider.say(["preferred_username": "editor", "email": "editor@example.org", "email_verified": true])
            let answer = try await Self.signIn(people)
            try await Self.expectRefusal(people, answer, provider.subject, audit: "not known here")
            #expect(try await people.portal.people().total == 4)
            let identity = OutsideIdentity(issuer: provider.issuer, subject: provider.subject)
            try await people.portal.link(identity, to: "viewer", by: Self.author)
            #expect(try await Self.token(people, try await Self.signIn(people))["username"] == "viewer")
            await #expect(throws: PortalError.self) {
                try await people.portal.link(identity, to: "owner", by: Self.author)
            }
            let token = try await people.token("viewer")
            try await people.portal.unlink(identity, from: "viewer", by: Self.author)
            #expect(try await people.client.get("Trees/FeatureServer", ["f": "json", "token": token]).errorCode == 498)
            try await Self.expectRefusal(people, try await Self.signIn(people), provider.subject)
        }
    }

    @Test(
        "Newcomers get the role that the operator has given them, and nobody else's account by a name or a mail address"
    )
    func newcomers() async throws {
        try await Self.with(newcomers: .viewer, links: false) { provider, people in
            provider.say([
                "preferred_username": "owner", "email": "administrator@example.org", "email_verified": true,
                "name": "Olga Wner",
            ])
            let json = try await Self.token(people, try await Self.signIn(people))
            #expect(json["username"] == "owner-2", "\(json)")
            let person = try #require(try await people.portal.person(named: "owner-2"))
            #expect(person.roleID == Role.viewer.id && person.fullName == "Olga Wner")
            // The same person under another name is the same person.
            provider.say(["preferred_username": "renamed"])
            #expect(try await Self.token(people, try await Self.signIn(people))["username"] == "owner-2")
            #expect(try await people.portal.people().total == 5)
            // Nobody guesses the password of a person who has none.
            for password in ["", "owner-2"] {
                await #expect(throws: PortalError.self) {
                    try await people.portal.signIn("owner-2", password: password, from: "test")
                }
            }
            #expect(try await people.portal.peopleWithCheapPasswords().contains("owner-2") == false)
            try await people.portal.removePerson("owner-2", leavingTo: nil, by: Self.author)
            #expect(try await Self.token(people, try await Self.signIn(people))["username"] == "renamed")
        }
    }

    @Test("A disabled person is not let in, also where newcomers are")
    func disabled() async throws {
        try await Self.with(newcomers: .viewer) { _, people in
            try await people.portal.setDisabled(true, "editor", by: Self.author)
            try await Self.expectRefusal(people, try await Self.signIn(people), "disabled", audit: "disabled")
            #expect(try await people.portal.people().total == 4)
        }
    }

    @Test(
        "A provider is reached over TLS, or on this machine",
        arguments: [
            "http://gis.example", "ftp://127.0.0.1", "https://", "https://a b", "https://ana:secret@gis.example",
            "http://127.0.0.1.example", "https://gis.example?x=1", "https://gis.example#x",
        ])
    func addresses(address: String) {
        #expect(throws: PortalError.self) {
            try ProviderSettings(issuer: address, clientID: "c", clientSecret: nil)
        }
    }

    @Test("Newcomers are never administrators")
    func newcomersRole() {
        #expect(throws: PortalError.self) {
            try ProviderSettings(
                issuer: "https://gis.example", clientID: "c", clientSecret: nil, newcomers: .administrator)
        }
        #expect(throws: Never.self) {
            try ProviderSettings(
                issuer: "https://gis.example/realms/field", clientID: "c", clientSecret: nil, newcomers: .publisher)
        }
    }
}

extension Portal {
    /// What the database keeps of sign-ins that are under way.
    fileprivate func keptSecrets() async throws -> [String] {
        try await records.read { records in
            try records.rows("SELECT hash, redirect FROM {tokens} WHERE kind = 'state'").flatMap { row in
                [row.text(0), row.text(1)].compactMap { $0 }
            }
        }
    }
}
