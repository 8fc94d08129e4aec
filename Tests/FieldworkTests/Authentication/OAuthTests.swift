import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Signing in by OAuth", .fewAtATime)
struct OAuthTests {
    private static func configuration(_ server: LoopbackServer, _ redirect: String) throws -> OAuthUserConfiguration {
        OAuthUserConfiguration(
            portalURL: try server.url("/portal"), clientID: "app", redirectURL: try #require(URL(string: redirect)))
    }

    /// A browser that goes where it is sent.
    private static func browse(_ url: URL) async throws -> String {
        let answer = try await HTTPServiceClient(authentication: nil).answer(to: ServiceRequest(url))
        return String(decoding: answer.bytes, as: UTF8.self)
    }

    @Test("A browser on this device comes back to the SDK's own listener, at a free port, and the person is signed in")
    func loopback() async throws {
        try await PortalScript.with { portal, server, manager in
            // The browser is not the prompt's: the sign-in ends when the portal's answer is here, and cancels the prompt.
            let browser = Mutex<Task<String, any Error>?>(nil)
            let credential = try await OAuthUserCredential.credential(
                for: Self.configuration(server, "http://127.0.0.1/signed-in")
            ) { sheet in
                #expect(sheet.isRedirectAwaited && sheet.redirectURL.port != nil)
                browser.withLock { $0 = Task { try await Self.browse(sheet.url) } }
                return nil
            }
            let page = try await browser.withLock { $0 }?.value
            #expect(page?.contains("You are signed in") == true)
            #expect(credential.username == "ana" && credential.isRenewable)
            manager.arcGISCredentialStore.add(credential)
            let url = try server.url("/portal/rest/services")
            #expect(try await Self.text(manager, url).contains("secret"))
            portal.expireTokens()
            #expect(try await Self.text(manager, url).contains("secret"))
            #expect(portal.value(\.refreshes) == 1)
        }
    }

    private static func text(_ manager: AuthenticationManager, _ url: URL) async throws -> String {
        String(decoding: try await manager.client.answer(to: ServiceRequest(url)).bytes, as: UTF8.self)
    }

    @Test("An answer of another sign-in is not taken, and does not end the wait for the right one")
    func foreignState() async throws {
        try await PortalScript.with { _, server, _ in
            let credential = try await OAuthUserCredential.credential(
                for: Self.configuration(server, "http://localhost/back")
            ) { page in
                var foreign = try #require(URLComponents(url: page.redirectURL, resolvingAgainstBaseURL: false))
                foreign.queryItems = [
                    URLQueryItem(name: "code", value: "stolen"), URLQueryItem(name: "state", value: "guessed"),
                ]
                let url = try #require(foreign.url)
                await #expect { _ = try await Self.browse(url) } throws: { ($0 as? ServiceError)?.code == 404 }
                _ = try await Self.browse(page.url)
                return nil
            }
            #expect(credential.username == "ana")
        }
    }

    @Test("An app that catches the answer at a scheme of its own gives it back; one of another sign-in is refused")
    func ownScheme() async throws {
        try await PortalScript.with { portal, server, _ in
            let configuration = try Self.configuration(server, "data-collection://auth")
            @Sendable func code(for page: OAuthSignInPage, state: String? = nil) throws -> URL? {
                // What the portal's page does when the person has signed in.
                let request = LoopbackServer.Request(
                    method: "GET", target: "\(page.url.path)?\(page.url.query(percentEncoded: true) ?? "")",
                    headers: ["host": "here"], body: Data())
                guard case .answer(_, let headers, _)? = portal.answer(request) else { return nil }
                let place = try #require(headers.first).1
                var target = try #require(URLComponents(string: place))
                if let state {
                    target.queryItems = target.queryItems?.map {
                        $0.name == "state" ? URLQueryItem(name: "state", value: state) : $0
                    }
                }
                return target.url
            }
            let credential = try await OAuthUserCredential.credential(for: configuration) { page in
                #expect(!page.isRedirectAwaited && page.redirectURL == configuration.redirectURL)
                return try code(for: page)
            }
            #expect(credential.username == "ana")
            await #expect {
                _ = try await OAuthUserCredential.credential(for: configuration) { try code(for: $0, state: "other") }
            } throws: { error in
                if case ArcGISAuthenticationError.oAuthFailure = error { true } else { false }
            }
        }
    }

    @Test(
        "A person who refuses on the page, or closes it, cancels the sign-in; an app without a prompt is told to set one"
    )
    func refused() async throws {
        try await PortalScript.with { _, server, _ in
            let configuration = try Self.configuration(server, "data-collection://auth")
            await #expect(throws: CancellationError.self) {
                try await OAuthUserCredential.credential(for: configuration) { page in
                    let items = URLComponents(url: page.url, resolvingAgainstBaseURL: false)?.queryItems
                    let state = items?.first { $0.name == "state" }?.value ?? ""
                    return URL(string: "data-collection://auth?error=access_denied&state=\(state)")
                }
            }
            await #expect(throws: CancellationError.self) {
                try await OAuthUserCredential.credential(for: configuration) { _ in nil }
            }
            await #expect {
                _ = try await OAuthUserCredential.credential(for: configuration, prompt: nil)
            } throws: { error in
                "\((error as? ArcGISAuthenticationError)?.details ?? "")".contains("oAuthSignInPrompt")
            }
        }
    }

    @Test("An app signs itself in by its secret, and a wrong secret is told")
    func application() async throws {
        try await PortalScript.with { portal, server, manager in
            let url = try server.url("/portal")
            let credential = try await OAuthApplicationCredential.credential(
                portalURL: url, clientID: "app", clientSecret: "s3cret")
            manager.arcGISCredentialStore.add(credential)
            portal.expireTokens()
            #expect(try await Self.text(manager, url.appending(path: "rest/services")).contains("secret"))
            await #expect(throws: ArcGISAuthenticationError.oAuthFailure(details: "Invalid client_secret")) {
                try await OAuthApplicationCredential.credential(
                    portalURL: url, clientID: "app", clientSecret: "wrong")
            }
        }
    }

    @Test(
        "Signing out ends the token at the portal and on this device; without a network it ends on this device at once")
    func signOut() async throws {
        try await PortalScript.with { portal, server, manager in
            let url = try server.url("/portal")
            manager.arcGISCredentialStore.add(try OAuthUserCredential.old(url))
            #expect(await manager.signOut(of: url.appending(path: "rest/services")))
            #expect(portal.value(\.revoked) == ["refresh-0"])
            #expect(manager.arcGISCredentialStore.credentials.isEmpty)
            let away = try LoopbackServer { _ in .silence }
            away.stop()
            manager.arcGISCredentialStore.add(try OAuthUserCredential.old(away.url("/portal")))
            #expect(await !manager.signOut())
            #expect(manager.arcGISCredentialStore.credentials.isEmpty)
        }
    }

    @Test("A configuration is for its portal and what lies beside it, and for no other host")
    func configurations() throws {
        let portal = try #require(URL(string: "https://maps.example.org/portal"))
        let configuration = OAuthUserConfiguration(
            portalURL: portal, clientID: "app", redirectURL: try #require(URL(string: "app://auth")))
        #expect(
            configuration.canBeUsed(for: try #require(URL(string: "https://maps.example.org/server/rest/services"))))
        #expect(!configuration.canBeUsed(for: try #require(URL(string: "https://example.org/portal/sharing/rest"))))
        #expect(!configuration.canBeUsed(for: try #require(URL(string: "http://maps.example.org/portal"))))
    }
}
