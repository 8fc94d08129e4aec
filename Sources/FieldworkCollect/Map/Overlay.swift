import Fieldwork

/// What isn't on the server yet, as the map draws it above the tiles, and which features of the tiles it takes the place of.
struct Overlay: Encodable, Sendable {
    struct Feature: Encodable, Sendable {
        struct Properties: Encodable, Sendable {
            var layer: Int?
            var s: Int?
            var refused: Bool?
        }

        let type = "Feature"
        var properties = Properties()
        var geometry: GeoJSONGeometry?

        enum CodingKeys: CodingKey {
            case type, properties, geometry
        }
    }

    let type = "FeatureCollection"
    var features: [Feature] = []
    /// Object ids by layer.
    var hidden: [String: [Int64]] = [:]

    enum CodingKeys: CodingKey {
        case type, features, hidden
    }

    static func make(_ map: OpenMap) async -> Overlay {
        var overlay = Overlay()
        let unsent = map.unsent()
        for layer in map.layers {
            var hidden: Set<Int64> = []
            for feature in (try? await layer.table.unsentFeatures()) ?? [] {
                if let id = layer.objectID(of: feature) { hidden.insert(id) }
                guard let reference = layer.reference(of: feature), let geometry = GeoJSONGeometry(feature.geometry)
                else { continue }
                map.remember(feature, as: reference)
                let refused = unsent[reference].flatMap { $0 } != nil
                let symbol = layer.symbology.classIndex { feature.attributeValue(forKey: $0) }
                overlay.features.append(
                    Feature(
                        properties: .init(layer: layer.id, s: symbol ?? 0, refused: refused), geometry: geometry))
            }
            for entry in map.journal.entries where entry.feature.layer == layer.id && entry.kind == .delete {
                if entry.progress == .onDevice, let id = entry.objectID { hidden.insert(id) }
            }
            if !hidden.isEmpty { overlay.hidden[String(layer.id)] = hidden.sorted() }
        }
        return overlay
    }
}
