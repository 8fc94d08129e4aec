import Foundation
import Testing

/// Debian's own interpreter: QGIS installs its modules there, and another one may stand before it on the path.
private let python = URL(filePath: "/usr/bin/python3")

@Suite(
    "QGIS on a server with people", .serialized,
    .enabled(
        if: FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/qgis/core/__init__.py"),
        "make vendor installs QGIS"))
struct QGISTests {
    @Test("It reads features and images of a service that is not public, with a token in its authentication store")
    func token() async throws {
        let folder = try TemporaryFolder()
        let place = { (name: String) in folder.url.appending(path: name).path }
        try Data("name,species,x,y\nOne,Oak,-122.5,45.5\nTwo,Elm,-122.51,45.51\n".utf8).write(
            to: folder.url.appending(path: "trees.csv"))
        try await Self.command(
            ["publish", place("trees.csv"), "--service", "Trees", "--x", "x", "--y", "y", "--data", place("data")])
        for (name, role) in [("ana", "administrator"), ("vic", "viewer")] {
            try await Self.command(
                ["users", "add", name, "--role", role, "--data", place("data")], line: "correct horse")
        }
        let server = try FieldworkProcess.start(["serve", "--data", place("data"), "--port", "0"])
        let address = try #require(try await server.readyLine().components(separatedBy: " ").last)
        let port = try #require(URL(string: address)?.port)
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Support/qgis_secured.py")
        try await Self.command(
            [script.path, "http://127.0.0.1:\(port)/arcgis", "vic"], line: "correct horse", program: python,
            home: folder.url)
        #expect(await server.interrupt() == 0)
    }

    /// Runs a program to its end, with a line on its standard input.
    private static func command(
        _ arguments: [String], line: String = "", program: URL = FieldworkProcess.executable, home: URL? = nil
    ) async throws {
        var environment = ["FIELDWORK_TEST_LINE": line]
        if let home { environment["HOME"] = home.path }
        let ended = try await FieldworkProcess.run(
            ["-c", "printf '%s\\n' \"$FIELDWORK_TEST_LINE\" | \"$0\" \"$@\"", program.path] + arguments,
            environment: environment, program: URL(filePath: "/bin/bash"))
        try #require(ended.status == 0, "\(ended.text)\(ended.errors.suffix(2_000))")
    }
}
