import FieldworkPortal
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("TLS", .fewAtATime, .enabled(if: Tool.isInstalled("openssl") && Tool.isInstalled("curl"), "needs openssl, curl"))
struct TLSTests {
    /// Makes a certificate that signs itself.
    private static func makeCertificate(_ name: String, in folder: URL) async throws {
        let made = try await Tool.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1",
                "-keyout", folder.appending(path: "key.pem").path, "-out",
                folder.appending(path: "certificate.pem").path,
            ])
        try #require(made.status == 0, "\(made.standardError)")
    }

    private static func with(_ test: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await makeCertificate("first", in: folder)
        try await test(folder)
    }

    private static func files(_ folder: URL, patience: Duration = .zero) throws -> TLSFiles {
        try TLSFiles(
            certificate: folder.appending(path: "certificate.pem"), key: folder.appending(path: "key.pem"),
            patience: patience)
    }

    /// Trusts the certificate of a file, and no other.
    private static func fetch(_ path: String, _ port: Int, trusting folder: URL) async throws -> Tool.Output {
        try await Tool.run(
            "curl",
            [
                "-sS", "--max-time", "60", "--cacert", folder.appending(path: "certificate.pem").path,
                "https://127.0.0.1:\(port)\(path)",
            ])
    }

    @Test("A server with a certificate speaks TLS, says https in its addresses, and takes a renewed certificate")
    func serves() async throws {
        try await Self.with { folder in
            let store = try await GeoPackageStore.open(at: folder)
            let running = try await RunningFeatureServer.start(
                store: store, configuration: ServerConfiguration(port: 0, tls: try Self.files(folder)))
            let first = try await Self.fetch("/arcgis/rest/info?f=json", running.port, trusting: folder)
            #expect(first.status == 0 && first.text.contains("currentVersion"), "\(first.standardError)")
            let plain = try await Tool.run("curl", ["-sS", "http://127.0.0.1:\(running.port)/arcgis/rest/info?f=json"])
            #expect(plain.status != 0, "without TLS it says nothing")
            // The clock of files may count whole seconds.
            try await Task.sleep(for: .milliseconds(1_100))
            try await Self.makeCertificate("second", in: folder)
            let second = try await Self.fetch("/arcgis/sharing/rest/oauth2/authorize", running.port, trusting: folder)
            #expect(second.status == 0, "\(second.standardError)")
            let info = try await Self.fetch("/arcgis/sharing/rest/info?f=json", running.port, trusting: folder)
            #expect(info.text.contains("https://127.0.0.1:\(running.port)/arcgis"), "\(info.text)")
            // A pair that is half renewed is passed over.
            try await Task.sleep(for: .milliseconds(1_100))
            let certificate = try Data(contentsOf: folder.appending(path: "certificate.pem"))
            try await Self.makeCertificate("third", in: folder)
            try certificate.write(to: folder.appending(path: "certificate.pem"))
            let third = try await Self.fetch("/arcgis/rest/info?f=json", running.port, trusting: folder)
            #expect(third.status == 0, "\(third.standardError)")
            try await running.stop()
        }
    }

    @Test("Files that are no certificate and its key are refused at the start")
    func refused() async throws {
        try await Self.with { folder in
            try await Self.with { other in
                #expect(throws: TLSFiles.Unreadable.self, "a key of another certificate") {
                    try TLSFiles(
                        certificate: folder.appending(path: "certificate.pem"), key: other.appending(path: "key.pem"))
                }
            }
            try Data("nothing".utf8).write(to: folder.appending(path: "certificate.pem"))
            #expect(throws: TLSFiles.Unreadable.self) { try Self.files(folder) }
        }
    }
}
