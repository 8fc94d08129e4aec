public import Foundation
import Synchronization

/// A name and a password for a host or a gateway before it, by HTTP's own way of asking for them.
public final class NetworkCredential: Sendable {
    enum Content: Sendable {
        case password(username: String, password: String)
        case certificate(Data, password: String)
        case serverTrust
    }

    let content: Content

    private init(_ content: Content) { self.content = content }

    /// A name and a password.
    public static func password(username: String, password: String) -> NetworkCredential {
        NetworkCredential(.password(username: username, password: password))
    }

    /// A certificate of a file. It is not sent yet: a host that asks for one refuses the connection. Throws
    /// `CommonError.fileNotFound`.
    public static func certificate(at url: URL, password: String) throws -> NetworkCredential {
        guard let data = try? Data(contentsOf: url) else {
            throw CommonError.fileNotFound(details: "\(url.lastPathComponent) can't be read.")
        }
        return NetworkCredential(.certificate(data, password: password))
    }

    /// Trust in a host whose certificate nobody vouches for. It is not used yet: such hosts are refused.
    public static var serverTrust: NetworkCredential { NetworkCredential(.serverTrust) }

    /// The value of the header by which it is sent; nil for what is sent otherwise.
    var header: String? {
        guard case .password(let username, let password) = content else { return nil }
        return "Basic \(Data("\(username):\(password)".utf8).base64EncodedString())"
    }
}

extension NetworkCredential: CustomStringConvertible, CustomReflectable {
    /// What kind it is, without secrets.
    public var description: String {
        switch content {
        case .password: "name and password"
        case .certificate: "certificate"
        case .serverTrust: "server trust"
        }
    }

    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The network credentials of this process, by host. They are in memory alone.
public final class NetworkCredentialStore: Sendable {
    private let known = Mutex<[String: NetworkCredential]>([:])

    /// An empty store.
    public init() {}

    /// Adds a credential for a host.
    public func add(_ credential: NetworkCredential, forHost host: String) {
        known.withLock { $0[host.lowercased()] = credential }
    }

    /// The credentials of a host.
    public func credentials(forHost host: String) -> [NetworkCredential] {
        known.withLock { $0[host.lowercased()] }.map { [$0] } ?? []
    }

    /// Removes the credential of a host.
    public func remove(forHost host: String) { known.withLock { _ = $0.removeValue(forKey: host.lowercased()) } }

    /// Removes all credentials.
    public func removeAll() async { known.withLock { $0 = [:] } }
}

/// A host, or a gateway before it, wants to know who asks before it lets a request through.
public final class NetworkAuthenticationChallenge: Sendable {
    /// What it asks for.
    public enum Kind: Sendable, Hashable {
        /// Trust in its certificate.
        case serverTrust
        /// A name and a password, by NTLM.
        case ntlm
        /// A name and a password, as they are.
        case basic
        /// A name and a password, as a digest.
        case digest
        /// A certificate of the client.
        case clientCertificate
        /// Kerberos or NTLM.
        case negotiate
    }

    /// What is to become of the request.
    public enum Disposition: Sendable {
        /// It goes on with a credential, which joins the store.
        case continueWithCredential(NetworkCredential)
        /// It goes on without: its error is the host's.
        case continueWithoutCredential
        /// This way of signing in is not used; as there is one only, the request goes on without.
        case rejectProtectionSpace
        /// It fails with `NetworkChallengeCancellationError`.
        case cancel
    }

    /// The host that asks.
    public let host: String
    /// What it asks for.
    public let kind: Kind

    init(host: String, kind: Kind) {
        self.host = host
        self.kind = kind
    }
}

/// Answers when hosts or gateways want a name and a password. Set it as `ArcGISEnvironment.authenticationManager`'s
/// `networkAuthenticationChallengeHandler`.
public protocol NetworkAuthenticationChallengeHandler: AnyObject, Sendable {
    /// Gives a credential, or says that there is none.
    func handleNetworkAuthenticationChallenge(
        _ challenge: NetworkAuthenticationChallenge
    ) async -> NetworkAuthenticationChallenge.Disposition
}
