import Foundation
import Testing

/// Servers whose certificate no authority of the system vouches for.
@Suite("Certificates", .serialized, .enabled(if: Shell.has("openssl"), "openssl, which makes them, is not installed."))
struct CertificateTests {
    private static func make(_ name: String, in folder: URL) async throws -> URL {
        let (key, certificate) = (folder.appending(path: "\(name).key"), folder.appending(path: "\(name).pem"))
        let made = try await FieldworkProcess.run(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key.path, "-out",
                certificate.path,
            ], program: URL(filePath: "/usr/bin/openssl"))
        try #require(made.status == 0, "\(made.errors)")
        return certificate
    }

    /// The password goes to a server with a trusted certificate alone, and the sign-in opens what it closes.
    private static func signIn(
        _ server: FieldworkProcess, _ data: URL, trusted: URL, other: URL, home: URL
    ) async throws {
        func run(_ arguments: [String]) async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(
                ["-c", "printf '%s\\n' \"$FIELDWORK_TEST_LINE\" | \"$0\" \"$@\"", FieldworkProcess.executable.path]
                    + arguments,
                environment: [
                    "FIELDWORK_TEST_LINE": "correct horse", "HOME": home.path, "XDG_DATA_HOME": home.path,
                    "XDG_CONFIG_HOME": home.path,
                ], program: URL(filePath: "/bin/bash"))
        }
        let added = try await run(["users", "add", "ana", "--role", "administrator", "--data", data.path])
        #expect(added.status == 0, "\(added.errors)")
        try await Task.sleep(for: .milliseconds(600))
        let layer = "\(server.services)/Crews/FeatureServer/0"
        let closed = try await run(["query", layer, "--ca-certificate", trusted.path])
        #expect(closed.status == 77, "\(closed.text)\(closed.errors)")
        let portal = server.services.replacing("/rest/services", with: "")
        for arguments in [[], ["--ca-certificate", other.path]] {
            let refused = try await run(["sign-in", portal, "--user", "ana"] + arguments)
            #expect(refused.status == 69, "\(refused.text)\(refused.errors)")
        }
        let audit = try await run(["users", "audit", "--data", data.path])
        #expect(!audit.text.contains("signIn"), "the password was sent to nobody")
        let signedIn = try await run(["sign-in", portal, "--user", "ana", "--ca-certificate", trusted.path])
        #expect(signedIn.status == 0 && signedIn.text.contains("as ana"), "\(signedIn.text)\(signedIn.errors)")
        let read = try await run(["query", layer, "--ca-certificate", trusted.path])
        #expect(read.status == 0 && read.text.contains("here"), "\(read.text)\(read.errors)")
        let out = try await run(["sign-out", portal, "--ca-certificate", trusted.path])
        #expect(out.status == 0 && !out.errors.contains("could not be told"), "\(out.text)\(out.errors)")
        #expect(try await run(["query", layer, "--ca-certificate", trusted.path]).status == 77)
    }

    @Test("A server of one's own certificate is read, signed in to, taken along and synced with it, and never without")
    func verbs() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        try await CrewService.publish("5,5,here,1\n", in: data)
        let (trusted, other) = (
            try await Self.make("trusted", in: folder.url), try await Self.make("other", in: folder.url)
        )
        let server = try FieldworkProcess.start([
            "serve", "--data", data.path, "--port", "0", "--tls-certificate", trusted.path, "--tls-key",
            folder.url.appending(path: "trusted.key").path,
        ])
        _ = try await server.readyLine()
        #expect(server.services.hasPrefix("https://"))
        let service = "\(server.services)/Crews/FeatureServer"

        for arguments in [[], ["--ca-certificate", other.path]] {
            let refused = try await FieldworkProcess.run(["query", "\(service)/0"] + arguments)
            #expect(refused.status == 69, "\(refused.text)\(refused.errors)")
        }
        let read = try await FieldworkProcess.run(["query", "\(service)/0", "--ca-certificate", trusted.path])
        #expect(read.status == 0 && read.text.contains("here"), "\(read.errors)")
        let named = try await FieldworkProcess.run(
            ["query", "\(service)/0"], environment: ["SSL_CERT_FILE": trusted.path])
        #expect(named.status == 0 && named.text.contains("here"), "\(named.errors)")

        let file = folder.url.appending(path: "area.gpkg")
        let taken = try await FieldworkProcess.run([
            "offline", "create", service, "--extent", "0,0,10,10", "--out", file.path, "--ca-certificate", trusted.path,
        ])
        #expect(taken.status == 0, "\(taken.errors)")
        let refused = try await FieldworkProcess.run(["sync", file.path])
        #expect(refused.status != 0)
        let synced = try await FieldworkProcess.run(["sync", file.path, "--ca-certificate", trusted.path])
        #expect(synced.status == 0, "\(synced.text)\(synced.errors)")

        try await Self.signIn(server, data, trusted: trusted, other: other, home: folder.url.appending(path: "home"))

        let none = try await FieldworkProcess.run(["query", "\(service)/0", "--ca-certificate", "/nowhere.pem"])
        #expect(none.status == 66 && none.errors.contains("/nowhere.pem"), "\(none.errors)")
        let empty = folder.url.appending(path: "empty.pem")
        try Data("nothing".utf8).write(to: empty)
        let bad = try await FieldworkProcess.run(["query", "\(service)/0", "--ca-certificate", empty.path])
        #expect(bad.status == 65 && bad.errors.contains("no certificates"), "\(bad.errors)")
        #expect(await server.interrupt() == 0)
    }
}
