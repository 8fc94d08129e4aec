import Foundation

/// What can be done at a place without a feature: create what was created last, or choose. Its call-out tells its address as well.
struct GroundCallout {
    let map: OpenMap
    let settings: DeviceSettings

    func values(_ place: Place) -> Values {
        let session = UUID().uuidString
        let preferred = settings.kind(of: map.key)
        var kinds: [Values] = []
        // Lines and areas are drawn on a page of their own.
        var shapes: [Values] = []
        for layer in map.layers.reversed() where layer.isAddable {
            guard layer.geometry == .point else {
                if layer.geometry != nil { shapes.append(["address": "/add/\(layer.id)/sketch", "name": layer.noun]) }
                continue
            }
            for kind in layer.kinds {
                kinds.append([
                    "layer": layer.id, "template": kind.key, "name": kind.name, "session": session,
                    "symbol": kind.symbol.map(\.values).orFalse, "isPreferred": preferred == "\(layer.id)/\(kind.key)",
                ])
            }
        }
        let first = kinds.first { $0["isPreferred"] as? Bool == true } ?? kinds.first
        return [
            "lon": FeatureViews.degrees(place.longitude), "lat": FeatureViews.degrees(place.latitude),
            "session": session, "first": first.orFalse, "hasMore": kinds.count > 1 || !kinds.isEmpty && !shapes.isEmpty,
            "kinds": kinds, "shapes": shapes, "draw": kinds.isEmpty ? shapes : [Values](),
            "nothing": kinds.isEmpty && shapes.isEmpty,
        ]
    }
}
