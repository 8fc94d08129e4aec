import Foundation

/// How a column of a table writes its numbers.
package enum NumberForm: CaseIterable, Sendable {
    /// 1234.5
    case point
    /// 1234,5 or 1.234,5
    case comma
    /// 1,234.5
    case grouped

    /// The number in the form that every program reads; nil where the text is none of this form.
    package func plain(_ text: String) -> String? {
        switch self {
        case .point: return text
        case .comma: return Self.ungrouped(text, mark: 0x2C, group: 0x2E)
        case .grouped: return Self.ungrouped(text, mark: 0x2E, group: 0x2C)
        }
    }

    private static func ungrouped(_ text: String, mark: UInt8, group: UInt8) -> String? {
        let parts = text.utf8.split(separator: mark, omittingEmptySubsequences: false)
        guard parts.count <= 2, let whole = parts.first else { return nil }
        var groups = whole.split(separator: group, omittingEmptySubsequences: false)
        guard let leading = groups.first else { return nil }
        if groups.count > 1 {
            let digits = leading.first == 0x2D ? leading.count - 1 : leading.count
            guard (1...3).contains(digits), groups.dropFirst().allSatisfy({ $0.count == 3 }) else { return nil }
        }
        groups.removeFirst()
        let joined = String(leading).map { $0 + groups.compactMap { String($0) }.joined() }
        guard let joined else { return nil }
        guard parts.count == 2 else { return joined }
        guard let fraction = String(parts[1]), fraction.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return "\(joined).\(fraction)"
    }
}
