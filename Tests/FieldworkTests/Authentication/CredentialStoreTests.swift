import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Credentials on the disk", .fewAtATime)
struct CredentialStoreTests {
    private static func withFolder(_ test: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-credentials-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await test(folder)
    }

    private static func open(_ folder: URL) throws -> ArcGISCredentialStore {
        try ArcGISCredentialStore.makePersistent(in: folder, keyring: nil)
    }

    private static func mode(_ url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    private static func credential(
        _ host: String = "a.org", token: String = "token-of-ana", refresh: String = "refresh-of-ana"
    ) throws -> OAuthUserCredential {
        try OAuthUserCredential.old(
            try #require(URL(string: "https://\(host)/portal")), token: token, refresh: refresh)
    }

    @Test("A store is there again after a restart, and nobody but its user can read its files or the secrets in them")
    func sealed() async throws {
        try await Self.withFolder { folder in
            let store = try Self.open(folder)
            store.add(try Self.credential())
            let file = SealedFile(folder: folder, keyring: nil).file
            #expect(try Self.mode(folder) == 0o700)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                #expect(try Self.mode(folder.appending(path: name)) == 0o600, "\(name)")
                let bytes = try Data(contentsOf: folder.appending(path: name))
                for secret in ["token-of-ana", "refresh-of-ana", "ana", "a.org"] {
                    #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret) stands in \(name)")
                }
            }
            let again = try Self.open(folder)
            let credential = try #require(again.credentials.first as? OAuthUserCredential)
            #expect(credential.username == "ana" && credential.heldToken.accessToken == "token-of-ana")
            #expect(credential.record.refreshToken == "refresh-of-ana")
            #expect(
                again.credential(for: try #require(URL(string: "https://a.org/portal/rest/services"))) === credential)
            again.removeAll()
            #expect(try Self.open(folder).credentials.isEmpty)
            #expect(FileManager.default.fileExists(atPath: file.path))
        }
    }

    @Test("Each kind of credential comes back as it was")
    func kinds() async throws {
        try await PortalScript.with { portal, server, _ in
            try await Self.withFolder { folder in
                let url = try server.url("/portal")
                let other = try #require(URL(string: "https://c.org/arcgis"))
                let store = try Self.open(folder)
                store.add(
                    try await TokenCredential.credential(for: url, username: "ana", password: PortalScript.password))
                store.add(
                    try await OAuthApplicationCredential.credential(
                        portalURL: url, clientID: "app", clientSecret: "s3cret"), specificTo: other)
                let info = try #require(
                    TokenInfo(accessToken: "made", expirationDate: .distantFuture, isSSLRequired: true))
                store.add(PregeneratedTokenCredential(url: other, tokenInfo: info, referer: "r"))
                let again = try Self.open(folder)
                #expect(again.credentials.count == 3)
                #expect(again.credentials[0] is TokenCredential)
                #expect(again.credentials[2].referer == "r" && again.credentials[2].heldToken.isSSLRequired)
                #expect(again.credential(for: other.appending(path: "rest")) is OAuthApplicationCredential)
                // The one with a password signs in by itself again.
                portal.expireTokens()
                let manager = AuthenticationManager()
                manager.arcGISCredentialStore = again
                _ = try await manager.client.answer(to: ServiceRequest(url.appending(path: "rest/services")))
                #expect(portal.value(\.signIns) == 2 && portal.value(\.served) == 1)
                // And the token that it got is on the disk already.
                let kept = try Self.open(folder).credentials.first { $0 is TokenCredential }
                #expect(kept?.heldToken.accessToken == again.credential(for: url)?.heldToken.accessToken)
            }
        }
    }

    @Test("A file that was changed is set aside, not deleted, and the store begins empty", arguments: [0, 16, 40])
    func broken(place: Int) async throws {
        try await Self.withFolder { folder in
            try Self.open(folder).add(try Self.credential())
            let file = SealedFile(folder: folder, keyring: nil).file
            var bytes = try Data(contentsOf: file)
            bytes[place] ^= 1
            try bytes.write(to: file)
            let store = try Self.open(folder)
            #expect(store.credentials.isEmpty)
            let aside = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.contains("broken")
            }
            #expect(aside.count == 1)
            #expect(try Data(contentsOf: folder.appending(path: try #require(aside.first))) == bytes)
            store.add(try Self.credential("b.org"))
            #expect(try Self.open(folder).credentials.count == 1)
        }
    }

