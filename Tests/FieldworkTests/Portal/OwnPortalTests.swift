import FieldworkPortal
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

/// The SDK against the server beside it: they meet over the protocol alone.
@Suite("The SDK and our own portal", .fewAtATime)
struct OwnPortalTests {
    // MARK: Signing in

    @Test("A name and a password open what is closed, and nothing after the sign-out")
    func tokens() async throws {
        try await OwnPortal.with { own in
            let closed = ServiceGeodatabase(url: own.service.url, environment: own.environment())
            await #expect(throws: (any Error).self) { try await closed.load() }
            let (portal, user) = try await own.loaded(as: "ana")
            #expect(user.username == "ana" && user.role == .publisher && portal.info?.portalName.isEmpty == false)
            try await user.load()
            #expect(user.privileges.contains("portal:user:createItem"))
            try await closed.retryLoad()
            #expect(await own.manager.signOut())
            await #expect(throws: (any Error).self) {
                try await ServiceGeodatabase(url: own.service.url, environment: own.environment("other")).load()
            }
        }
    }

    @Test("A wrong password is refused as such")
    func wrongPassword() async throws {
        try await OwnPortal.with { own in
            await #expect {
                _ = try await TokenCredential.credential(for: own.url, username: "ana", password: "guess")
            } throws: { error in
                if case ArcGISAuthenticationError.invalidCredentials = error { true } else { false }
            }
        }
    }

    @Test("A closed service asks the app's handler once, and goes on after it")
    func challenge() async throws {
        try await OwnPortal.with { own in
            let handler = ScriptedHandler { challenge in
                .continueWithCredential(
                    try await TokenCredential.credential(
                        for: challenge, username: "ben", password: OwnPortal.password))
            }
            own.manager.arcGISAuthenticationChallengeHandler = handler
            let geodatabase = ServiceGeodatabase(url: own.service.url, environment: own.environment())
            try await geodatabase.load()
            let table = try #require(geodatabase.table(withLayerID: 0))
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 20)
            #expect(handler.challenges.count == 1)
        }
    }

    @Test("A person signs in on the portal's page; the tokens renew themselves and end with the sign-out")
    func browser() async throws {
        try await OwnPortal.with { own in
            let redirect = try #require(URL(string: "http://127.0.0.1/signed-in"))
            let configuration = OAuthUserConfiguration(
                portalURL: own.url, clientID: "fieldwork", redirectURL: redirect)
            // The browser is not the prompt's: the sign-in ends when the portal's answer is here, and cancels the prompt.
            let browser = Mutex<Task<String, any Error>?>(nil)
            let credential = try await OAuthUserCredential.credential(for: configuration) { sheet in
                browser.withLock { $0 = Task { try await OwnPortal.browse(sheet.url, as: "ben") } }
                return nil
            }
            let page = try await browser.withLock { $0 }?.value
            #expect(page?.contains("You are signed in") == true && credential.username == "ben")
            own.manager.arcGISCredentialStore.add(credential)
            let held = credential.heldToken.accessToken
            #expect(try await credential.token(besides: held).accessToken != held)
            let portal = own.portal()
            try await portal.load()
            #expect(portal.user?.username == "ben")
            #expect(await own.manager.signOut(of: own.url))
            await #expect(throws: (any Error).self) { try await own.portal().load() }
        }
    }

    // MARK: Items

    @Test("An item is added, changed, pictured, shared, found, moved and deleted")
    func items() async throws {
        try await OwnPortal.with { own in
            let (portal, user) = try await own.loaded(as: "ana")
            let item = PortalItem(portal: portal, kind: .geoJSON, title: "Oaks", tags: ["oak", "street"])
            try await user.add(item, with: .json(Data(#"{"type":"FeatureCollection","features":[]}"#.utf8)))
            #expect(item.owner == "ana" && item.access == .private && item.tags == ["oak", "street"])
            item.title = "Old oaks"
            item.snippet = "All of them"
            try await item.updateProperties()
            try await item.updateData(with: .json(Data(#"{"type":"FeatureCollection","features":[1]}"#.utf8)))
            #expect(String(decoding: try await item.data, as: UTF8.self).contains("[1]"))

            let picture = own.service.folder.appending(path: "picture.png")
            try Self.pixel.write(to: picture)
            try await item.updateThumbnail(at: picture)
            let thumbnail = try #require(item.thumbnail)
            try await thumbnail.load()
            #expect(thumbnail.data == Self.pixel)

            #expect(try await Self.found("oaks", own.portal(.anonymous)) == [])
            try await item.share(with: .everyone)
            let again = PortalItem(portal: portal, id: try #require(item.id))
            try await again.load()
            #expect(again.title == "Old oaks" && again.snippet == "All of them" && again.access == .everyone)
            #expect(try await Self.found("oaks", portal) == ["Old oaks"])
            own.manager.arcGISCredentialStore.removeAll()
            #expect(try await Self.found("oaks", own.portal(.anonymous)) == ["Old oaks"])

            try await own.signIn("ana")
            let folder = try await user.addFolder(titled: "Field")
            try await user.move(item, to: folder)
            #expect(try await user.content(of: folder).items.map(\.title) == ["Old oaks"])
            try await user.delete(folder)
            #expect(try await user.content.folders.isEmpty)
            #expect(try await Self.found("oaks", portal) == [])
        }
    }

    private static func found(_ text: String, _ portal: Fieldwork.Portal) async throws -> [String] {
        try await portal.findItems(queryParameters: PortalQueryParameters(query: text)).results.map(\.title)
    }

    private static let pixel =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        ) ?? Data()

    @Test("A map is saved to the portal, read from it by another person, and saved over and beside what it was")
    func maps() async throws {
        try await OwnPortal.with { own in
            let (portal, _) = try await own.loaded(as: "ana")
            let map = Map(spatialReference: .webMercator)
            try await map.load()
            try await map.save(to: portal, title: "Round", tags: ["field"])
            let item = try #require(map.item as? PortalItem)
            #expect(item.kind == .webMap && item.owner == "ana")
            try await item.share(with: .organization)
            map.initialViewpoint = Viewpoint(latitude: 45.5, longitude: -122.6, scale: 10_000)
            try await map.save()
            try await map.saveAs(to: portal, title: "Second round", tags: [])
            #expect((map.item as? PortalItem)?.id != item.id)

            own.manager.arcGISCredentialStore.removeAll()
            let (others, _) = try await own.loaded(as: "vera")
            let found = try await others.findItems(queryParameters: .items(ofKinds: [.webMap]))
            #expect(found.results.map(\.title) == ["Round"])
            let read = Map(item: try #require(found.results.first))
            try await read.load()
            #expect(read.initialViewpoint?.targetScale == 10_000)
            await #expect(throws: (any Error).self) { try await read.save() }
            await #expect(throws: (any Error).self) { try await read.saveAs(to: others, title: "Mine", tags: []) }
        }
    }

    // MARK: Features

    @Test(
        "Who may edit edits a closed service, connected and without a network; who may look is refused, and keeps the edit"
    )
    func features() async throws {
        try await OwnPortal.with { own in
            try await own.signIn("ben")
            let geodatabase = ServiceGeodatabase(url: own.service.url, environment: own.environment())
            try await geodatabase.load()
            let table = try #require(geodatabase.table(withLayerID: 0))
            try await table.add(
                table.makeFeature(attributes: ["primcause": "Flood"], geometry: OfflineService.place(3)))
            let results = try await geodatabase.applyEdits()
            #expect(results.flatMap(\.editResults).allSatisfy { !$0.didCompleteWithErrors } && !results.isEmpty)
            #expect(try await own.causes().contains("Flood"))

            let job = try await OfflineService.generateJob(
                own.service.rootURL, file: own.service.folder.appending(path: "area.gpkg"),
                environment: own.environment())
            job.start()
            let area = try await job.output
            try await area.load()
            try await area.addDamage("Storm")
            try await own.sync(area)
            #expect(try await own.causes().contains("Storm"))

            own.manager.arcGISCredentialStore.removeAll()
            try await own.signIn("vera")
            try await area.addDamage("Fire")
            await #expect(throws: (any Error).self) { try await own.sync(area) }
            #expect(try await !own.causes().contains("Fire") && area.hasLocalEdits)
            #expect(try await area.damage("Fire") != nil)

            own.manager.arcGISCredentialStore.removeAll()
            try await own.signIn("ben")
            try await own.sync(area)
            #expect(try await own.causes().contains("Fire"))
        }
    }
}

extension OwnPortal {
    fileprivate func sync(_ geodatabase: Geodatabase) async throws {
        let job = try await OfflineService.syncJob(geodatabase, environment: environment())
        job.start()
        _ = try await job.output
    }

    /// What the service has.
    fileprivate func causes() async throws -> Set<String> {
        Set(try await service.served("typdamage").keys)
    }
}
