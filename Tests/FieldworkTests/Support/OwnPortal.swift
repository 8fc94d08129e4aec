import FieldworkPortal
import FieldworkServer
import FieldworkStore
import Foundation
import Testing

@testable import Fieldwork

/// A server of our own with people, and a device whose requests go to it: Ana may make items, Ben may edit, Vera may look.
struct OwnPortal: Sendable {
    typealias Store = FieldworkPortal.Portal

    let store: Store
    let service: TestService
    /// The portal's address.
    let url: URL
    let manager: AuthenticationManager

    static let password = "correct horse battery"

    static func with(attachments: Bool = false, _ test: (OwnPortal) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-own-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await Store(try RecordDatabase(file: Store.file(in: folder)), passwordCost: 4)
        let author = Author(name: "test", address: "")
        for (name, role) in [("root", Role.administrator), ("ana", .publisher), ("ben", .editor), ("vera", .viewer)] {
            try await store.addPerson(name, password: password, role: role, by: author)
        }
        do {
            try await TestService.with(
                OfflineService.definition(attachments: attachments), rows: OfflineService.rows, portal: store
            ) {
                service in
                let url = try #require(URL(string: "http://127.0.0.1:\(service.running.port)/arcgis"))
                try await test(OwnPortal(store: store, service: service, url: url, manager: AuthenticationManager()))
            }
            await store.close()
        } catch {
            await store.close()
            throw error
        }
    }

    /// - Parameter device: keeps its edits under this name.
    func environment(_ device: String = "device") -> ServiceEnvironment {
        ServiceEnvironment(
            directory: service.folder.appending(path: device), client: manager.client, downloads: manager.client)
    }

    func signIn(_ name: String) async throws {
        manager.arcGISCredentialStore.add(
            try await TokenCredential.credential(for: url, username: name, password: Self.password))
    }

    func portal(_ connection: Fieldwork.Portal.Connection = .authenticated) -> Fieldwork.Portal {
        Fieldwork.Portal(url: url, connection: connection, environment: environment())
    }

    /// A portal that knows who asks, and the person.
    func loaded(as name: String) async throws -> (portal: Fieldwork.Portal, user: PortalUser) {
        try await signIn(name)
        let portal = portal()
        try await portal.load()
        return (portal, try #require(portal.user))
    }

    /// What a browser does with a sign-in page: it reads the form, sends it, and goes where it is sent.
    static func browse(_ page: URL, as name: String) async throws -> String {
        let client = HTTPServiceClient(authentication: nil)
        let html = String(decoding: try await client.answer(to: ServiceRequest(page)).bytes, as: UTF8.self)
        let found = try #require(html.firstMatch(of: /name="oauth_state" value="([^"]+)"/), "\(html)")
        let action = try #require(html.firstMatch(of: /action="([^"]+)"/))
        let target = try #require(URL(string: String(action.1), relativeTo: page))
        let form: [(name: String, value: String)] = [
            ("oauth_state", String(found.1)), ("username", name), ("password", password),
        ]
        let answer = try await client.answer(to: ServiceRequest(target.absoluteURL, form, isRead: false))
        return String(decoding: answer.bytes, as: UTF8.self)
    }
}
