import Fieldwork

/// What isn't on the server yet, as the map draws it above the tiles, and which features of the tiles it takes the place of.
struct Overlay: Encodable, Sendable {
    struct Feature: Encodable, Sendable {
        /// Names of the app's own have a colon, which no field has.
        struct Properties: Encodable, Sendable {
            var layer: Int?
            var isRefused = false
            var drawn: DrawnAttributes?

            private struct Name: CodingKey {
                let stringValue: String
                var intValue: Int? { nil }
                init(_ name: String) { stringValue = name }
                init?(stringValue: String) { self.init(stringValue) }
                init?(intValue: Int) { nil }
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Name.self)
                try container.encodeIfPresent(layer, forKey: Name("app:layer"))
                try container.encode(isRefused, forKey: Name("app:refused"))
                for attribute in drawn?.values ?? [] {
                    try container.encode(attribute.value, forKey: Name(attribute.name))
                }
            }
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
                let drawn = try? await DrawnAttributes(feature, of: layer)
                overlay.features.append(
                    Feature(
                        properties: .init(layer: layer.id, isRefused: refused, drawn: drawn), geometry: geometry))
            }
            for entry in map.journal.entries where entry.feature.layer == layer.id && entry.kind == .delete {
                if entry.progress == .onDevice, let id = entry.objectID { hidden.insert(id) }
            }
            if !hidden.isEmpty { overlay.hidden[String(layer.id)] = hidden.sorted() }
        }
        return overlay
    }
}
