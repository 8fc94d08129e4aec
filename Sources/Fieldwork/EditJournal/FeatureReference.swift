public import Foundation

/// Which feature of a map is meant: the number of its layer there, and its global id, since that survives sending; its object id where
/// it has no global id. Not part of the vendor's API.
public struct FeatureReference: Hashable, Comparable, Sendable, Codable {
    /// The id of a feature in its layer.
    public enum Key: Hashable, Comparable, Sendable, Codable {
        /// The global id.
        case global(UUID)
        /// The object id. Of a feature that was added on this device it changes when the service gives it its own.
        case object(Int64)
    }

    /// The number of the layer: what ``EditJournal/tables`` gives the table for.
    public let layer: Int
    /// The id.
    public let key: Key

    /// Names a feature by a number and an id that are known.
    public init(layer: Int, key: Key) {
        self.layer = layer
        self.key = key
    }

    /// Names a feature of a table.
    /// - Parameters:
    ///   - feature: A feature that its table has: one that was queried or added.
    ///   - layer: The number of its layer.
    /// - Returns: nil for a feature without an id: one that was made and not added.
    public init?(_ feature: Feature, layer: Int) {
        guard let table = feature.table as? ArcGISFeatureTable else { return nil }
        if let id = Self.globalID(of: feature, field: table.globalIDField) {
            self.init(layer: layer, key: .global(id))
        } else if let id = Self.objectID(of: feature, field: table.objectIDField) {
            self.init(layer: layer, key: .object(id))
        } else {
            return nil
        }
    }

    private static func globalID(of feature: Feature, field: String) -> UUID? {
        guard !field.isEmpty else { return nil }
        return switch feature.attributeValue(forKey: field) {
        case let id as UUID: id
        case let text as String: UUID(uuidString: text.trimmingCharacters(in: CharacterSet(charactersIn: "{}")))
        default: nil
        }
    }

    static func objectID(of feature: Feature, field: String) -> Int64? {
        guard case .integer(let id) = FeatureSnapshot.Value(feature.attributeValue(forKey: field)) else { return nil }
        return id
    }

    /// Layers in order, and in one any order that is always the same.
    public static func < (one: FeatureReference, other: FeatureReference) -> Bool {
        one.layer == other.layer ? one.key < other.key : one.layer < other.layer
    }
}
