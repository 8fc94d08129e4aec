public import Foundation

/// Why signing in failed, or why a token could not be renewed.
public enum ArcGISAuthenticationError: ArcGISError, LocalizedError, Hashable {
    /// The server does not know the name, or the password is another.
    case invalidCredentials(details: String)
    /// The server does not accept the token, and it can't be renewed.
    case invalidToken(details: String)
    /// The server wants a token, and none is known.
    case tokenRequired(details: String)
    /// The token has expired and can't be renewed.
    case tokenExpired(details: String)
    /// The sign-in by OAuth failed: the app is not registered, or the server refused the code.
    case oAuthFailure(details: String)
    /// The server does not say where tokens are given.
    case tokenURLNotFound(details: String)
    /// The server asks for a secret over a connection that others can read.
    case sslRequired(details: String)

    /// What happened, for a person.
    public var details: String {
        switch self {
        case .invalidCredentials(let details), .invalidToken(let details), .tokenRequired(let details),
            .tokenExpired(let details), .oAuthFailure(let details), .tokenURLNotFound(let details),
            .sslRequired(let details):
            details
        }
    }
}

/// A request failed because the sign-in that it needed was cancelled. Nothing of the request was done; what it was to send
/// is still on this device.
public struct ArcGISChallengeCancellationError: ArcGISError, LocalizedError {
    /// The sign-in that was cancelled.
    public let challenge: ArcGISAuthenticationChallenge

    /// What happened, for a person.
    public var details: String {
        "\(challenge.requestURL.host() ?? "The server") wants a sign-in, which was cancelled. Sign in and try again."
    }
}

/// A request failed because the name and password that its server or gateway asked for were not given.
public struct NetworkChallengeCancellationError: ArcGISError, LocalizedError {
    /// What was asked for.
    public let challenge: NetworkAuthenticationChallenge

    /// What happened, for a person.
    public var details: String { "\(challenge.host) wants a name and a password, which were not given." }
}

extension ArcGISAuthenticationError {
    /// Whether the name or the password was refused, or has to wait. Not part of the vendor's API.
    public var isAboutCredentials: Bool {
        if case .invalidCredentials = self { return true }
        return false
    }

    /// The reason why a sign-in failed, in words for the person: without the portal's "Unable to generate token." before it.
    /// Not part of the vendor's API.
    public var plainDetails: String {
        guard isAboutCredentials else { return details }
        let prefix = "Unable to generate token."
        let reason = details.hasPrefix(prefix) ? details.dropFirst(prefix.count).drop { $0 == " " } : details[...]
        let isWrong = reason.isEmpty || reason.lowercased().contains("invalid username or password")
        return isWrong ? "The user name or the password is not right." : String(reason)
    }
}
