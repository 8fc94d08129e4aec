import Foundation
import Testing

/// Kills the app while a form is filled in, while a photo waits in it, and at any moment of its saving.
@Suite("Collect form crash", .serialized)
struct CollectFormCrashTests {
    private static let photo = Data("%PDF-1.4 a file that is kept".utf8)

    /// How many files a feature has on the server, and what its cause is.
    private static func stored(_ service: String, _ id: String) async throws -> (files: Int, cause: String?) {
        let filter = [("f", "json"), ("globalIds", "{\(id)}")]
        let answer = try await PlainRequest.post("\(service)/0/queryAttachments", filter)
        let groups = answer["attachmentGroups"] as? [[String: Any]] ?? []
        let files = groups.reduce(0) { $0 + (($1["attachmentInfos"] as? [Any])?.count ?? 0) }
        let found = try await PlainRequest.post(
            "\(service)/0/query",
            [("f", "json"), ("where", "GlobalID='{\(id)}'"), ("outFields", "*"), ("returnGeometry", "false")])
        let features = found["features"] as? [[String: Any]] ?? []
        let attributes = features.first?["attributes"] as? [String: Any]
        return (files, attributes?["primcause"] as? String)
    }

    @Test("What was typed and staged outlives SIGKILL; saved around another one it is on the server once")
    func form() async throws {
        let folder = try TemporaryFolder()
        let demo = try FieldworkProcess.start([
            "demo", "--data", folder.url.appending(path: "demo").path, "--port", "0",
        ])
        _ = try await demo.readyLine()
        let service = "\(demo.services)/DamageAssessment/FeatureServer"
        let data = folder.url.appending(path: "crew")
        var app = try await CollectVisitor.start(map: service, data: data)
        let list = try await app.page("/list/0?scope=all")
        let ids = list.matches(of: /href="\/f\/0\/([0-9a-f-]{36})\/edit"/).map { String($0.output.1) }
        let features = Array(Set(ids)).sorted().prefix(2)
        try #require(features.count == 2)

        for (round, id) in features.enumerated() {
            let form = "/f/0/\(id)/edit"
            // Typed, and a file staged: both are on the disk when they are answered.
            try await app.post(
                form, ["field.primcause": "Typed \(round)", "stage": "yes"], file: Self.photo, named: "Report.pdf")
            await app.process.kill()
            app = try await CollectVisitor.start(map: service, data: data)
            let page = try await app.page(form)
            #expect(page.contains("Typed \(round)"))
            #expect(page.contains("Report.pdf"))
            #expect(try await Self.stored(service, id).files == 0)

            // Killed at some moment of saving; what isn't saved then is saved once more.
            let (saving, moment) = (app, [5, 40][round])
            async let answer = try? saving.post(form, ["session": "s\(round)", "field.primcause": "Typed \(round)"])
            try await Task.sleep(for: .milliseconds(moment))
            await app.process.kill()
            _ = await answer
            app = try await CollectVisitor.start(map: service, data: data)
            let after = try await app.page(form)
            if after.contains("kept when you save") {
                try await app.post(form, ["session": "again\(round)", "field.primcause": "Typed \(round)"])
            }
            try await app.post("/sync")
            try await app.wait("/changes", for: "Everything is sent")
            let stored = try await Self.stored(service, id)
            #expect(stored.files == 1, "round \(round)")
            #expect(stored.cause == "Typed \(round)", "round \(round)")
        }
        await app.process.kill()
        #expect(await demo.interrupt() == 0)
    }
}
