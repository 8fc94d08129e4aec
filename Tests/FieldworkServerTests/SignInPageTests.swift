import Crypto
import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// OAuth over HTTP, as a browser and an application do it.
@Suite("Signing in to applications", .fewAtATime)
struct SignInPageTests {
    private static let oauth = "/arcgis/sharing/rest/oauth2"
    private static let redirect = "http://127.0.0.1:4711/back"
    private static let verifier = "0123456789abcdef0123456789abcdef0123456789ab"

    private static var challenge: String {
        Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString().replacing("+", with: "-")
            .replacing("/", with: "_").replacing("=", with: "")
    }

    /// A client that a redirect does not lead anywhere.
    private static func authorize(
        _ people: PeopleServer, client: String = "fieldwork", redirect: String = Self.redirect, type: String = "code",
        method: String = "S256", state: String = "{\"id\":\"a b\",\"originalUrl\":\"http://x/?y=1&z\"}"
    ) async throws -> TestClient.Answer {
        try await people.client.get(
            "\(oauth)/authorize",
            [
                "client_id": client, "response_type": type, "redirect_uri": redirect, "state": state,
                "code_challenge": challenge, "code_challenge_method": method, "expiration": "20160",
            ])
    }

    /// The name of what was asked for, as the Python client finds it in the page: the first object.
    private static func state(_ page: String) throws -> String {
        let start = try #require(page.firstIndex(of: "{"))
        let end = try #require(page[start...].firstIndex(of: "}"))
        let json = try JSONParser.parse(String(page[start...end]))
        return try #require(json["oauth_state"]?.stringValue)
    }

    private static func signIn(
        _ people: PeopleServer, _ state: String, password: String = PeopleServer.password,
        path: String = "\(Self.oauth)/signin"
    ) async throws -> TestClient.Answer {
        try await people.client.post(
            path, ["oauth_state": state, "username": "owner", "password": password, "authorize": "true"])
    }

    private static func query(_ location: String, after mark: Character = "?") throws -> RequestParameters {
        let start = try #require(location.firstIndex(of: mark))
        return RequestParameters(try FormURLEncoded.fields(location[location.index(after: start)...].utf8))
    }

