import FieldworkGeometry
import FieldworkREST
import Foundation

/// What renderers look at.
enum RendererFields {
    /// The fields that a layer's drawing info reads, those of its expressions as well; nil where only a run of an
    /// expression can tell which.
    static func names(in drawingInfo: JSONValue?) -> [String]? { names(of: drawingInfo?["renderer"]) }

    /// The fields that a renderer reads.
    static func names(of renderer: JSONValue?) -> [String]? {
        let variables = renderer?["visualVariables"]?.arrayValue ?? []
        var names = ["field", "field1", "field2", "field3", "normalizationField"].compactMap {
            renderer?[$0]?.stringValue
        }
        names += variables.flatMap { variable in
            ["field", "normalizationField"].compactMap { variable[$0]?.stringValue }
        }
        for expression in ([renderer].compactMap(\.self) + variables).compactMap(RendererExpression.init) {
            guard let fields = expression.fields else { return nil }
            names += fields
        }
        return names + turned(renderer)
    }

    /// The field of the older form of a turn.
    private static func turned(_ renderer: JSONValue?) -> [String] {
        guard let text = renderer?["rotationExpression"]?.stringValue, text.hasPrefix("["), text.hasSuffix("]") else {
            return []
        }
        return [String(text.dropFirst().dropLast())]
    }

    /// A value as renderers write it: numbers in their shortest form, a missing value as `<Null>`.
    static func text(_ value: (any Sendable)?) -> String {
        switch value {
        case nil: "<Null>"
        case let text as String: text
        case let id as UUID: GUID.normalForm(id)
        case let number as Double where number == number.rounded() && abs(number) < 1e15: String(Int64(number))
        case let value?: "\(value)"
        }
    }

    /// The same of a document's value.
    static func text(_ json: JSONValue) -> String {
        switch json {
        case .null: text(nil as String?)
        case .string(let value): value
        case .number(let value): text(value)
        default: json.text
        }
    }

    static func number(_ value: (any Sendable)?) -> Double? {
        switch value {
        case let number as any BinaryInteger: Double(number)
        case let number as any BinaryFloatingPoint: Double(number)
        case let date as Date: date.timeIntervalSince1970 * 1_000
        default: nil
        }
    }
}
