package import Foundation
import Logging
import NIOCore
import NIOSSL
import Synchronization

/// The certificate and the key of a server that speaks TLS, in PEM files that somebody renews from time to time: new connections
/// get what is in the files then.
package final class TLSFiles: Sendable {
    package struct Unreadable: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    private struct Loaded {
        var chain: [NIOSSLCertificate]
        var key: NIOSSLPrivateKey
        var modified: [Date?]
        var looked: ContinuousClock.Instant
    }

    private let certificate: URL
    private let key: URL
    private let loaded: Mutex<Loaded>
    private let patience: Duration

    /// - Parameter patience: for how long the files are not looked at again.
    /// - Throws: `Unreadable`.
    package init(
        certificate: URL, key: URL, patience: Duration = .seconds(Limits.certificateSeconds)
    ) throws {
        self.certificate = certificate
        self.key = key
        self.patience = patience
        loaded = Mutex(try Self.load(certificate, key))
    }

    private static func load(_ certificate: URL, _ key: URL) throws -> Loaded {
        let modified = [certificate, key].map(Self.modified)
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate.path)
            guard !chain.isEmpty else {
                throw Unreadable(description: "\(certificate.path) holds no certificate in PEM.")
            }
            let read = try NIOSSLPrivateKey(file: key.path, format: .pem)
            // A pair that does not belong together would only fail when the first client comes.
            _ = try NIOSSLContext(configuration: Self.configuration(chain, read))
            return Loaded(chain: chain, key: read, modified: modified, looked: .now)
        } catch let error as Unreadable {
            throw error
        } catch {
            throw Unreadable(
                description:
                    "\(certificate.path) and \(key.path) are no certificate and the key that belongs to it, in PEM (\(error))."
            )
        }
    }

    private static func modified(_ file: URL) -> Date? {
        (try? FileManager.default.attributesOfItem(atPath: file.path))?[.modificationDate] as? Date
    }

    private static func configuration(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return configuration
    }

    /// What a server is started with; each handshake gets the files as they are then.
    func configuration(_ logger: Logger) -> TLSConfiguration {
        let now = loaded.withLock { ($0.chain, $0.key) }
        var configuration = Self.configuration(now.0, now.1)
        configuration.sslContextCallback = { _, promise in
            // Not on the thread of the handshake: it reads files, and what OpenSSL notes of a broken pair stays with the thread,
            // where the handshake would take it for its own failure.
            DispatchQueue.global().async {
                let (chain, key) = self.current(logger)
                var change = NIOSSLContextConfigurationOverride()
                change.certificateChain = chain.map { .certificate($0) }
                change.privateKey = .privateKey(key)
                promise.succeed(change)
            }
        }
        return configuration
    }

    /// A pair that is half renewed is passed over until it is whole.
    private func current(_ logger: Logger) -> ([NIOSSLCertificate], NIOSSLPrivateKey) {
        loaded.withLock { loaded in
            guard loaded.looked.duration(to: .now) >= patience else { return (loaded.chain, loaded.key) }
            loaded.looked = .now
            guard [certificate, key].map(Self.modified) != loaded.modified else { return (loaded.chain, loaded.key) }
            do {
                loaded = try Self.load(certificate, key)
                logger.notice("The certificate was renewed")
            } catch {
                logger.warning("A renewed certificate was not taken", metadata: ["error": "\(error)"])
            }
            return (loaded.chain, loaded.key)
        }
    }
}
