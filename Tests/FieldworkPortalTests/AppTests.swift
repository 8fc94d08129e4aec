import TestSupport
import Testing

@testable import FieldworkPortal

@Suite("Registered applications", .fewAtATime)
struct AppTests {
    private static let redirect = "https://app.example/back"
    private static let author = TemporaryPortal.author

    @Test(
        "Its owner and who manages items register, list and change an application; others see none of it",
        arguments: TemporaryPortal.kinds)
    func owners(_ kind: TemporaryPortal.Kind) async throws {
        try await TemporaryPortal.with(kind) { temporary in
            let portal = temporary.portal
            let ana = try await temporary.add("Ana", .publisher)
            let ben = try await temporary.add("ben", .publisher)
            let boss = try await temporary.add("boss", .administrator)
            let item = try await temporary.addItem("Reports", type: "Web Mapping Application", owner: ana)
            _ = try await portal.share(item.id, organisation: true, for: ana, by: Self.author)
            await #expect(throws: PortalError.notAllowed) {
                try await portal.registerApp(item.id, redirects: [Self.redirect], for: ben, by: Self.author)
            }
            let made = try await portal.registerApp(item.id, redirects: [Self.redirect], for: ana, by: Self.author)
            #expect(made.app.item == item.id && made.app.client.owner == "ana" && made.secret.count > 40)
            await #expect(throws: PortalError(.exists, "'Reports' is registered already.")) {
                try await portal.registerApp(item.id, redirects: [], for: ana, by: Self.author)
            }
            let map = try await temporary.addItem("Trees", owner: ana)
            await #expect(throws: PortalError.self) {
                try await portal.registerApp(map.id, redirects: [], for: ana, by: Self.author)
            }

            #expect(try await portal.apps(for: ana).apps == [made.app])
            #expect(try await portal.apps(for: boss).total == 1)
            for other in [ben, .nobody] { #expect(try await portal.apps(for: other).total == 0) }
            #expect(try await portal.app(ofItem: item.id, for: boss) == made.app)
            let id = made.app.client.id
            for other in [ben, .nobody] {
                await #expect(throws: PortalError.self) { try await portal.app(id, for: other) }
                await #expect(throws: PortalError.self) {
                    try await portal.updateApp(id, redirects: ["https://evil.example/"], for: other, by: Self.author)
                }
                await #expect(throws: PortalError.self) {
                    try await portal.unregisterApp(id, for: other, by: Self.author)
                }
            }
            let changed = try await portal.updateApp(id, redirects: ["app.example:/x"], for: ana, by: Self.author)
            #expect(changed.client.redirects == ["app.example:/x"])
            #expect(try await portal.client(id)?.allows(Self.redirect, own: "https://maps.example") == false)
        }
    }

    @Test("With an application go the tokens that it was given; its item may stay or go", arguments: [true, false])
    func removal(_ removesItem: Bool) async throws {
        try await TemporaryPortal.with { temporary in
            let portal = temporary.portal
            let ana = try await temporary.add("ana", .publisher)
            let made = try await portal.addApp(
                title: "Reports", redirects: [Self.redirect], owner: "ana", for: ana, by: Self.author)
            let client = made.app.client
            let own = try await portal.credentials(client: client.id, secret: made.secret, seconds: 60)
            let code = try await portal.issueCode(to: "ana", client: client, redirect: Self.redirect, challenge: nil)
            let grant = try await portal.exchange(
                code: code, client: client.id, redirect: Self.redirect, verifier: nil, secret: made.secret,
                seconds: nil,
                by: Self.author)
            #expect(try await portal.principal(token: own.token).kind == .application)
            #expect(try await portal.principal(token: grant.access.token).name == "ana")
            if removesItem {
                try await portal.removeItem(made.app.item, services: [], for: ana, by: Self.author)
            } else {
                try await portal.unregisterApp(client.id, for: ana, by: Self.author)
                #expect(try await portal.item(made.app.item, for: ana).item.type == Portal.appType)
            }
            for token in [own.token, grant.access.token] {
                await #expect(throws: PortalError.self) { try await portal.principal(token: token) }
            }
            await #expect(throws: PortalError.self) {
                try await portal.credentials(client: client.id, secret: made.secret, seconds: 60)
            }
            #expect(try await portal.client(client.id) == nil)
        }
    }

    @Test("An application belongs to whom its item is given")
    func reassigned() async throws {
        try await TemporaryPortal.with { temporary in
            let portal = temporary.portal
            let ana = try await temporary.add("ana", .publisher)
            let ben = try await temporary.add("ben", .publisher)
            let boss = try await temporary.add("boss", .administrator)
            let made = try await portal.addApp(title: "App", redirects: [], owner: "ana", for: ana, by: Self.author)
            try await portal.reassign(made.app.item, to: "ben", for: boss, by: Self.author)
            #expect(try await portal.apps(for: ben).total == 1)
            #expect(try await portal.apps(for: ana).total == 0)
            await #expect(throws: PortalError.self) { try await portal.app(made.app.client.id, for: ana) }
        }
    }

    @Test("Open services are those that everyone sees, with those that everyone edits")
    func open() async throws {
        try await TemporaryPortal.with { temporary in
            let portal = temporary.portal
            try await temporary.add("ana", .administrator)
            try await portal.addServiceItems(["Trees", "Reports", "Staff"])
            for path in ["Trees", "Reports"] {
                let item = try #require(try await portal.item(ofService: path))
                _ = try await portal.share(item.id, everyone: true, for: .everybody, by: Self.author)
            }
            let reports = try #require(try await portal.item(ofService: "Reports"))
            try await portal.setOpenToEdits(true, reports.id, for: .everybody, by: Self.author)
            #expect(
                try await portal.openServices() == [
                    OpenService(path: "Reports", isOpenToEdits: true), OpenService(path: "Trees", isOpenToEdits: false),
                ])
        }
    }
}
