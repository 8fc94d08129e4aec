import Foundation
import Testing

/// Devices that synchronised after the backup that is put back.
@Suite("Backups and devices", .serialized)
struct BackupSyncTests {
    @Test("What devices sent after the backup comes to the restored service once, and all have the same in the end")
    func devicesGoOn() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data", directoryHint: .isDirectory)
        let home = ServiceHome(data: data)
        try await CrewService.publish("1,1,first,0\n2,2,second,0\n", in: home, with: folder.url)
        let server = try await home.serve()
        var crews = ["north", "south"].map { Crew($0, in: folder.url) }
        for crew in crews { try await CrewService.takeOffline(server.services, to: crew.file) }
        // Before the backup, after it, and not sent at all.
        for index in crews.indices {
            try await crews[index].add("\(crews[index].name)-before", 1)
            try await crews[index].sync()
        }
        let backup = folder.url.appending(path: "backup", directoryHint: .isDirectory)
        let made = try await FieldworkProcess.run(["backup", "--to", backup.path, "--data", data.path])
        try #require(made.status == 0, "\(made.errors)")
        for index in crews.indices {
            try await crews[index].add("\(crews[index].name)-after", 2)
            try await crews[index].change("\(crews[index].name)-before", 7)
            try await crews[index].sync()
            try await crews[index].sync()
            try await crews[index].add("\(crews[index].name)-unsent", 3)
        }
        var late = Crew("late", in: folder.url)
        try await CrewService.takeOffline(server.services, to: late.file)
        try await late.add("late-after", 4)
        try await late.sync()
        crews.append(late)

        let file = try #require(
            try FileManager.default.contentsOfDirectory(atPath: backup.path).first { $0.hasSuffix(".gpkg") })
        let people = try await FieldworkProcess.run([
            "restore-backup", backup.appending(path: "portal.sqlite").path, "--data", data.path,
        ])
        #expect(people.status == 0 && people.text.contains("No token came back"), "\(people.text)\(people.errors)")
        let restored = try await FieldworkProcess.run([
            "restore-backup", backup.appending(path: file).path, "--data", data.path,
        ])
        try #require(restored.status == 0, "\(restored.errors)")
        for _ in 0..<3 {
            for crew in crews { try await crew.sync() }
        }
        var expected = ["first": [0], "second": [0]]
        for crew in crews { expected.merge(crew.values.mapValues { [$0] }) { $0 + $1 } }
        #expect(try await CrewService.served(server.services) == expected)
        for crew in crews { #expect(try await crew.kept() == expected) }
        #expect(await server.interrupt() == 0)
        try await home.expectSound()
    }
}
