import Fieldwork
import Foundation

/// An attribute value as the journal keeps it. Values of the same meaning are equal, whatever Swift type they came in.
enum StoredValue: Sendable, Hashable, Codable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case date(Date)
    case guid(UUID)
    case bytes(Data)

    init(_ value: (any Sendable)?) {
        switch value {
        case nil: self = .null
        case let value as Int16: self = .integer(Int64(value))
        case let value as Int32: self = .integer(Int64(value))
        case let value as Int64: self = .integer(value)
        case let value as Int: self = .integer(Int64(value))
        case let value as Float: self = .real(Double(value))
        case let value as Double: self = .real(value)
        case let value as String: self = .text(value)
        case let value as Date: self = .date(value)
        case let value as UUID: self = .guid(value)
        case let value as Data: self = .bytes(value)
        case .some(let other): self = .text("\(other)")
        }
    }

    /// The value in the Swift type that a field of this type takes; nil for null and for what doesn't fit.
    func value(for type: FieldType?) -> (any Sendable)? {
        switch self {
        case .null: return nil
        case .integer(let value):
            switch type {
            case .int16: return Int16(exactly: value)
            case .int32: return Int32(exactly: value)
            case .float32: return Float(value)
            case .float64: return Double(value)
            default: return value
            }
        case .real(let value):
            return type == .float32 ? Float(value) as any Sendable : value
        case .text(let value): return value
        case .date(let value): return value
        case .guid(let value): return value
        case .bytes(let value): return value
        }
    }
}

/// A feature as it was at one moment: its attributes by field name, its geometry as the protocol's JSON.
struct FeatureSnapshot: Sendable, Hashable, Codable {
    var attributes: [String: StoredValue]
    var geometry: Data?

    init(attributes: [String: StoredValue], geometry: Data?) {
        self.attributes = attributes
        self.geometry = geometry
    }

    init(_ feature: Feature) {
        attributes = feature.attributes.mapValues { StoredValue($0) }
        geometry = feature.geometry.map { $0.toJSON() }
    }
}
