import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Servers of a portal, and servers that only say so", .fewAtATime)
struct FederationTests {
    /// A server that belongs to a portal, or says so.
    private static func withServer(
        of portal: URL, accepts: @escaping @Sendable (String?) -> Bool,
        _ test: (LoopbackServer) async throws -> Void
    ) async throws {
        try await LoopbackServer.with(
            { request in
                if request.path == "/server/rest/info" {
                    return .json(#"{"currentVersion":11.2,"owningSystemUrl":"\#(portal.absoluteString)"}"#)
                }
                guard let token = PortalScript.token(of: request) else {
                    return PortalScript.error(499, "Token Required")
                }
                return accepts(token) ? .json(#"{"name":"secret"}"#) : PortalScript.error(498, "Invalid token.")
            }, test)
    }

    @Test("A server of a portal gets tokens of its own, made for the portal's, once for many requests")
    func exchange() async throws {
        try await PortalScript.with { portal, portalServer, manager in
            let address = try portalServer.url("/portal")
            try await Self.withServer(
                of: address, accepts: { token in token.map { portal.value(\.serverTokens).contains($0) } ?? false }
            ) { server in
                portal.state.withLock { _ = $0.servers.insert("http://127.0.0.1:\(server.port)/server") }
                manager.arcGISCredentialStore.add(
                    try await TokenCredential.credential(for: address, username: "ana", password: PortalScript.password)
                )
                let url = try server.url("/server/rest/services/A/FeatureServer")
                for _ in 0..<3 { _ = try await manager.client.answer(to: ServiceRequest(url)) }
                #expect(portal.value(\.exchanges) == 1)
                // The tokens of the server end: another one is made for it.
                portal.state.withLock { $0.serverTokens = [] }
                _ = try await manager.client.answer(to: ServiceRequest(url))
                #expect(portal.value(\.exchanges) == 2)
                // The portal's ends as well: both are made anew.
                portal.state.withLock { $0.serverTokens = [] }
                portal.expireTokens()
                let answer = try await manager.client.answer(to: ServiceRequest(url))
                #expect(String(decoding: answer.bytes, as: UTF8.self).contains("secret"))
                #expect(portal.value(\.signIns) == 2)
                #expect(server.requests.count >= 5)
                #expect(server.requests.allSatisfy { PortalScript.token(of: $0)?.hasPrefix("server-") ?? true })
            }
        }
    }

    @Test("A server that only says that it belongs to a portal gets no token of it")
    func rogue() async throws {
        try await PortalScript.with { portal, portalServer, manager in
            let address = try portalServer.url("/portal")
            try await Self.withServer(of: address, accepts: { _ in false }) { server in
                manager.arcGISCredentialStore.add(
                    try await TokenCredential.credential(for: address, username: "ana", password: PortalScript.password)
                )
                let url = try server.url("/server/rest/services")
                let answer = try await manager.client.answer(to: ServiceRequest(url))
                #expect(String(decoding: answer.bytes, as: UTF8.self).contains("499"))
                #expect(!server.requests.isEmpty)
                #expect(server.requests.allSatisfy { PortalScript.token(of: $0) == nil })
                #expect(portal.value(\.exchanges) > 0)
            }
        }
    }

    @Test("A challenge of a server names its portal, and the sign-in to it opens the server")
    func challenge() async throws {
        try await PortalScript.with { portal, portalServer, manager in
            try await Self.withServer(
                of: try portalServer.url("/portal"),
                accepts: { token in token.map { portal.value(\.serverTokens).contains($0) } ?? false }
            ) { server in
                portal.state.withLock { _ = $0.servers.insert("http://127.0.0.1:\(server.port)/server") }
                let handler = ScriptedHandler.signingIn()
                manager.arcGISAuthenticationChallengeHandler = handler
                let url = try server.url("/server/rest/services")
                let answer = try await manager.client.answer(to: ServiceRequest(url))
                #expect(String(decoding: answer.bytes, as: UTF8.self).contains("secret"))
                #expect(handler.challenges.map(\.kind) == [.oAuthOrToken])
                #expect(portal.value(\.signIns) == 1)
            }
        }
    }

    @Test("A redirection to another host takes no token there; one within the host does")
    func redirection() async throws {
        try await LoopbackServer.with({ _ in .json(#"{"name":"other"}"#) }) { other in
            let away = try other.url("/taken").absoluteString
            try await PortalScript.with({ request, _ in
                switch request.path {
                case "/portal/rest/away": .answer(status: 302, headers: [("Location", away)], body: Data())
                case "/portal/rest/here":
                    .answer(status: 307, headers: [("Location", "/portal/rest/there")], body: Data())
                default: nil
                }
            }) { portal, server, manager in
                manager.arcGISCredentialStore.add(
                    try await TokenCredential.credential(
                        for: server.url("/portal"), username: "ana", password: PortalScript.password))
                let client = manager.client
                let foreign = try await client.answer(to: ServiceRequest(try server.url("/portal/rest/away")))
                #expect(String(decoding: foreign.bytes, as: UTF8.self).contains("other"))
                let request = try #require(other.requests.first)
                #expect(request.headers["x-esri-authorization"] == nil && request.headers["referer"] == nil)
                let own = try await client.answer(to: ServiceRequest(try server.url("/portal/rest/here")))
                #expect(String(decoding: own.bytes, as: UTF8.self).contains("secret"))
            }
        }
    }

    @Test("Roots of servers are found in every kind of address, and addresses beside a specific one get nothing")
    func roots() throws {
        func root(_ text: String) throws -> String? { ServerRoot(try #require(URL(string: text)))?.text }
        #expect(
            try root("https://Host.org:443/arcgis/rest/services/A/FeatureServer/0?f=json") == "https://host.org/arcgis")
        #expect(try root("https://host.org/portal/sharing/rest/content/items/1") == "https://host.org/portal")
        #expect(try root("https://host.org/portal/home/item.html?id=1") == "https://host.org/portal")
        #expect(try root("http://host.org:8080") == "http://host.org:8080")
        #expect(try root("ftp://host.org/a") == nil)
        let store = ArcGISCredentialStore()
        let base = try #require(URL(string: "https://host.org/arcgis/rest/services/A"))
        let credential = try OAuthUserCredential.old(try #require(URL(string: "https://portal.org/arcgis")))
        store.add(credential, specificTo: base)
        #expect(store.credential(for: base.appending(path: "FeatureServer/0")) === credential)
        #expect(store.credential(for: try #require(URL(string: "https://host.org/arcgis/rest/services/AB"))) == nil)
        #expect(store.credential(for: try #require(URL(string: "http://host.org/arcgis/rest/services/A"))) == nil)
    }
}
