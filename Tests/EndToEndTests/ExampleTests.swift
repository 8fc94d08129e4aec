import Foundation
import Testing

/// The sample programs, each as its reader runs it: against the demo.
@Suite("Examples", .serialized)
struct ExampleTests {
    private struct Stage {
        let demo: FieldworkProcess
        let home: URL

        /// What a program prints when it has come to its end. Its edits are kept beside the demo's data.
        func run(_ name: String, _ arguments: [String] = []) async throws -> [String] {
            let program = FieldworkProcess.products.appending(path: name)
            try #require(
                FileManager.default.isExecutableFile(atPath: program.path), "\(name) is not built beside fieldwork")
            let output = try await FieldworkProcess.run(
                arguments,
                environment: ["FIELDWORK_SERVICES": demo.services, "HOME": home.path, "XDG_DATA_HOME": home.path],
                program: program)
            #expect(output.status == 0 && output.errors.isEmpty, "\(name): \(output.errors)")
            return output.text.split(separator: "\n").map(String.init)
        }
    }

    @Test("Each runs to its end and prints what it shows", .timeLimit(.minutes(3)))
    func run() async throws {
        let folder = try TemporaryFolder()
        let demo = try FieldworkProcess.start(["demo", "--data", folder.url.path, "--port", "0"])
        _ = try await demo.readyLine()
        let stage = Stage(demo: demo, home: folder.url.appending(path: "home"))
        let map = folder.url.appending(path: "maps/TreesOfPortland.webmap.json").path

        let read = try await stage.run("ReadMap", [map])
        #expect(read.contains { $0.hasSuffix("shown, loaded") }, "\(read)")
        #expect(read.contains { $0.contains("<svg") } && read.contains { $0.hasPrefix("Bookmark ") })
        #expect(read.contains { $0.hasPrefix("Rule ") } && read.contains { $0.hasSuffix("can be edited") })

        let edited = try await stage.run("EditReports")
        try #require(edited.count == 4, "\(edited)")
        #expect(edited[0].hasPrefix("added: ") && edited[2] == "set back: Destroyed")
        let id = edited[0].dropFirst("added: ".count)
        #expect(Int(id).map { $0 > 0 } == true && edited[1] == "changed: \(id)" && edited[3] == "deleted: \(id)")

        let inspected = try await stage.run("InspectTree", [map])
        #expect(inspected.contains { $0.hasPrefix("Not valid: ") }, "\(inspected)")
        #expect(inspected.last == "The tree is Fair now.")
        let again = try await stage.run("InspectTree", [map])
        let visits = [inspected, again].map { lines in lines.count { $0.hasPrefix("  Inspected ") } }
        #expect(visits[1] == visits[0] + 1, "the inspection has reached the service")

        let photo = try await stage.run("KeepPhoto")
        #expect(photo == ["kept: [70] bytes", "sent: true"])

        let selected = try await stage.run("Selections")
        let count = try #require(selected.first?.split(separator: " ").first.flatMap { Int($0) })
        #expect(selected.first?.hasSuffix("reports") == true && selected.count == 1 + min(count, 5) && count > 0)

        let file = folder.url.appending(path: "area.gpkg").path
        let service = "\(demo.services)/SaveTheBaySync/FeatureServer"
        let begun = try await stage.run("Starter", [service, file])
        #expect(begun.count == 2 && begun.last == "Synchronised", "\(begun)")
        func first(_ lines: [String]) -> Int? { lines.first?.split(separator: " ").compactMap { Int($0) }.first }
        let next = try await stage.run("Starter", [service, file])
        #expect(first(next) == first(begun).map { $0 + 1 }, "the feature of the first run is there")
        #expect(await demo.interrupt() == 0)
    }
}
