import ArgumentParser
import FieldworkServer
import Foundation

/// The certificate of a server that speaks TLS.
struct TLSOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Speak TLS with the certificate in this file, in PEM, with those that lead to a known one after it. A renewed"
                + " file is taken without a new start.", valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The key of the certificate, in PEM.", valueName: "file"))
    var tlsKey: String?

    func validate() throws {
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key go together.")
        }
    }

    func files() throws -> TLSFiles? {
        guard let tlsCertificate, let tlsKey else { return nil }
        let urls = [tlsCertificate, tlsKey].map { URL(filePath: ($0 as NSString).expandingTildeInPath) }
        for url in urls where !FileManager.default.isReadableFile(atPath: url.path) {
            throw CommandFailure(.noInput, "\(url.path) is not there, or can't be read.")
        }
        do {
            return try TLSFiles(certificate: urls[0], key: urls[1])
        } catch let error as TLSFiles.Unreadable {
            throw CommandFailure(.badData, error.description)
        }
    }
}
