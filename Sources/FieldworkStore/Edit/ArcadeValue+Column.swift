import FieldworkArcade
import FieldworkREST

extension ArcadeValue {
    /// A value of a column as scripts read it, whether it comes from a row of a table or is on its way into one.
    init(_ value: AttributeValue, of column: StoredColumn) {
        switch value {
        case .null, .data: self = .null
        case .integer(let number): self = .number(Double(number))
        case .real(let number): self = .number(number)
        case .text(let text):
            if column.kind == .date {
                self = DateText.milliseconds(text).map { .number(Double($0)) } ?? .null
            } else {
                self = FeatureJSON.value(text, ofType: column.field.type.rawValue)
            }
        }
    }
}
