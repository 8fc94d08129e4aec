import Foundation
import Testing

/// `fieldwork publish --to`: what a person publishes on a portal from another machine.
@Suite("Publishing on a portal", .serialized)
final class PortalPublishTests {
    private let folder: URL
    private let server: FieldworkProcess
    private let portal: String

    init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-publish-to-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let data = folder.appending(path: "data").path
        for (name, role) in [("ana", "administrator"), ("pia", "publisher"), ("vic", "viewer")] {
            let added = try await Self.run(
                ["users", "add", name, "--role", role, "--data", data], in: folder, as: name, input: "correct horse\n")
            try #require(added.status == 0, "\(added.errors)")
        }
        server = try FieldworkProcess.start(["serve", "--data", data, "--port", "0"])
        let address = try #require(try await server.readyLine().components(separatedBy: " ").last)
        let port = try #require(URL(string: address)?.port)
        portal = "http://127.0.0.1:\(port)/arcgis"
        try Data("name,species,x,y\nOne,Oak,-122.5,45.5\nTwo,Elm,-122.51,45.51\n".utf8).write(
            to: folder.appending(path: "trees.csv"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs a verb as the user of a device, whose sign-ins are no other's.
    private static func run(
        _ arguments: [String], in folder: URL, as user: String, input: String = ""
    ) async throws -> FieldworkProcess.Output {
        let entry = folder.appending(path: "input-\(user)")
        try Data(input.utf8).write(to: entry)
        return try await FieldworkProcess.run(
            ["-c", "exec \"$0\" \"$@\" < '\(entry.path)'", FieldworkProcess.executable.path] + arguments,
            environment: [
                "XDG_DATA_HOME": folder.appending(path: "home-\(user)").path, "DBUS_SESSION_BUS_ADDRESS": "",
            ],
            program: URL(filePath: "/bin/bash"))
    }

    private func run(_ arguments: [String], as user: String, input: String = "") async throws -> FieldworkProcess.Output
    {
        try await Self.run(arguments, in: folder, as: user, input: input)
    }

    private func signIn(_ user: String) async throws {
        let signedIn = try await run(["sign-in", portal, "--user", user], as: user, input: "correct horse\n")
        try #require(signedIn.status == 0, "\(signedIn.errors)")
    }

    private func publish(_ file: String, _ more: [String] = [], as user: String) async throws -> FieldworkProcess.Output
    {
        try await run(
            ["publish", folder.appending(path: file).path, "--to", portal, "--service", "Trees"] + more, as: user)
    }

    @Test(
        "A publisher's table becomes a service of the portal, whose owner the publisher is, and which nobody else sees")
    func story() async throws {
        let unknown = try await publish("trees.csv", as: "pia")
        #expect(unknown.status == 77 && unknown.errors.contains("fieldwork sign-in"), "\(unknown.errors)")
        try await signIn("pia")
        let made = try await publish("trees.csv", ["--x", "x", "--y", "y"], as: "pia")
        #expect(made.status == 0, "\(made.errors)")
        let address = try #require(made.text.split(separator: " ").last.map(String.init))
            .trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(made.text.contains("Published Trees: \(portal)/rest/services/"), "\(made.text)")
        let read = try await run(["query", "\(address)/0"], as: "pia")
        #expect(read.status == 0 && read.text.contains("Oak") && read.text.contains("Elm"), "\(read.errors)")
        try await signIn("vic")
        #expect(try await run(["query", "\(address)/0"], as: "vic").status != 0)
        let again = try await publish("trees.csv", ["--x", "x", "--y", "y"], as: "pia")
        #expect(again.status != 0 && again.errors.contains("Trees"), "\(again.errors)")
        let after = try await run(["query", "\(address)/0", "--format", "csv"], as: "pia")
        #expect(after.text.components(separatedBy: "Oak").count == 2, "the refused file added nothing: \(after.text)")
        #expect(await server.interrupt() == 0)
    }

    @Test("What can't be published leaves neither a service nor a file on the portal, and says why")
    func refusals() async throws {
        try await signIn("vic")
        let viewer = try await publish("trees.csv", ["--x", "x", "--y", "y"], as: "vic")
        #expect(viewer.status == 77, "\(viewer.errors)")
        try await signIn("pia")
        try Data("no table at all".utf8).write(to: folder.appending(path: "empty.geojson"))
        let broken = try await publish("empty.geojson", as: "pia")
        #expect(broken.status == 65 && !broken.errors.isEmpty, "\(broken.status) \(broken.errors)")
        try Data("x".utf8).write(to: folder.appending(path: "trees.shp"))
        let kind = try await publish("trees.shp", as: "pia")
        #expect(kind.status == 65 && kind.errors.contains(".csv, .geojson and .gpkg"), "\(kind.errors)")
        #expect(try await publish("missing.csv", as: "pia").status == 66)
        #expect(await server.interrupt() == 0)
        let items = try await run(
            ["items", "list", "--data", folder.appending(path: "data").path, "--format", "json"], as: "ana")
        #expect(items.status == 0 && !items.text.contains("Trees"), "\(items.text)\(items.errors)")
    }
}
