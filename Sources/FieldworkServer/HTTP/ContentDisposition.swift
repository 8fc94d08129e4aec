import Foundation

/// The header field that says whether a browser shows a file or saves it, and under which name (RFC 6266).
enum ContentDisposition {
    static func text(name: String, isShown: Bool) -> String {
        let plain = String(
            name.unicodeScalars.map { isPlain($0) ? Character($0) : "_" })
        let escaped = name.addingPercentEncoding(withAllowedCharacters: allowed) ?? plain
        return "\(isShown ? "inline" : "attachment"); filename=\"\(plain)\"; filename*=UTF-8''\(escaped)"
    }

    private static let allowed = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$&+-.^_`|~")

    /// What every reader of a quoted text understands.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        (0x20...0x7E).contains(scalar.value) && !["\"", "\\", "%", "/"].contains(scalar)
    }
}
