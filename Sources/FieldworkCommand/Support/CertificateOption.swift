import ArgumentParser
import Fieldwork
import Foundation

/// Whom to trust beside the authorities that the system knows, for servers with a certificate of their organisation.
struct CertificateOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Trust the certificates in this file too, in PEM. SSL_CERT_FILE of the environment does the same.",
            valueName: "file"))
    var caCertificate: String?

    /// Has the requests of this process trust them.
    func use() throws {
        guard let caCertificate else { return }
        let file = URL(filePath: (caCertificate as NSString).expandingTildeInPath)
        let session = ArcGISEnvironment.urlSession
        do {
            let settings = try session.settings.trusting(certificatesIn: file)
            ArcGISEnvironment.urlSession = ArcGISURLSession(settings: settings, interceptors: session.interceptors)
        } catch CommonError.fileNotFound(let details) {
            throw CommandFailure(.noInput, details)
        } catch let error as CommonError {
            throw CommandFailure(.badData, error.details)
        }
    }
}
