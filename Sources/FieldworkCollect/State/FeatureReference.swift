import Foundation

/// Which feature an address names: by its global id where it has one, since that survives sending; else by object id.
struct FeatureReference: Hashable, Comparable, Sendable, Codable {
    enum Key: Hashable, Comparable, Sendable, Codable {
        case global(UUID)
        case object(Int64)
    }

    let layer: Int
    let key: Key

    init(layer: Int, key: Key) {
        self.layer = layer
        self.key = key
    }

    /// Reads the two parts of an address.
    init?(layer: String, key: String) {
        guard let layer = Int(layer) else { return nil }
        if let uuid = UUID(uuidString: key) {
            self.init(layer: layer, key: .global(uuid))
        } else if let id = Int64(key) {
            self.init(layer: layer, key: .object(id))
        } else {
            return nil
        }
    }

    /// `{layer}/{key}`, safe in an address and in HTML.
    var text: String {
        switch key {
        case .global(let uuid): "\(layer)/\(uuid.uuidString.lowercased())"
        case .object(let id): "\(layer)/\(id)"
        }
    }

    /// Layers in order, and in one any order that is always the same.
    static func < (one: FeatureReference, other: FeatureReference) -> Bool {
        one.layer == other.layer ? one.key < other.key : one.layer < other.layer
    }

    var address: String { "/f/\(text)" }
    var mapAddress: String { "/map/f/\(text)" }
}
