import FieldworkREST
import FieldworkServer
import FieldworkStore
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

/// Downloads, edits and syncs whose token ends on the way. The services are real ones behind a gateway that wants tokens.
@Suite("Work that goes on after a sign-in", .fewAtATime)
struct GuardedWorkTests {
    /// A real service behind a gateway; the portal lies beside it.
    private static func withGuarded(
        attachments: Bool = false,
        _ test: (TestService, URL, ServiceEnvironment, PortalScript, LoopbackServer, AuthenticationManager) async throws
            -> Void
    ) async throws {
        try await OfflineService.with(attachments: attachments) { service in
            let port = UInt16(service.running.port)
            try await PortalScript.with({ request, portal in
                guard request.path.hasPrefix("/arcgis/") else { return nil }
                if request.path == "/arcgis/rest/info" {
                    return .json(#"{"owningSystemUrl":"http://\#(request.headers["host"] ?? "")/portal"}"#)
                }
                return portal.refusal(of: request) ?? .forward(port: port)
            }) { portal, server, manager in
                let root = try server.url("/arcgis/rest/services/\(service.name.name)/FeatureServer")
                let environment = ServiceEnvironment(
                    directory: service.folder.appending(path: "device"), client: manager.client,
                    downloads: manager.client)
                try await test(service, root, environment, portal, server, manager)
            }
        }
    }

    private static func signIn(_ manager: AuthenticationManager, _ server: LoopbackServer) async throws {
        manager.arcGISCredentialStore.add(
            try await TokenCredential.credential(
                for: server.url("/portal"), username: "ana", password: PortalScript.password))
    }

    @Test("A service that wants a sign-in is loaded, edited and read after it, and its edits are sent once")
    func edits() async throws {
        try await Self.withGuarded { service, root, environment, portal, server, manager in
            let handler = ScriptedHandler.signingIn()
            manager.arcGISAuthenticationChallengeHandler = handler
            let geodatabase = ServiceGeodatabase(url: root, environment: environment)
            try await geodatabase.load()
            let table = try #require(geodatabase.table(withLayerID: 0))
            try await table.add(
                table.makeFeature(attributes: ["primcause": "guarded"], geometry: OfflineService.place(2)))
            // The token ends between the edit and its sending.
            portal.expireTokens()
            let results = try await geodatabase.applyEdits().flatMap(\.editResults)
            #expect(results.count == 1)
            #expect(results.allSatisfy { !$0.didCompleteWithErrors })
            #expect(!geodatabase.hasLocalEdits && handler.challenges.count == 1)
            let causes = try await service.rows().compactMap { $0.attributes["primcause"]?.textValue }
            #expect(causes.count { $0 == "guarded" } == 1)
        }
    }

    @Test("Edits whose sign-in is cancelled stay on this device, and go once after the sign-in")
    func cancelledEdits() async throws {
        try await Self.withGuarded { service, root, environment, portal, server, manager in
            try await Self.signIn(manager, server)
            let geodatabase = ServiceGeodatabase(url: root, environment: environment)
            try await geodatabase.load()
            let table = try #require(geodatabase.table(withLayerID: 0))
            try await table.add(
                table.makeFeature(attributes: ["primcause": "kept"], geometry: OfflineService.place(2)))
            manager.arcGISCredentialStore.removeAll()
            manager.arcGISAuthenticationChallengeHandler = ScriptedHandler { _ in .cancel }
            await #expect(throws: ArcGISChallengeCancellationError.self) { _ = try await geodatabase.applyEdits() }
            #expect(geodatabase.hasLocalEdits)
            try await Self.signIn(manager, server)
            _ = try await geodatabase.applyEdits()
            #expect(!geodatabase.hasLocalEdits)
            let causes = try await service.rows().compactMap { $0.attributes["primcause"]?.textValue }
            #expect(causes.count { $0 == "kept" } == 1)
        }
    }

    @Test("A sync whose token ends on the way waits for the sign-in and goes on; one that is cancelled loses nothing")
    func sync() async throws {
        try await Self.withGuarded { service, root, environment, portal, server, manager in
            try await Self.signIn(manager, server)
            let job = try await OfflineService.generateJob(
                root, file: service.folder.appending(path: "guarded.gpkg"), environment: environment)
            job.start()
            let geodatabase = try await job.output
            try await geodatabase.load()
            #expect(geodatabase.serviceURL?.port == Int(server.port))
            try await geodatabase.addDamage("from the field")
            manager.arcGISCredentialStore.removeAll()
            let answer = Mutex(ArcGISAuthenticationChallenge.Disposition.cancel)
            let handler = ScriptedHandler { _ in answer.withLock { $0 } }
            manager.arcGISAuthenticationChallengeHandler = handler
            let first = try await OfflineService.syncJob(geodatabase, environment: environment)
            first.start()
            await #expect(throws: ArcGISChallengeCancellationError.self) { _ = try await first.output }
            #expect(geodatabase.hasLocalEdits)
            // This time the person signs in while the sync waits.
            let credential = try await TokenCredential.credential(
                for: server.url("/portal"), username: "ana", password: PortalScript.password)
            answer.withLock { $0 = .continueWithCredential(credential) }
            let second = try await OfflineService.syncJob(geodatabase, environment: environment)
            second.start()
            #expect(try await second.output.isEmpty)
            #expect(!geodatabase.hasLocalEdits && handler.challenges.count == 2)
            let causes = try await service.rows().compactMap { $0.attributes["primcause"]?.textValue }
            #expect(causes.count { $0 == "from the field" } == 1)
            geodatabase.close()
        }
    }

    @Test("A download whose token ends on the way keeps what has arrived and fetches the rest with a new one")
    func download() async throws {
        let whole = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let ranges = Mutex<[String]>([])
        try await PortalScript.with({ request, portal in
            guard request.path == "/portal/rest/file" else { return nil }
            if let refusal = portal.refusal(of: request) { return refusal }
            let range = request.headers["range"] ?? ""
            ranges.withLock { $0.append(range) }
            guard let start = Int(range.dropFirst("bytes=".count).dropLast()) else { return nil }
            return .answer(
                status: 206, headers: [("Content-Range", "bytes \(start)-\(whole.count - 1)/\(whole.count)")],
                body: whole.dropFirst(start))
        }) { portal, server, manager in
            try await Self.signIn(manager, server)
            let file = FileManager.default.temporaryDirectory.appending(path: "guarded-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            let url = try server.url("/portal/rest/file")
            // The first part is there from a download that was broken off.
            try whole.prefix(100_000).write(to: file)
            portal.expireTokens()
            try await manager.client.download(url, to: file) { _, _ in }
            #expect(try Data(contentsOf: file) == whole)
            #expect(ranges.withLock { $0 } == ["bytes=100000-"], "the refusal did not take the place of the file")
            #expect(portal.value(\.signIns) == 2)
        }
    }

    @Test("What is recorded and logged of a guarded request has no token in it")
    func records() async throws {
        final class Witness: RequestInterceptor {
            let texts = Mutex<[String]>([])
            func willSend(_ request: inout OutgoingRequest) async throws {
                let text = "\(request)"
                texts.withLock { $0.append(text) }
            }
            func didFinish(_ record: RequestRecord) async { texts.withLock { $0.append("\(record)") } }
        }
        try await PortalScript.with { _, server, manager in
            try await Self.signIn(manager, server)
            let witness = Witness()
            var client = manager.client
            client.ownSession = ArcGISURLSession(interceptors: [witness])
            _ = try await client.answer(to: ServiceRequest(try server.url("/portal/rest/services")))
            let texts = witness.texts.withLock { $0 }
            #expect(texts.count == 2 && !texts.contains { $0.contains("token-") })
            let sent = try #require(server.requests.last)
            #expect(PortalScript.token(of: sent) == "token-1" && !sent.target.contains("token"))
        }
    }
}
