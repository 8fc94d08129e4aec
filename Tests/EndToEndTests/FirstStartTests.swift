import Foundation
import Testing

/// What an office makes for its crews, and files that crews open, as the built command does it.
@Suite("First start on the command line", .serialized)
struct FirstStartTests {
    @Test("A code is printed, written as a picture, and refused for what is no address")
    func code() async throws {
        let folder = try TemporaryFolder()
        let address = "https://maps.example/arcgis/rest/services/Trees/FeatureServer"
        let printed = try await FieldworkProcess.run(["code", address])
        #expect(printed.status == 0 && printed.text.contains("▄") && printed.text.split(separator: "\n").count > 10)
        #expect(!printed.text.contains("\u{1B}"), "no colours in a file")
        let file = folder.url.appending(path: "trees.svg")
        #expect(try await FieldworkProcess.run(["code", address, "--out", file.path]).status == 0)
        #expect(try String(contentsOf: file, encoding: .utf8).hasPrefix("<svg "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["trees.svg"])
        #expect(try await FieldworkProcess.run(["code", address, "--out", file.path]).status == 73)
        for bad in ["file:///etc/passwd", "trees", "https://a@b.example/"] {
            let refused = try await FieldworkProcess.run(["code", bad])
            #expect(refused.status == 65 && refused.text.isEmpty, "\(bad)")
        }
        #expect(try await FieldworkProcess.run(["code", address, "--out", folder.url.path + "/a.png"]).status == 65)
    }

    @Test("A file is worked in where it is, by one program at a time, and synced from there")
    func file() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        try await CrewService.publish("1,1,a,1\n2,2,b,1\n", in: data)
        let server = try await FieldworkProcess.serve(data: data)
        let area = folder.url.appending(path: "area.gpkg")
        try await CrewService.takeOffline(server.services, to: area)
        let app = try await CollectVisitor.start([area.path], data: folder.url.appending(path: "collect"))
        #expect(try await app.page("/list/0").contains("Offline, area"))
        try await app.post(
            "/add/0",
            ["lon": "3", "lat": "3", "template": "n", "session": "s", "field.name": "c", "field.counter": "3"])
        #expect(try await app.page("/list/0").contains("1 not sent"))

        let busy = try await FieldworkProcess.run(["sync", area.path])
        #expect(busy.status == 75 && busy.errors.contains("open in another Fieldwork"))
        let second = try await CollectVisitor.start([area.path], data: folder.url.appending(path: "other"))
        #expect(try await second.page("/start/file?path=\(area.path)").contains("open in another Fieldwork"))
        #expect(await second.process.interrupt() == 0)

        // The one that holds it dies; what it had saved goes with the next sync.
        await app.process.kill()
        let synced = try await FieldworkProcess.run(["sync", area.path])
        #expect(synced.status == 0, "\(synced.errors)")
        #expect(try await CrewService.served(server.services).keys.sorted() == ["a", "b", "c"])
        #expect(try await FieldworkProcess.run(["collect", folder.url.path + "/gone.gpkg"]).status == 66)
        #expect(await server.interrupt() == 0)
    }
}
