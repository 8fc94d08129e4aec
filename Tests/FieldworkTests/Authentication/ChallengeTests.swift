import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Services that want to know who asks", .fewAtATime)
struct ChallengeTests {
    /// Asks for a guarded resource many times at once, and gives what came of each.
    private static func ask(
        _ count: Int, _ manager: AuthenticationManager, _ server: LoopbackServer
    ) async throws -> [Result<ServiceAnswer, any Error>] {
        let url = try server.url("/portal/rest/services/Secret/FeatureServer")
        return await withTaskGroup(of: Result<ServiceAnswer, any Error>.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do {
                        return .success(try await manager.client.answer(to: ServiceRequest(url, [("f", "json")])))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            var results: [Result<ServiceAnswer, any Error>] = []
            for await result in group { results.append(result) }
            return results
        }
    }

    private static func isServed(_ result: Result<ServiceAnswer, any Error>) -> Bool {
        guard case .success(let answer) = result else { return false }
        return String(decoding: answer.bytes, as: UTF8.self) == #"{"name":"secret"}"#
    }

    @Test("Fifty requests that wait for a sign-in ask for it once, and all go on after it")
    func oneChallenge() async throws {
        try await PortalScript.with { portal, server, manager in
            let handler = ScriptedHandler.signingIn()
            manager.arcGISAuthenticationChallengeHandler = handler
            let results = try await Self.ask(50, manager, server)
            #expect(results.count == 50 && results.allSatisfy(Self.isServed))
            #expect(handler.challenges.count == 1 && portal.value(\.signIns) == 1)
            #expect(handler.challenges.first?.kind == .oAuthOrToken)
            #expect(handler.challenges.first?.requestURL.query() == nil)
            // A later request asks nobody.
            let later = try await Self.ask(1, manager, server)
            #expect(later.count == 1 && later.allSatisfy(Self.isServed))
            #expect(handler.challenges.count == 1)
            #expect(!server.requests.contains { $0.target.contains("token-") || $0.target.contains("password") })
        }
    }

    @Test("Fifty requests whose token has ended renew it once, and all go on")
    func oneRefresh() async throws {
        try await PortalScript.with { portal, server, manager in
            manager.arcGISCredentialStore.add(try OAuthUserCredential.old(server.url("/portal")))
            let results = try await Self.ask(50, manager, server)
            #expect(results.count == 50 && results.allSatisfy(Self.isServed))
            #expect(portal.value(\.refreshes) == 1)
        }
    }

    @Test("A renewal whose answer was lost is asked for again with the same refresh token")
    func lostRefresh() async throws {
        try await PortalScript.with { portal, server, manager in
            portal.state.withLock { $0.losses = 2 }
            manager.arcGISCredentialStore.add(try OAuthUserCredential.old(server.url("/portal")))
            let results = try await Self.ask(5, manager, server)
            #expect(results.count == 5 && results.allSatisfy(Self.isServed))
            #expect(portal.value(\.refreshes) == 3)
        }
    }

    @Test("A sign-in that can't be renewed any more is asked for anew, once for all requests")
    func refusedRefresh() async throws {
        try await PortalScript.with { portal, server, manager in
            portal.state.withLock { $0.refreshTokens = [] }
            let handler = ScriptedHandler.signingIn()
            manager.arcGISAuthenticationChallengeHandler = handler
            let old = try OAuthUserCredential.old(server.url("/portal"))
            manager.arcGISCredentialStore.add(old)
            let results = try await Self.ask(20, manager, server)
            #expect(results.count == 20 && results.allSatisfy(Self.isServed))
            #expect(handler.challenges.count == 1)
            #expect(handler.challenges.first?.error is ArcGISAuthenticationError)
            #expect(manager.arcGISCredentialStore.credentials.count == 1)
            #expect(manager.arcGISCredentialStore.credentials.first !== old)
        }
    }

    @Test("A renewal without a network keeps the sign-in: the request fails as without a network, and nobody is asked")
    func noNetwork() async throws {
        let handler = ScriptedHandler { _ in .cancel }
        let manager = AuthenticationManager()
        manager.arcGISAuthenticationChallengeHandler = handler
        let server = try LoopbackServer { _ in PortalScript.error(498, "Invalid token.") }
        let url = try server.url("/portal/rest/services")
        let away = try LoopbackServer { _ in .silence }
        away.stop()
        // The portal is away; the service beside it answers.
        manager.arcGISCredentialStore.add(try OAuthUserCredential.old(away.url("/portal")), specificTo: url)
        defer { server.stop() }
        await #expect { _ = try await manager.client.answer(to: ServiceRequest(url)) } throws: { error in
            if case ServiceError.connectionFailed = error { true } else { false }
        }
        #expect(manager.arcGISCredentialStore.credentials.count == 1)
        #expect(handler.challenges.isEmpty)
    }

