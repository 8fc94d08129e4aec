import Foundation
import Testing

/// Where `make vendor` installs the vendor's Python client.
private let vendorPython = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: ".fieldwork/vendor/bin/python")

@Suite(
    "The vendor's Python client on a portal", .serialized,
    .enabled(
        if: FileManager.default.isExecutableFile(atPath: vendorPython.path),
        "make vendor installs the client"))
struct VendorPortalTests {
    private static let table = "name,species,x,y\nOne,Oak,-122.5,45.5\nTwo,Elm,-122.51,45.51\n"
    private static let definition =
        #"{"capabilities":"Query,Create,Update,Delete,Editing,Sync,ChangeTracking","syncEnabled":true}"#

    @Test(
        "It signs in over TLS in both ways, manages people, groups and maps, and takes replicas of a secured service"
    )
    func story() async throws {
        let folder = try TemporaryFolder()
        let place = { (name: String) in folder.url.appending(path: name).path }
        try Data(Self.table.utf8).write(to: folder.url.appending(path: "trees.csv"))
        try Data(Self.definition.utf8).write(to: folder.url.appending(path: "definition.json"))
        let published = try await FieldworkProcess.run([
            "publish", place("trees.csv"), "--service", "Trees", "--x", "x", "--y", "y",
            "--definition", place("definition.json"), "--data", place("data"),
        ])
        try #require(published.status == 0, "\(published.errors)")
        for (name, role, number) in [("ana", "administrator", 1), ("vic", "viewer", 2), ("edi", "editor", 3)] {
            let added = try await FieldworkProcess.run(
                [
                    "-c", "printf '%s\\n' \"$FIELDWORK_TEST_LINE\" | \"$0\" \"$@\"",
                    FieldworkProcess.executable.path, "users", "add", name, "--role", role, "--data", place("data"),
                ], environment: ["FIELDWORK_TEST_LINE": "correct horse \(number)"],
                program: URL(filePath: "/bin/bash"))
            try #require(added.status == 0, "\(added.errors)")
        }
        try await Self.use("vendor_portal.py", folder, [folder.url.path])
    }

    /// Serves the services in `data` of a folder over TLS, as the client wants it, and runs a program of the client against them.
    private static func use(
        _ program: String, _ folder: borrowing TemporaryFolder, _ arguments: [String] = []
    ) async throws {
        let url = folder.url
        let place = { (name: String) in url.appending(path: name).path }
        let made = try await FieldworkProcess.run(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                "-keyout", place("key.pem"), "-out", place("certificate.pem"),
            ], program: URL(filePath: "/usr/bin/openssl"))
        try #require(made.status == 0, "\(made.errors)")
        let server = try FieldworkProcess.start([
            "serve", "--data", place("data"), "--port", "0", "--tls-certificate", place("certificate.pem"),
            "--tls-key", place("key.pem"),
        ])
        let port = try #require(URL(string: try await server.readyLine().components(separatedBy: " ").last ?? "")?.port)
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Support/\(program)")
        let told = try await FieldworkProcess.run(
            [script.path, "https://localhost:\(port)/arcgis"] + arguments,
            environment: [
                "REQUESTS_CA_BUNDLE": place("certificate.pem"), "SSL_CERT_FILE": place("certificate.pem"),
                "HOME": url.path,
            ], program: vendorPython)
        #expect(told.status == 0, "\(told.text)\(told.errors.suffix(2_000))")
        #expect(await server.interrupt() == 0)
    }

    @Test("It finds addresses, one and many, suggestions and the addresses of places with a locator")
    func addresses() async throws {
        let folder = try TemporaryFolder()
        let table = folder.url.appending(path: "houses.csv")
        try Data(
            """
            number,street,city,state,x,y
            12,Oak Street,Alderton,OR,-122.5,45.5
            14,Oak Street,Alderton,OR,-122.4995,45.5

            """.utf8
        ).write(to: table)
        let data = folder.url.appending(path: "data")
        let made = try await FieldworkProcess.run([
            "locator", "make", table.path, "--name", "Town", "--country", "US", "--data", data.path,
        ])
        try #require(made.status == 0, "\(made.errors)")
        try await Self.use("vendor_geocoding.py", folder)
    }
}
