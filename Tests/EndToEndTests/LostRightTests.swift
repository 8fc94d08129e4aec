import Foundation
import Testing

/// A device whose person may not edit any more.
@Suite(
    "A right that is lost while somebody is out", .serialized,
    .enabled(if: Shell.has("ogr2ogr"), "GDAL, which plays the other program, is not installed."))
final class LostRightTests {
    private let folder: TemporaryFolder
    private var data: URL { folder.url.appending(path: "data") }
    private var file: String { folder.url.appending(path: "area.gpkg").path }

    init() throws { folder = try TemporaryFolder() }

    /// Runs a verb as one person's device does, with the password on its standard input.
    private func run(_ arguments: [String], status: Int32 = 0) async throws -> FieldworkProcess.Output {
        let home = folder.url.appending(path: "home").path
        let output = try await FieldworkProcess.run(
            ["-c", "printf '%s\\n' \"$FIELDWORK_TEST_LINE\" | \"$0\" \"$@\"", FieldworkProcess.executable.path]
                + arguments,
            environment: [
                "FIELDWORK_TEST_LINE": "correct horse", "HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home,
                "DBUS_SESSION_BUS_ADDRESS": "",
            ], program: URL(filePath: "/bin/bash"))
        #expect(output.status == status, "\(arguments): \(output.text)\(output.errors)")
        return output
    }

    @Test(
        "Edits of somebody who lost the right to edit stay on the device, which says so, and go once the right is back")
    func keeps() async throws {
        let place = ["--data", data.path]
        try await CrewService.publish("5,5,here,1\n6,6,there,2\n", in: data)
        _ = try await run(["users", "add", "ana", "--role", "administrator"] + place)
        _ = try await run(["users", "add", "ben", "--role", "editor"] + place)
        let server = try await FieldworkProcess.serve(data: data)
        let service = "\(server.services)/Crews/FeatureServer"
        _ = try await run(["sign-in", server.services.replacing("/rest/services", with: ""), "--user", "ben"])
        _ = try await run(["offline", "create", service, "--extent", "0,0,10,10", "--out", file])
        try #require(
            await Shell.run(
                "ogr2ogr -update -sql \"UPDATE Crews SET name = 'mine' WHERE counter = 1\" \(file) \(file) 2>&1") == 0)

        _ = try await run(["users", "role", "ben", "viewer"] + place)
        try await Task.sleep(for: .milliseconds(500))
        let refused = try await run(["sync", file], status: 77)
        #expect(refused.errors.lowercased().contains("permission"), "\(refused.text)\(refused.errors)")
        #expect(try await run(["diff", file]).text.contains("mine"), "the edit is still on the device")
        let unchanged = try await run(["query", "\(service)/0", "--out-fields", "name", "--format", "csv"])
        #expect(!unchanged.text.contains("mine"))

        _ = try await run(["users", "role", "ben", "editor"] + place)
        try await Task.sleep(for: .milliseconds(500))
        _ = try await run(["sync", file])
        #expect(try await run(["diff", file]).text.isEmpty)
        let sent = try await run(["query", "\(service)/0", "--out-fields", "name", "--format", "csv"])
        #expect(sent.text.contains("mine") && sent.text.contains("there"), "\(sent.text)")
        #expect(await server.interrupt() == 0)
    }
}
