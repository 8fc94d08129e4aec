import Crypto
public import Foundation

/// A portal's page where a person signs in. Show it, and return the address that the portal sends the person to.
public struct OAuthSignInPage: Sendable {
    /// The address of the page, for a browser.
    public let url: URL
    /// Where the portal sends the person afterwards.
    public let redirectURL: URL
    /// Whether the SDK listens at `redirectURL` itself: the prompt opens the page, and may return nil.
    public let isRedirectAwaited: Bool
}

/// Opens a sign-in page, which is a matter of the app's user interface.
///
/// It returns the address that the portal sent the person to, as the app caught it by its own scheme; or nil when the SDK
/// listens there (`OAuthSignInPage.isRedirectAwaited`). It throws `CancellationError` when the person gave up.
public typealias OAuthSignInPrompt = @Sendable (_ page: OAuthSignInPage) async throws -> URL?

/// The secrets of one sign-in: what only the app knows that began it.
struct OAuthSecrets: Sendable {
    /// Comes back with the code, so that nobody else's code is taken.
    let state: String
    /// Proves that the code is redeemed by whoever asked for it.
    let verifier: String

    init() {
        state = Self.random()
        verifier = Self.random()
    }

    /// What the portal is shown of the verifier before.
    var challenge: String { Self.base64URL(Array(SHA256.hash(data: Data(verifier.utf8)))) }

    private static func random() -> String {
        SymmetricKey(size: .bits256).withUnsafeBytes { base64URL(Array($0)) }
    }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The code in the address that the portal sent the person to. Throws `ArcGISAuthenticationError.oAuthFailure` for an
    /// address of another sign-in, `CancellationError` when the person refused.
    func code(in redirect: URL) throws -> String {
        let items = URLComponents(url: redirect, resolvingAgainstBaseURL: true)?.queryItems ?? []
        func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
        guard value("state") == state else {
            throw ArcGISAuthenticationError.oAuthFailure(details: "The answer belongs to another sign-in.")
        }
        if let error = value("error") {
            if error == "access_denied" { throw CancellationError() }
            throw ArcGISAuthenticationError.oAuthFailure(details: value("error_description") ?? error)
        }
        guard let code = value("code"), !code.isEmpty else {
            throw ArcGISAuthenticationError.oAuthFailure(details: "The portal sent no code.")
        }
        return code
    }
}
