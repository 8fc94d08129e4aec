public import Foundation

/// A feature as it was at one moment: its attributes and its geometry. Not part of the vendor's API.
///
/// Two snapshots are equal when the feature had the same values and the same geometry, whatever Swift types the values came in.
/// They can be written down and read again.
public struct FeatureSnapshot: Sendable, Hashable, Codable {
    /// The values by the names of their fields.
    public var attributes: [String: Value]
    /// The geometry as the protocol's JSON, with its spatial reference; nil for none. ``Geometry/fromJSON(_:)`` reads it.
    public var geometry: Data?

    /// A snapshot of values that are known already.
    /// - Parameters:
    ///   - attributes: The values by the names of their fields.
    ///   - geometry: The geometry as the protocol's JSON; nil for none.
    public init(attributes: [String: Value], geometry: Data?) {
        self.attributes = attributes
        self.geometry = geometry
    }

    /// What a feature is now. Later changes of the feature leave the snapshot as it is.
    public init(_ feature: Feature) {
        attributes = feature.attributes.mapValues { Value($0) }
        geometry = feature.geometry.map { $0.toJSON() }
    }

    /// The fields whose values differ between two snapshots, in no order.
    func changedFields(to later: FeatureSnapshot) -> Set<String> {
        Set(attributes.keys).union(later.attributes.keys).filter { attributes[$0] != later.attributes[$0] }
    }
}

extension FeatureSnapshot {
    /// The value of an attribute. Values of one meaning are equal: an `Int16` and an `Int64` of the same number are.
    public enum Value: Sendable, Hashable, Codable {
        /// No value.
        case null
        /// A whole number, of whatever width.
        case integer(Int64)
        /// A number with a fraction, of whatever precision.
        case real(Double)
        /// Text.
        case text(String)
        /// A moment.
        case date(Date)
        /// A GUID or a global id.
        case guid(UUID)
        /// Bytes.
        case bytes(Data)

        /// The value of an attribute as a feature gives it.
        /// - Parameter value: Nil means no value. What is of no type of a field is kept as its text.
        public init(_ value: (any Sendable)?) {
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

        /// The value in the Swift type that a field of a type takes; nil for no value and for a number that does not fit.
        public func value(for type: FieldType?) -> (any Sendable)? {
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
}
