package import FieldworkGeometry
import Foundation

/// The parameters of a request, merged from its address and its body. Names match without regard to case; an empty
/// value is an absent one (rest-api §0, rules 2 to 5).
package struct RequestParameters: Sendable, Hashable {
    private var values: [String: String] = [:]

    package init() {}

    package init(_ fields: [(name: String, value: String)]) {
        for (name, value) in fields { set(name, value) }
    }

    /// Sets a parameter; a later value replaces an earlier one, so that a body wins over the address.
    package mutating func set(_ name: String, _ value: String) {
        values[name.lowercased()] = value
    }

    package mutating func merge(_ fields: [(name: String, value: String)]) {
        for (name, value) in fields { set(name, value) }
    }

    /// The text of a parameter; nil when absent or empty.
    package subscript(name: String) -> String? {
        guard let value = values[name.lowercased()], !value.isEmpty else { return nil }
        return value
    }

    /// Whether a parameter was sent, even empty.
    package func names(_ name: String) -> Bool { values[name.lowercased()] != nil }

    // MARK: Typed values

    package func bool(_ name: String) throws(ServiceError) -> Bool? {
        guard let text = trimmed(name) else { return nil }
        switch text.lowercased() {
        case "true", "1", "yes": return true
        case "false", "0", "no": return false
        default: throw .invalidParameter("'\(name)' must be true or false.")
        }
    }

    package func integer(_ name: String) throws(ServiceError) -> Int? {
        guard let text = trimmed(name) else { return nil }
        guard let value = Int(text) else { throw .invalidParameter("'\(name)' must be an integer.") }
        return value
    }

    package func number(_ name: String) throws(ServiceError) -> Double? {
        guard let text = trimmed(name) else { return nil }
        guard let value = Double(text), value.isFinite else { throw .invalidParameter("'\(name)' must be a number.") }
        return value
    }

    package func json(_ name: String) throws(ServiceError) -> JSONValue? {
        guard let text = self[name] else { return nil }
        do {
            return try JSONParser.parse(text)
        } catch {
            throw .invalidParameter("'\(name)' is not valid JSON (at byte \(error.offset)).")
        }
    }

    private func trimmed(_ name: String) -> String? {
        guard let text = self[name]?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty else { return nil }
        return text
    }
}
