import AsyncHTTPClient
public import Foundation
import NIOCore
import NIOSSL

/// How services are reached: the way to them and how long is waited. The vendor's API leaves this to the system's session.
public struct NetworkSettings: Sendable, Hashable {
    /// An HTTP proxy, through which requests go by `CONNECT`.
    public struct Proxy: Sendable, Hashable {
        /// The host of the proxy.
        public var host: String
        /// The port of the proxy.
        public var port: Int
        /// Who asks, where the proxy wants to know; nil for nobody. It is never written to a log.
        public var username: String?
        /// The password of `username`. It is never written to a log.
        public var password: String?
        /// Hosts that are reached without the proxy: a name or an address for itself, `.example.org` or `*.example.org` for all
        /// names that end so, `*` for all.
        public var exceptions: [String]

        /// A proxy for HTTP and HTTPS.
        public init(
            host: String, port: Int, username: String? = nil, password: String? = nil, exceptions: [String] = []
        ) {
            self.host = host
            self.port = port
            self.username = username
            self.password = password
            self.exceptions = exceptions
        }

        /// Whether requests for a host go through the proxy.
        func serves(_ host: String) -> Bool {
            let host = host.lowercased()
            return !exceptions.contains { exception in
                let exception = exception.lowercased()
                if exception == "*" { return true }
                let suffix = exception.hasPrefix("*.") ? exception.dropFirst() : exception[...]
                return suffix.hasPrefix(".") ? host.hasSuffix(suffix) : host == exception
            }
        }
    }

    /// Which answers are asked for in gzip.
    public enum Compression: Sendable, Hashable {
        /// All but those of this machine, to which the way is shorter than the work.
        case automatic
        /// All that only read.
        case always
        /// None.
        case never
    }

    /// How long connecting may take, from the name's look-up to the end of a TLS handshake: 10 seconds.
    public var connectTimeout: Duration = .seconds(Limits.connectSeconds)
    /// How long a connection may be silent while an answer is awaited: 60 seconds.
    public var idleTimeout: Duration = .seconds(Limits.requestSeconds)
    /// How long a request may take until its answer is complete: 10 minutes. Uploads get more, by their size.
    public var requestTimeout: Duration = .seconds(Limits.exchangeSeconds)
    /// How often a read is tried when there is no answer or the service is too busy: 3 times. Writes are tried once, since they
    /// may have been done.
    public var readAttempts = Limits.readAttempts
    /// Which answers are asked for in gzip.
    public var compression = Compression.automatic
    /// The proxy; nil for the direct way.
    public var proxy: Proxy?

    /// A file of certificates, in PEM, of authorities that are trusted besides the system's. nil for none; at first it is the file
    /// that `SSL_CERT_FILE` of the environment names.
    public var certificateFile = NetworkSettings.certificateFileOfEnvironment

    /// The usual settings, with the direct way.
    public init() {}
}

extension NetworkSettings {
    /// The same settings, with certificates that are trusted besides the system's. Whatever else a connection's certificate
    /// has to be, it still has to be.
    /// - Throws: `CommonError.fileNotFound`, `CommonError.invalidArgument` for a file without certificates in PEM.
    public func trusting(certificatesIn file: URL) throws -> NetworkSettings {
        guard FileManager.default.isReadableFile(atPath: file.path) else {
            throw CommonError.fileNotFound(details: "\(file.path) is not there, or can't be read.")
        }
        guard let found = try? NIOSSLCertificate.fromPEMFile(file.path), !found.isEmpty else {
            throw CommonError.invalidArgument(details: "\(file.path) has no certificates in PEM.")
        }
        var settings = self
        settings.certificateFile = file
        return settings
    }

    /// nil where the environment names none that can be read.
    private static var certificateFileOfEnvironment: URL? {
        guard let path = ProcessInfo.processInfo.environment["SSL_CERT_FILE"], !path.isEmpty,
            FileManager.default.isReadableFile(atPath: path)
        else { return nil }
        return URL(filePath: path)
    }

    /// What belongs to a pool of connections.
    struct Way: Sendable, Hashable {
        var connectTimeout: Duration
        var idleTimeout: Duration
        var proxy: Proxy?
        var certificateFile: URL?

        var configuration: HTTPClient.Configuration {
            var configuration = HTTPClient.Configuration.singletonConfiguration
            // A server that refuses connections is away now; the caller decides when to ask again.
            configuration.connectionPool.retryConnectionEstablishment = false
            configuration.decompression = .disabled
            // `Redirection` follows, and knows which headers are secret.
            configuration.redirectConfiguration = .disallow
            configuration.timeout = .init(connect: connectTimeout.amount, read: idleTimeout.amount)
            if let certificateFile {
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.additionalTrustRoots = [.file(certificateFile.path)]
                configuration.tlsConfiguration = tls
            }
            if let proxy {
                let credentials = proxy.username.map { name in
                    HTTPClient.Authorization.basic(username: name, password: proxy.password ?? "")
                }
                configuration.proxy = .server(host: proxy.host, port: proxy.port, authorization: credentials)
            }
            return configuration
        }
    }

    /// The way to a host.
    func way(to host: String) -> Way {
        var way = Way(connectTimeout: connectTimeout, idleTimeout: idleTimeout, certificateFile: certificateFile)
        if let proxy, proxy.serves(host) {
            way.proxy = proxy
            // Which hosts it is for has been decided: one pool serves them all.
            way.proxy?.exceptions = []
        }
        return way
    }
}

extension Duration {
    /// At least a millisecond, since nothing means no limit there.
    fileprivate var amount: TimeAmount {
        let (seconds, attoseconds) = components
        return .milliseconds(max(1, seconds * 1_000 + attoseconds / 1_000_000_000_000_000))
    }
}

extension NetworkSettings.Proxy: CustomStringConvertible, CustomReflectable {
    /// The host and the port: what is safe to show.
    public var description: String { "\(host):\(port)" }

    /// The host and the port: what is safe to show.
    public var customMirror: Mirror { Mirror(self, children: ["host": host, "port": port]) }
}
