import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkPortal

/// People and rights that are put back from a backup.
@Suite("Restoring people and rights", .fewAtATime)
struct RestoreTests {
    private static let author = Author(name: "test", address: "")
    private static let password = "correct horse"

    /// A folder with a portal, and a backup of it that was made when it had ana, ben, the group Crew with ben and a map for everyone.
    private struct Stage {
        let file: URL
        let backup: URL
        let portal: Portal
        let map: Item
        let group: Group
        let token: String
    }

    private static func with(_ test: (Stage) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-restore-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = Portal.file(in: folder)
        let backup = folder.appending(path: "backup.sqlite")
        let portal = try await Portal(try RecordDatabase(file: file), passwordCost: 4)
        do {
            try await portal.addPerson("ana", password: password, role: .administrator, by: author)
            try await portal.addPerson("ben", password: password, role: .editor, by: author)
            let group = try await portal.addGroup(title: "Crew", for: .everybody, owner: "ana", by: author)
            _ = try await portal.addMembers(["ben"], to: group.id, for: .everybody, by: author)
            try await portal.addServiceItems(["Trees"])
            var change = ItemChange()
            (change.title, change.type) = ("Map", "Web Map")
            let map = try await portal.addItem(change, owner: "ana", for: .everybody, by: author)
            try await share(map, everyone: true, portal)
            let token = try await portal.issueToken(to: "ben", seconds: 3_600).token
            try await GeoPackageFile.copy(from: file, to: backup)
            try await test(
                Stage(file: file, backup: backup, portal: portal, map: map, group: group, token: token))
            await portal.close()
        } catch {
            await portal.close()
            throw error
        }
    }

    private static func share(_ item: Item, everyone: Bool, _ portal: Portal) async throws {
        _ = try await portal.share(
            item.id, everyone: everyone, organisation: everyone, addingGroups: [], onlyGroups: true, for: .everybody,
            by: author)
    }

    private static func rows(_ portal: Portal, _ sql: String) async throws -> [String] {
        try await portal.records.read { try $0.rows(sql).compactMap { $0.text(0) } }
    }

    @Test("What was lost comes back, what was made since stays, and nobody's token comes back")
    func losses() async throws {
        try await Self.with { stage in
            let portal = stage.portal
            var change = ItemChange()
            (change.title, change.type) = ("New map", "Web Map")
            try await portal.addPerson("zoe", password: Self.password, role: .viewer, by: Self.author)
            let new = try await portal.addItem(change, owner: "ana", for: .everybody, by: Self.author)
            try await portal.addServiceItems(["Secret"])
            let secret = try #require(try await portal.item(ofService: "Secret"))
            try await Self.share(secret, everyone: false, portal)
            // Its text was spoilt.
            change = ItemChange()
            change.snippet = "spoilt"
            try await portal.updateItem(stage.map.id, change, for: .everybody, by: Self.author)
            try await portal.revoke(stage.token, by: Self.author)
            let outcome = try await PortalRestorer(stage.backup, to: stage.file, by: Self.author).run(
                bringsBackRights: false)
            #expect(outcome.returned.isEmpty && outcome.stayed == ["zoe"] && outcome.people == 2)
            let kept = try #require(outcome.kept)
            #expect(FileManager.default.fileExists(atPath: kept.path))
            // The portal that was open all the time sees it.
            try await Task.sleep(for: .milliseconds(Limits.rightsMilliseconds + 50))
            #expect(try await portal.item(stage.map.id, for: .everybody).item.fields.snippet == nil)
            #expect(try await portal.item(new.id, for: .everybody).item.title == "New map")
            let sharing = try await portal.facts(ofService: "Secret").sharing
            #expect(sharing == Sharing(), "what is not in the backup is shared as it was")
            #expect(try await Self.rows(portal, "SELECT hash FROM {tokens}").isEmpty)
            await #expect(throws: PortalError.self) {
                _ = try await portal.principal(token: stage.token, referer: nil, address: "192.0.2.1")
            }
        }
    }

    @Test("Rights that were taken away since are told, and come back only when they are meant")
    func takenRights() async throws {
        try await Self.with { stage in
            let portal = stage.portal
            try await portal.addPerson("cy", password: Self.password, role: .administrator, by: Self.author)
            let second = stage.backup.deletingLastPathComponent().appending(path: "second.sqlite")
            try await GeoPackageFile.copy(from: stage.file, to: second)
            try await portal.removePerson("cy", leavingTo: nil, by: Self.author)
            try await portal.setDisabled(true, "ben", by: Self.author)
            try await portal.setRole(.viewer, of: "ben", by: Self.author)
            try await portal.setPassword("another horse", of: "ben", by: Self.author)
            _ = try await portal.removeMembers(["ben"], from: stage.group.id, for: .everybody, by: Self.author)
            try await Self.share(stage.map, everyone: false, portal)
            let restorer = PortalRestorer(second, to: stage.file, by: Self.author)
            do {
                _ = try await restorer.run(bringsBackRights: false)
                Issue.record("It was done.")
            } catch let error as PortalRestorer.RightsWouldReturn {
                for words in [
                    "cy was removed", "ben was disabled", "ben has another role", "ben has a new password",
                    "ben is a member of the group Crew again", "Map is shared with everyone again",
                    "Map is shared with the organisation again",
                ] {
                    #expect(error.rights.contains { $0.contains(words) }, "\(words): \(error.rights)")
                }
                #expect(error.rights.count == 7, "\(error.rights)")
            }
            #expect(try await portal.person(named: "cy") == nil)
            #expect(try await portal.person(named: "ben")?.isDisabled == true)
            let names = try FileManager.default.contentsOfDirectory(
                atPath: stage.file.deletingLastPathComponent().path)
            #expect(!names.contains { $0.contains("replaced") || $0.contains("making") }, "\(names)")
            let outcome = try await restorer.run(bringsBackRights: true)
            #expect(outcome.returned.count == 7)
            #expect(try await portal.person(named: "cy")?.roleID == Role.administrator.id)
            #expect(try await portal.person(named: "ben")?.isDisabled == false)
            _ = try await portal.signIn("ben", password: Self.password, from: "192.0.2.7")
            #expect(try await Self.rows(portal, "SELECT person FROM {members}").contains("ben"))
            let told = try await portal.audit().first { $0.action == "portal.restore" }
            #expect(told?.details.contains("7") == true)
        }
    }

    @Test("A lost file comes back whole, without tokens; what is no backup of a portal is refused")
    func lost() async throws {
        try await Self.with { stage in
            let folder = stage.file.deletingLastPathComponent().appending(path: "other")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let place = Portal.file(in: folder)
            let outcome = try await PortalRestorer(stage.backup, to: place, by: Self.author).run(
                bringsBackRights: false)
            #expect(outcome.kept == nil && outcome.people == 2)
            let portal = try await Portal(try RecordDatabase(file: place), passwordCost: 4)
            #expect(try await Self.rows(portal, "SELECT hash FROM {tokens}").isEmpty)
            _ = try await portal.signIn("ana", password: Self.password, from: "192.0.2.7")
            await portal.close()
            let rights = try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions] as? Int
            #expect(rights == 0o600)
            let bad = folder.appending(path: "bad.sqlite")
            try Data("no database".utf8).write(to: bad)
            await #expect(throws: (any Error).self) {
                try await PortalRestorer(bad, to: stage.file, by: Self.author).run(bringsBackRights: true)
            }
            #expect(try await stage.portal.person(named: "ana") != nil)
        }
    }
}
