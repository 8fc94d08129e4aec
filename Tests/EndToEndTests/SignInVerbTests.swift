import Foundation
import Testing

/// The command signs in to a portal of another maker, reads what is guarded, and signs out.
@Suite(
    "Signing in on the command line", .serialized,
    .enabled(if: Shell.has("python3"), "Python, which plays the portal, is not installed."))
final class SignInVerbTests {
    private let folder: URL
    private let portal: FieldworkProcess
    private let address: String

    init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-sign-in-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let script = folder.appending(path: "portal.py")
        try Data(Self.script.utf8).write(to: script)
        let portal = try FieldworkProcess.start(
            ["-c", "exec python3 -u \"$0\"", script.path], program: URL(filePath: "/bin/bash"))
        let port = try await portal.readyLine()
        self.portal = portal
        address = "http://127.0.0.1:\(port)/portal"
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A portal as small as it can be: one person, one layer.
    private static let script = """
        import http.server, json, urllib.parse
        tokens, count = set(), 0
        class Portal(http.server.BaseHTTPRequestHandler):
            def log_message(self, *rest): pass
            def say(self, value):
                body = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def do_GET(self): self.answer({})
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                self.answer(dict(urllib.parse.parse_qsl(body)))
            def answer(self, form):
                global count
                base = "http://" + self.headers["Host"] + "/portal"
                path = self.path.split("?")[0]
                if path.endswith("/rest/info"):
                    self.say({"owningSystemUrl": base, "authInfo": {"isTokenBasedSecurity": True,
                        "tokenServicesUrl": base + "/sharing/rest/generateToken"}})
                elif path.endswith("/generateToken"):
                    if form.get("password") != "open sesame":
                        self.say({"error": {"code": 400, "message": "Unable to generate token.",
                            "details": ["Invalid username or password."]}})
                        return
                    count += 1
                    tokens.add("secret-token-%d" % count)
                    self.say({"token": "secret-token-%d" % count, "expires": 4102444800000, "ssl": False})
                elif path.endswith("/revokeToken"):
                    tokens.discard(form.get("auth_token"))
                    self.say({"success": True})
                elif (self.headers.get("X-Esri-Authorization") or "")[7:] not in tokens:
                    self.say({"error": {"code": 499, "message": "Token Required", "details": []}})
                elif path.endswith("/query"):
                    self.say({"objectIdFieldName": "OBJECTID", "fields": [
                        {"name": "OBJECTID", "type": "esriFieldTypeOID"},
                        {"name": "name", "type": "esriFieldTypeString", "length": 20}],
                        "features": [{"attributes": {"OBJECTID": 1, "name": "hidden oak"}}]})
                else:
                    self.say({"id": 0, "name": "Trees", "type": "Table", "objectIdField": "OBJECTID", "fields": [
                        {"name": "OBJECTID", "type": "esriFieldTypeOID"},
                        {"name": "name", "type": "esriFieldTypeString", "length": 20}]})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Portal)
        print(server.server_port)
        server.serve_forever()
        """

    /// Runs a verb with standard input from a text.
    private func run(_ arguments: [String], input: String = "") async throws -> FieldworkProcess.Output {
        let entry = folder.appending(path: "input")
        try Data(input.utf8).write(to: entry)
        return try await FieldworkProcess.run(
            ["-c", "exec \"$0\" \"$@\" < '\(entry.path)'", FieldworkProcess.executable.path] + arguments,
            environment: ["XDG_DATA_HOME": folder.path, "DBUS_SESSION_BUS_ADDRESS": ""],
            program: URL(filePath: "/bin/bash"))
    }

    @Test("A verb says that a sign-in is needed, reads after it, and no more after the sign-out")
    func story() async throws {
        let layer = "\(address)/rest/services/Trees/FeatureServer/0"
        let refused = try await run(["query", layer])
        #expect(refused.status == 77 && refused.errors.contains("fieldwork sign-in"), "\(refused.errors)")
        let wrong = try await run(["sign-in", address, "--user", "ana"], input: "guess\n")
        #expect(
            wrong.status == 77 && wrong.errors == "fieldwork: The user name or the password is not right.\n",
            "\(wrong.errors)")
        // Named by the service: the portal is found.
        let signedIn = try await run(["sign-in", layer, "--user", "ana"], input: "open sesame\n")
        #expect(signedIn.status == 0 && signedIn.text.contains("as ana"), "\(signedIn.errors)")
        let read = try await run(["query", layer])
        #expect(read.status == 0 && read.text.contains("hidden oak"), "\(read.errors)")
        let kept = folder.appending(path: "Fieldwork/Credentials")
        for name in try FileManager.default.contentsOfDirectory(atPath: kept.path) {
            let bytes = try Data(contentsOf: kept.appending(path: name))
            #expect(bytes.range(of: Data("sesame".utf8)) == nil && bytes.range(of: Data("secret".utf8)) == nil)
        }
        let signedOut = try await run(["sign-out", address])
        #expect(signedOut.status == 0 && signedOut.text.contains("Signed out"), "\(signedOut.errors)")
        #expect(try await run(["query", layer]).status == 77)
        #expect(try await run(["sign-out", address]).status == 66)
        for output in [refused, wrong, signedIn, read, signedOut] {
            #expect(!(output.text + output.errors).contains("secret-token"))
            #expect(!(output.text + output.errors).contains("sesame"))
        }
    }
}