    @Test("A sign-in that is cancelled fails all requests that wait, with an error of its own, and asks once")
    func cancelled() async throws {
        try await PortalScript.with { portal, server, manager in
            let handler = ScriptedHandler { challenge in
                // All have asked before the person gives up.
                let path = challenge.requestURL.path
                while server.requests.count(where: { $0.path == path }) < 50 {
                    try await Task.sleep(for: .milliseconds(5))
                }
                return .cancel
            }
            manager.arcGISAuthenticationChallengeHandler = handler
            let results = try await Self.ask(50, manager, server)
            let cancelled = results.filter {
                if case .failure(let error) = $0 { error is ArcGISChallengeCancellationError } else { false }
            }
            #expect(cancelled.count == 50 && handler.challenges.count == 1)
            #expect(portal.value(\.served) == 0)
            // What is asked for later asks again: the person may have changed their mind.
            _ = try await Self.ask(1, manager, server)
            #expect(handler.challenges.count == 2)
        }
    }

    @Test("A request that is answered after the person gave up fails as well, and one that begins then asks again")
    func answeredAfterTheCancellation() async throws {
        try await PortalScript.with { _, server, manager in
            let handler = ScriptedHandler { _ in .cancel }
            manager.arcGISAuthenticationChallengeHandler = handler
            let url = try server.url("/portal/rest/services/Secret/FeatureServer")
            let (begun, begins) = AsyncStream<Void>.makeStream()
            let (answered, answers) = AsyncStream<Void>.makeStream()
            /// A request that the service refuses, at once or when it is told to.
            @Sendable func ask(isLate: Bool) async throws {
                try await manager.exchange(url) { _ -> Reply<Void> in
                    if isLate {
                        begins.finish()
                        for await _ in answered {}
                    }
                    let error = ServiceError.serverFailure(details: "Token required.", code: 499)
                    return Reply(result: .failure(error), refusal: .token(code: 499, error: error))
                }
            }
            let late = Task { try await ask(isLate: true) }
            for await _ in begun {}
            await #expect(throws: ArcGISChallengeCancellationError.self) { try await ask(isLate: false) }
            answers.finish()
            await #expect(throws: ArcGISChallengeCancellationError.self) { try await late.value }
            #expect(handler.challenges.count == 1)
            await #expect(throws: ArcGISChallengeCancellationError.self) { try await ask(isLate: false) }
            #expect(handler.challenges.count == 2)
        }
    }

    @Test("A request that goes on without a credential gets the service's own error")
    func without() async throws {
        try await PortalScript.with { _, server, manager in
            manager.arcGISAuthenticationChallengeHandler = ScriptedHandler { _ in .continueWithoutCredential }
            let service = FeatureServiceClient(
                root: try server.url("/portal/rest/services/Secret/FeatureServer"), client: manager.client)
            await #expect { _ = try await service.definition() } throws: { ($0 as? ServiceError)?.code == 499 }
        }
    }

    @Test(
        "A caller that stops waiting for a sign-in leaves it to the others; when all have gone, the handler is cancelled"
    )
    func leaving() async throws {
        try await PortalScript.with { _, server, manager in
            let isCancelled = Mutex(false)
            let handler = ScriptedHandler { _ in
                do {
                    try await Task.sleep(for: .seconds(60))
                } catch {
                    isCancelled.withLock { $0 = true }
                }
                return .cancel
            }
            manager.arcGISAuthenticationChallengeHandler = handler
            let url = try server.url("/portal/rest/services")
            let task = Task { try await manager.client.answer(to: ServiceRequest(url)) }
            while handler.challenges.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            for _ in 0..<1_000 where !isCancelled.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
            #expect(isCancelled.withLock { $0 })
        }
    }

    @Test("A wrong password is told as such, with the portal's words")
    func wrongPassword() async throws {
        try await PortalScript.with { portal, server, _ in
            let url = try server.url("/portal")
            await #expect(
                throws: ArcGISAuthenticationError.invalidCredentials(
                    details: "Unable to generate token. Invalid username or password.")
            ) {
                try await TokenCredential.credential(for: url, username: "ana", password: "wrong")
            }
            #expect(portal.value(\.signIns) == 0)
            // The password goes in the body of a post, and nowhere else.
            let asked = server.requests.filter { $0.path.hasSuffix("generateToken") }
            #expect(asked.count == 1)
            #expect(asked.allSatisfy { $0.method == "POST" && !$0.target.contains("?") })
        }
    }

    @Test("A host that asks for a name and a password by HTTP's own way gets them, and other hosts do not")
    func network() async throws {
        final class Gatekeeper: NetworkAuthenticationChallengeHandler {
            let count = Mutex(0)
            func handleNetworkAuthenticationChallenge(
                _ challenge: NetworkAuthenticationChallenge
            ) async -> NetworkAuthenticationChallenge.Disposition {
                count.withLock { $0 += 1 }
                return .continueWithCredential(.password(username: "gate", password: "keeper"))
            }
        }
        let handler = Gatekeeper()
        let manager = AuthenticationManager()
        manager.networkAuthenticationChallengeHandler = handler
        let wanted = "Basic \(Data("gate:keeper".utf8).base64EncodedString())"
        try await LoopbackServer.with({ request in
            request.headers["authorization"] == wanted
                ? .json("{}") : .answer(status: 401, headers: [("WWW-Authenticate", "Basic realm=x")], body: Data())
        }) { server in
            for _ in 0..<3 { _ = try await manager.client.answer(to: ServiceRequest(try server.url("/rest"))) }
            #expect(handler.count.withLock { $0 } == 1)
        }
    }
}
