import Fieldwork
import Foundation

/// Addresses of features within the app.
extension FeatureReference {
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

    var address: String { "/f/\(text)" }
    var mapAddress: String { "/map/f/\(text)" }
}
