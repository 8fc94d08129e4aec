public import Foundation

/// How an app signs people in to a portal by OAuth. Register the app with the portal first, to have a client id.
public final class OAuthUserConfiguration: Sendable {
    /// The portal.
    public let portalURL: URL
    /// The id under which the portal knows the app.
    public let clientID: String
    /// Where the portal sends the person back to: an address of the app's own scheme, or `http://127.0.0.1/…` for one that
    /// the SDK listens at.
    public let redirectURL: URL
    /// How long the person stays signed in, in seconds; nil for two weeks, 0 for as long as the portal allows.
    public let refreshTokenExpirationInterval: TimeInterval?

    /// A configuration. Nothing is checked before the sign-in.
    public init(
        portalURL: URL, clientID: String, redirectURL: URL, refreshTokenExpirationInterval: TimeInterval? = nil
    ) {
        self.portalURL = portalURL
        self.clientID = clientID
        self.redirectURL = redirectURL
        self.refreshTokenExpirationInterval = refreshTokenExpirationInterval
    }

    /// Whether an address belongs to the portal, or to a server beside it on the same host.
    public func canBeUsed(for url: URL) -> Bool {
        guard let place = ServerRoot(url), let portal = ServerRoot(portalURL) else { return false }
        return place.sharesOrigin(with: portal) || (place.isOnline && portal.isOnline)
    }
}
