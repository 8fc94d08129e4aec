import AsyncHTTPClient
import NIOCore

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

    /// The usual settings, with the direct way.
    public init() {}
}

extension NetworkSettings {
    /// What belongs to a pool of connections.
    struct Way: Sendable, Hashable {
        var connectTimeout: Duration
        var idleTimeout: Duration
        var proxy: Proxy?

        var configuration: HTTPClient.Configuration {
            var configuration = HTTPClient.Configuration.singletonConfiguration
            // A server that refuses connections is away now; the caller decides when to ask again.
            configuration.connectionPool.retryConnectionEstablishment = false
            configuration.decompression = .disabled
            // `Redirection` follows, and knows which headers are secret.
            configuration.redirectConfiguration = .disallow
            configuration.timeout = .init(connect: connectTimeout.amount, read: idleTimeout.amount)
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
        var way = Way(connectTimeout: connectTimeout, idleTimeout: idleTimeout)
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
