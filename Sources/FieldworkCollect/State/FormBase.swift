import Foundation

/// What the controls of a form showed when it was opened, as a digest of each. The form posts it along, so that a value
/// nobody touched is told from one that was typed: a form that was open for long puts nothing back that others changed.
struct FormBase: Sendable, Hashable {
    /// The name under which a form posts it.
    static let name = "base"

    private var digests: [String: String] = [:]

    init() {}

    /// Reads what a form posted; without it nothing is known of any control.
    init(_ posted: FormValues?) {
        for part in (posted?[Self.name] ?? "").split(separator: ";") {
            guard let colon = part.lastIndex(of: ":") else { continue }
            digests[String(part[..<colon])] = String(part[part.index(after: colon)...])
        }
    }

    /// The text that a form posts.
    var text: String {
        digests.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ";")
    }

    /// Whether a control shows what it showed when the form was opened; nil where that isn't known.
    func isSame(_ control: String, _ text: String) -> Bool? {
        digests[control].map { $0 == Self.digest(text) }
    }

    mutating func set(_ control: String, shows text: String) { digests[control] = Self.digest(text) }

    /// Takes over what another form knows of a control.
    mutating func take(_ control: String, from other: FormBase) { digests[control] = other.digests[control] }

    /// Browsers post the ends of lines in their own way.
    private static func digest(_ text: String) -> String {
        StableHash.hex(text.replacingOccurrences(of: "\r\n", with: "\n"))
    }
}
