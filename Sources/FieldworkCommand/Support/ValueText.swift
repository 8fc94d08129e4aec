import FieldworkGeometry
import FieldworkREST
import Foundation

/// Values on a line for a person: texts in quotes, dates as dates.
struct ValueText {
    private let dates: Set<String>

    init(fields: [FieldDefinition]) { dates = Set(fields.filter { $0.type == .date }.map { $0.name.lowercased() }) }

    /// Nothing is known of the fields.
    init() { dates = [] }

    func text(_ name: String, _ value: JSONValue) -> String {
        guard dates.contains(name.lowercased()), let milliseconds = value.integerValue else { return value.text }
        return MomentText.text(milliseconds: milliseconds)
    }

    func text(_ name: String, _ value: AttributeValue) -> String { text(name, value.json) }
}