    @Test("A key that others could read is closed to them")
    func openKey() async throws {
        try await Self.withFolder { folder in
            try Self.open(folder).add(try Self.credential())
            let key = folder.appending(path: "credentials.key")
            chmod(key.path, 0o644)
            #expect(try Self.open(folder).credentials.count == 1)
            #expect(try Self.mode(key) == 0o600)
        }
    }

    @Test("Two stores of one folder keep each other's credentials")
    func twoStores() async throws {
        try await Self.withFolder { folder in
            let (one, two) = (try Self.open(folder), try Self.open(folder))
            let first = try Self.credential("a.org")
            one.add(first)
            two.add(try Self.credential("b.org"))
            one.add(try Self.credential("c.org"))
            #expect(
                Set(try Self.open(folder).credentials.compactMap { $0.url?.host() }) == ["a.org", "b.org", "c.org"])
            one.remove(first)
            #expect(Set(try Self.open(folder).credentials.compactMap { $0.url?.host() }) == ["b.org", "c.org"])
        }
    }

    @Test("A token that another process renewed is taken over, and not asked for again")
    func renewedElsewhere() async throws {
        try await PortalScript.with { portal, server, _ in
            try await Self.withFolder { folder in
                let url = try server.url("/portal")
                try Self.open(folder).add(try OAuthUserCredential.old(url))
                let managers = try (0..<2).map { _ in
                    let manager = AuthenticationManager()
                    manager.arcGISCredentialStore = try Self.open(folder)
                    return manager
                }
                for manager in managers {
                    _ = try await manager.client.answer(to: ServiceRequest(url.appending(path: "rest/services")))
                }
                #expect(portal.value(\.served) == 2 && portal.value(\.refreshes) == 1)
            }
        }
    }

    @Test("A credential takes the place of another one for the same portal, on the disk as well")
    func replaced() async throws {
        try await Self.withFolder { folder in
            let store = try Self.open(folder)
            store.add(try Self.credential(token: "one"))
            store.add(try Self.credential(token: "two"))
            #expect(store.credentials.map(\.heldToken.accessToken) == ["two"])
            #expect(try Self.open(folder).credentials.map(\.heldToken.accessToken) == ["two"])
        }
    }

    @Test("No description, reflection or error tells a secret")
    func descriptions() async throws {
        let secrets = ["token-of-ana", "refresh-of-ana", "pass-of-ana", "key-of-ana"]
        let info = try #require(
            TokenInfo(accessToken: "token-of-ana", expirationDate: .distantFuture, isSSLRequired: false))
        let credential = try Self.credential()
        let network = NetworkCredential.password(username: "n", password: "pass-of-ana")
        let key = try #require(APIKey("key-of-ana"))
        for value in [info, credential, network, key] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in [String(describing: value), String(reflecting: value), dumped] {
                #expect(!secrets.contains { text.contains($0) }, "\(text)")
            }
        }
        #expect(key.rawValue == "key-of-ana")
        // A token can't be made to carry a header of its own.
        #expect(TokenInfo(accessToken: "a\r\nCookie: b", expirationDate: .now, isSSLRequired: false) == nil)
        #expect(TokenInfo(accessToken: "", expirationDate: .now, isSSLRequired: false) == nil)
        let longest = String(repeating: "t", count: Limits.tokenBytes)
        #expect(TokenInfo(accessToken: longest, expirationDate: .now, isSSLRequired: false) != nil)
        #expect(TokenInfo(accessToken: longest + "t", expirationDate: .now, isSSLRequired: false) == nil)
    }
}
