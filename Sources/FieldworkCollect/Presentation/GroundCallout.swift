import Foundation

/// What can be done at a place without a feature: create what was created last, or choose. Its call-out tells its address as well.
struct GroundCallout {
    let map: OpenMap
    let settings: DeviceSettings

    func view(_ place: Place) -> GroundView {
        let preferred = settings.kind(of: map.key)
        var kinds: [GroundView.Kind] = []
        // Lines and areas are drawn on a page of their own.
        var shapes: [GroundView.Shape] = []
        for layer in map.layers.reversed() where layer.isAddable {
            guard layer.geometry == .point else {
                if layer.geometry != nil {
                    shapes.append(GroundView.Shape(address: "/add/\(layer.id)/sketch", name: layer.noun))
                }
                continue
            }
            kinds += layer.kinds.map { kind in
                GroundView.Kind(layer: layer.id, template: kind.key, name: kind.name, symbol: kind.symbol?.view())
            }
        }
        return GroundView(
            lon: FeatureViews.degrees(place.longitude), lat: FeatureViews.degrees(place.latitude),
            session: UUID().uuidString,
            first: kinds.first { preferred == "\($0.layer)/\($0.template)" } ?? kinds.first, kinds: kinds,
            shapes: shapes, draw: kinds.isEmpty ? shapes : [],
            hasMore: kinds.count > 1 || !kinds.isEmpty && !shapes.isEmpty,
            nothing: kinds.isEmpty && shapes.isEmpty)
    }
}
