public import Foundation

/// A token and how long it is valid. Its text is shown by neither `description` nor a debugger's view of it.
public final class TokenInfo: Sendable {
    /// What is sent with requests. A secret.
    public let accessToken: String
    /// When it ceases to be valid, by the clock of this device.
    public let expirationDate: Date
    /// Whether it may travel over HTTPS alone.
    public let isSSLRequired: Bool

    /// nil for an empty token.
    public init?(accessToken: String, expirationDate: Date, isSSLRequired: Bool) {
        guard Self.isSendable(accessToken) else { return nil }
        self.accessToken = accessToken
        self.expirationDate = expirationDate
        self.isSSLRequired = isSSLRequired
    }

    /// Whether a text can be a header's value: a token with a line break in it would be another header.
    static func isSendable(_ token: String) -> Bool {
        !token.isEmpty && token.utf8.count <= Limits.tokenBytes && token.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Whether it is time for a new one.
    func isDue(now: Date = Date()) -> Bool { expirationDate.timeIntervalSince(now) < Limits.tokenMarginSeconds }
}

extension TokenInfo: CustomStringConvertible, CustomReflectable {
    /// When it expires, without the token.
    public var description: String { "token valid until \(expirationDate)" }

    /// When it expires, without the token.
    public var customMirror: Mirror {
        Mirror(self, children: ["expirationDate": expirationDate, "isSSLRequired": isSSLRequired])
    }
}