    @Test("A person signs in on the page, and the application gets its tokens and the state byte for byte")
    func wholeFlow() async throws {
        try await PeopleServer.with { people in
            let page = try await Self.authorize(people)
            #expect(page.header("Content-Type")?.hasPrefix("text/html") == true)
            let policy = try #require(page.header("Content-Security-Policy"))
            #expect(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"))
            #expect(policy.contains("form-action 'self' http://127.0.0.1:4711;"), "\(policy)")
            #expect(page.header("Cache-Control") == "no-store")
            // With no-referrer a browser sends the form with the origin "null", which is refused.
            #expect(page.header("Referrer-Policy") == "same-origin")
            let sent = try await Self.signIn(people, try Self.state(page.text))
            #expect(sent.status == 302, "\(sent.text)")
            let location = try #require(sent.header("Location"))
            #expect(location.hasPrefix(Self.redirect + "?"))
            let back = try Self.query(location)
            #expect(back["state"] == "{\"id\":\"a b\",\"originalUrl\":\"http://x/?y=1&z\"}")
            let form: KeyValuePairs = [
                "grant_type": "authorization_code", "client_id": "fieldwork", "code": try #require(back["code"]),
                "redirect_uri": Self.redirect, "code_verifier": Self.verifier, "f": "json",
            ]
            let json = try await people.client.post("\(Self.oauth)/token/", form).json
            let rest = try #require(json["expires_in"]?.integerValue)
            #expect(json["username"] == "owner" && (1_700...1_800).contains(rest), "\(json)")
            let access = try #require(json["access_token"]?.stringValue)
            let refresh = try #require(json["refresh_token"]?.stringValue)
            #expect(
                try await people.client.get("Trees/FeatureServer", ["f": "json", "token": access]).errorCode == nil)
            let renewed = try await people.client.post(
                "\(Self.oauth)/token",
                ["grant_type": "refresh_token", "client_id": "fieldwork", "refresh_token": refresh, "f": "json"]
            ).json
            #expect(renewed["access_token"]?.stringValue != nil && renewed["refresh_token"] == nil)
            let exchanged = try await people.client.post(
                "\(Self.oauth)/token",
                [
                    "grant_type": "exchange_refresh_token", "client_id": "fieldwork", "refresh_token": refresh,
                    "redirect_uri": Self.redirect, "f": "json",
                ]
            ).json
            #expect(exchanged["refresh_token"]?.stringValue != nil)
            #expect(exchanged["refresh_token_expires_in"]?.integerValue != nil)
            let again = try await people.client.post("\(Self.oauth)/token", form)
            #expect(again.errorCode == 400 || again.errorCode == 498, "a code is good once")
            #expect(
                try await people.client.get("Trees/FeatureServer", ["f": "json", "token": access]).errorCode == 498,
                "whoever has a code twice ends what was got by it")
            let revoked = try await people.client.post(
                "\(Self.oauth)/revokeToken/", ["client_id": "fieldwork", "auth_token": "unknown", "f": "json"])
            #expect(try revoked.json["success"] == true)
        }
    }

    @Test(
        "A code gives no token with another verifier or another address", arguments: ["code_verifier", "redirect_uri"])
    func codeOfAnother(parameter: String) async throws {
        try await PeopleServer.with { people in
            let page = try await Self.authorize(people)
            let location = try #require(try await Self.signIn(people, try Self.state(page.text)).header("Location"))
            let code = try #require(try Self.query(location)["code"])
            func value(_ name: String, _ value: String) -> String { name == parameter ? value + "x" : value }
            let answer = try await people.client.post(
                "\(Self.oauth)/token",
                [
                    "grant_type": "authorization_code", "client_id": "fieldwork", "code": code,
                    "redirect_uri": value("redirect_uri", Self.redirect),
                    "code_verifier": value("code_verifier", Self.verifier), "f": "json",
                ])
            #expect(answer.errorCode == 400)
            #expect(!answer.text.contains("access_token"))
        }
    }

    @Test("A client that reads the page signs in without a browser, at both spellings of the address")
    func implicit() async throws {
        try await PeopleServer.with { people in
            let port = try #require(URL(string: people.client.base)?.port)
            let own = "http://127.0.0.1:\(port)"
            for path in ["/arcgis/sharing/oauth2/signin", "\(Self.oauth)/signin"] {
                let page = try await Self.authorize(
                    people, client: "pythonapi", redirect: own, type: "token", state: "s1")
                let wrong = try await Self.signIn(people, try Self.state(page.text), password: "wrong", path: path)
                #expect(wrong.text.contains("OAUTH_0015") && wrong.text.contains("\"messages\""))
                let sent = try await Self.signIn(people, try Self.state(wrong.text), path: path)
                let location = try #require(sent.header("Location"))
                #expect(location.hasPrefix(own + "#"))
                let back = try Self.query(location, after: "#")
                #expect(back["state"] == "s1" && back["username"] == "owner")
                let token = try #require(back["access_token"])
                #expect(
                    try await people.client.get("Trees/FeatureServer", ["f": "json", "token": token]).errorCode == nil)
            }
        }
    }

    @Test("A shown code has the title that clients read")
    func outOfBand() async throws {
        try await PeopleServer.with { people in
            let page = try await Self.authorize(people, client: "pythonapi", redirect: OAuthClient.outOfBand)
            let sent = try await Self.signIn(people, try Self.state(page.text))
            let location = try #require(sent.header("Location").flatMap(URL.init))
            #expect("\(location)".hasPrefix("http://127.0.0.1:"), "clients don't resolve an address")
            let shown = try await people.client.get("\(location.path)?\(location.query() ?? "")")
            #expect(shown.status == 200 && shown.text.contains("<title>SUCCESS code="))
            let other = try await people.client.get("\(Self.oauth)/approval", ["code": "<b>x</b>"])
            #expect(other.errorCode == nil && !other.text.contains("<b>x") && other.text.contains("Invalid code"))
        }
    }

    @Test(
        "Only a code that is shown to its person needs no challenge, and only from an application of the portal's own")
    func unchallenged() async throws {
        try await PeopleServer.with { people in
            func ask(_ client: String, _ redirect: String) async throws -> TestClient.Answer {
                try await people.client.get(
                    "\(Self.oauth)/authorize",
                    [
                        "client_id": client, "response_type": "code", "redirect_uri": redirect, "expiration": "-1",
                        "allow_verification": "false",
                    ])
            }
            #expect(try await ask("pythonapi", Self.redirect).text.contains("Invalid code_challenge"))
            let page = try await ask("pythonapi", OAuthClient.outOfBand)
            let sent = try await Self.signIn(people, try Self.state(page.text))
            let address = try #require(sent.header("Location"))
            let code = try #require(try Self.query(address)["code"])
            func exchange(_ code: String, _ redirect: String, _ client: String = "pythonapi") async throws
                -> TestClient.Answer
            {
                try await people.client.post(
                    "\(Self.oauth)/token",
                    [
                        "f": "json", "grant_type": "authorization_code", "client_id": client, "code": code,
                        "redirect_uri": redirect,
                    ])
            }
            let token = try await exchange(code, OAuthClient.outOfBand)
            #expect(try token.json["access_token"] != nil && token.json["refresh_token"] != nil, "\(token.text)")
            // A code that was asked for with a challenge is not had without its verifier.
            let safe = try await Self.authorize(people, client: "pythonapi", redirect: OAuthClient.outOfBand)
            let signed = try await Self.signIn(people, try Self.state(safe.text))
            let back = try #require(signed.header("Location"))
            let kept = try #require(try Self.query(back)["code"])
            #expect(try await exchange(kept, OAuthClient.outOfBand).json["access_token"] == nil)
        }
    }

    @Test("An application that is unknown, a foreign address and a weak challenge get a page that says so, and no form")
    func refused() async throws {
        try await PeopleServer.with { people in
            for (answer, text) in [
                (try await Self.authorize(people, client: "nobody"), "Error: Invalid client_id"),
                (try await Self.authorize(people, redirect: "https://evil.example/"), "Invalid redirect_uri"),
                (try await Self.authorize(people, redirect: "http://127.0.0.1.evil/"), "Invalid redirect_uri"),
                (try await Self.authorize(people, method: "plain"), "Invalid code_challenge_method"),
                (try await Self.authorize(people, type: "id_token"), "Invalid response_type"),
            ] {
                #expect(answer.text.contains(text) && !answer.text.contains("<form"), "\(answer.text)")
                #expect(answer.header("Location") == nil)
            }
            let none = try await people.client.get(
                "\(Self.oauth)/authorize",
                ["client_id": "fieldwork", "response_type": "code", "redirect_uri": Self.redirect])
            #expect(none.text.contains("Invalid code_challenge"))
        }
    }

    @Test("A form of another site signs nobody in, and what was asked for is good once")
    func forgery() async throws {
        try await PeopleServer.with { people in
            let state = try Self.state(try await Self.authorize(people).text)
            let foreign = try await people.client.post(
                "\(Self.oauth)/signin",
                ["oauth_state": state, "username": "owner", "password": PeopleServer.password],
                headers: [("Origin", "https://evil.example")])
            #expect(foreign.status == 403)
            #expect(try await Self.signIn(people, "invented").text.contains("Invalid oauth_state"))
            #expect(try await Self.signIn(people, state).status == 302)
            #expect(try await Self.signIn(people, state).text.contains("Invalid oauth_state"))
        }
    }

    @Test("A person who cancels is sent back with the refusal")
    func cancelled() async throws {
        try await PeopleServer.with { people in
            let state = try Self.state(try await Self.authorize(people).text)
            let sent = try await people.client.post("\(Self.oauth)/signin", ["oauth_state": state, "cancel": "true"])
            let back = try Self.query(try #require(sent.header("Location")))
            #expect(back["error"] == "access_denied" && back["code"] == nil)
        }
    }

    @Test("The services directory signs a person in by a cookie that no script reads, and out again")
    func directory() async throws {
        try await PeopleServer.with { people in
            let html = [("Accept", "text/html")]
            let before = try await people.client.get("", headers: html)
            #expect(before.text.contains("Sign in") && !before.text.contains("Trees"))
            let page = try await people.client.get(
                "\(Self.oauth)/authorize", ["client_id": "directory", "response_type": "code"])
            let sent = try await Self.signIn(people, try Self.state(page.text))
            #expect(sent.header("Location") == "/arcgis/rest/services")
            let cookie = try #require(sent.header("Set-Cookie"))
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"))
            let field = ("Cookie", String(cookie.prefix { $0 != ";" }))
            #expect(try await people.client.get("", headers: html + [field]).text.contains("Trees"))
            // A link on another site opens the page for the person who follows it; the linking page sees nothing of it.
            let link = [
                ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"),
            ]
            let followed = try await people.client.get("", headers: html + link + [field])
            #expect(followed.status == 200 && followed.text.contains("Trees"))
            // What another site's page embeds is not answered at all.
            let embedded = [
                ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image"),
            ]
            let refused = try await people.client.get("", headers: html + embedded + [field])
            #expect(refused.status == 403 && !refused.text.contains("Trees"))
            let out = try await people.client.post("\(Self.oauth)/signout", [:], headers: [field])
            #expect(out.header("Set-Cookie")?.contains("Max-Age=0") == true)
            #expect(try await !people.client.get("", headers: html + [field]).text.contains("Trees"))
        }
    }

    @Test("Forms of OAuth with anything in them are answered, and open nothing")
    func fuzz() async throws {
        try await PeopleServer.with { people in
            var generator = SystemRandomNumberGenerator()
            let names = [
                "client_id", "grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "expiration",
                "client_secret", "oauth_state", "username", "password", "token", "serverUrl", "referer", "client", "f",
                "response_type", "state", "code_challenge", "code_challenge_method", "auth_token",
            ]
            let values = [
                "", "fieldwork", "authorization_code", "refresh_token", "client_credentials", "'; DROP TABLE x; --",
                "\u{0}", "9223372036854775807", "-1", "{}", "[]", "json", "S256", "code", "token", "http://127.0.0.1",
                String(repeating: "x", count: 5_000), "🌳", "owner", "ip", "requestip", "directory",
            ]
            for number in 0..<300 {
                let path = ["authorize", "signin", "token", "revokeToken", "../generateToken", "validateAppAccess"][
                    number % 6]
                let form = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                    TestClient.escape(names.randomElement(using: &generator) ?? "") + "="
                        + TestClient.escape(values.randomElement(using: &generator) ?? "")
                }.joined(separator: "&")
                let answer = try await people.client.send(
                    "POST", path.hasPrefix("..") ? "/arcgis/sharing/rest/generateToken" : "\(Self.oauth)/\(path)",
                    headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Array(form.utf8))
                #expect(answer.status == 200 || answer.status == 302, "\(path)?\(form)")
                #expect(!answer.text.contains("access_token\":") && answer.errorCode != 500, "\(path)?\(form)")
            }
        }
    }
}
