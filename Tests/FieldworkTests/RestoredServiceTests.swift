import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// What a device does when its service was put back to a backup: what it gave since goes again, and nothing else.
@Suite("A service that was put back", .fewAtATime)
struct RestoredServiceTests {
    private func place(_ service: TestService) throws -> URL {
        try GeoPackageStore.place(of: service.name, in: service.store.folder)
    }

    private func backUp(_ service: TestService, _ name: String) async throws -> URL {
        let file = service.folder.appending(path: name)
        try await FileBackup(of: place(service), to: file).make()
        return file
    }

    private func putBack(_ backup: URL, _ service: TestService) async throws {
        _ = try await BackupRestorer(backup, to: place(service)).run()
    }

    @Test("A delete that the service did not accept does not go again; what was changed before it does")
    func undoneDelete() async throws {
        try await OfflineService.with(rule: .firstInWins) { service in
            let one = try await service.takeOffline("one")
            let two = try await service.takeOffline("two")
            let backup = try await backUp(service, "first.gpkg")
            try await two.changeDamage("Cause 0", ["numoccup": Int32(77)])
            try await service.sync(two)
            try await one.changeDamage("Cause 0", ["typdamage": "Major"])
            try await service.sync(one)
            try await two.damages.delete(try #require(try await two.damage("Cause 0")))
            try await service.sync(two)
            #expect(try await two.damage("Cause 0") != nil)

            try await putBack(backup, service)
            for device in [two, one, two] { #expect(try await service.sync(device).isEmpty) }
            #expect(try await service.served("numoccup")["Cause 0"] == .integer(77))
            #expect(try await service.served("typdamage")["Cause 0"] == .text("Major"))
            for device in [one, two] {
                let feature = try #require(try await device.damage("Cause 0"))
                let occupants = feature.attributes["numoccup"] as? any BinaryInteger
                #expect(occupants.map { Int($0) } == 77)
                #expect(!device.hasLocalEdits)
            }
        }
    }

    @Test(
        "What a device deleted after the second backup is deleted again, though the first one, put back before, never had it"
    )
    func forwardAgain() async throws {
        try await OfflineService.with { service in
            let one = try await service.takeOffline("one")
            let first = try await backUp(service, "first.gpkg")
            try await one.addDamage("New")
            try await service.sync(one)
            let second = try await backUp(service, "second.gpkg")
            try await putBack(first, service)
            try await one.damages.delete(try #require(try await one.damage("New")))
            try await service.sync(one)
            #expect(try await service.served("typdamage").keys.contains("New") == false)

            try await putBack(second, service)
            #expect(try await service.served("typdamage").keys.contains("New"))
            for _ in 0..<2 { #expect(try await service.sync(one).isEmpty) }
            #expect(try await service.served("typdamage").keys.contains("New") == false)
            #expect(try await one.damage("New") == nil)
        }
    }
}
