public import Foundation

/// A service wants to know who asks. Give a credential, and the request goes on where it stood.
public final class ArcGISAuthenticationChallenge: Sendable {
    /// Which credentials help.
    public enum Kind: Sendable, Hashable {
        /// The service belongs to a portal: sign in to it by OAuth, or by name and password.
        case oAuthOrToken
        /// The service stands alone: it gives tokens for name and password.
        case token
        /// A proxy before the service wants a sign-in of its own. The SDK never asks for it.
        case iap
    }

    /// What is to become of the request.
    public enum Disposition: Sendable {
        /// It goes on with a credential, which joins the store.
        case continueWithCredential(ArcGISCredential)
        /// It goes on without: its error is the service's.
        case continueWithoutCredential
        /// It fails with `ArcGISChallengeCancellationError`.
        case cancel
    }

    /// The request that was refused, without its query.
    public let requestURL: URL
    /// Which credentials help.
    public let kind: Kind
    /// What the service said, or why a credential that was known can't be used any more.
    public let error: any Error
    /// Where tokens for the service are given; nil where that is not known.
    let signInRoot: ServerRoot?

    /// The address of the portal or server that gives tokens for the service; nil where that is not known.
    public var signInURL: URL? { signInRoot.flatMap { URL(string: $0.text) } }

    init(requestURL: URL, kind: Kind, error: any Error, signInRoot: ServerRoot?) {
        var components = URLComponents(url: requestURL, resolvingAgainstBaseURL: true)
        components?.query = nil
        components?.fragment = nil
        components?.user = nil
        components?.password = nil
        self.requestURL = components?.url ?? requestURL
        self.kind = kind
        self.error = error
        self.signInRoot = signInRoot
    }
}

/// Answers when services want to know who asks. Set it as `ArcGISEnvironment.authenticationManager`'s
/// `arcGISAuthenticationChallengeHandler`. Many requests that wait for one sign-in make one challenge.
///
/// ```swift
/// final class SignIn: ArcGISAuthenticationChallengeHandler {
///     func handleArcGISAuthenticationChallenge(
///         _ challenge: ArcGISAuthenticationChallenge
///     ) async throws -> ArcGISAuthenticationChallenge.Disposition {
///         guard let (name, password) = await askUser() else { return .cancel }
///         return .continueWithCredential(
///             try await TokenCredential.credential(for: challenge, username: name, password: password))
///     }
/// }
/// ```
public protocol ArcGISAuthenticationChallengeHandler: AnyObject, Sendable {
    /// Gives a credential, or says that there is none. What it throws, the requests that wait throw.
    func handleArcGISAuthenticationChallenge(
        _ challenge: ArcGISAuthenticationChallenge
    ) async throws -> ArcGISAuthenticationChallenge.Disposition
}
