/// A key that the vendor's portal on the web gives to apps. It is sent to addresses under `arcgis.com` alone, when no
/// credential is known for them.
public struct APIKey: RawRepresentable, Hashable, Sendable {
    /// The key as a text. A secret.
    public let rawValue: String

    /// nil for a text that can't be a key.
    public init?(rawValue: String) {
        guard TokenInfo.isSendable(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// nil for a text that can't be a key.
    public init?(_ key: String) { self.init(rawValue: key) }
}

extension APIKey: CustomStringConvertible, CustomReflectable {
    /// A mark in place of the key, which is a secret.
    public var description: String { Redaction.mark }

    /// Nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
