import Fieldwork

/// What a panel beside the map is about: the map shows it with a ring, without a call-out.
struct MarkedPlace: Sendable {
    let layer: MapLayer
    /// nil for a feature that isn't made yet.
    var reference: FeatureReference?
    let place: Place

    init(layer: MapLayer, place: Place) {
        self.layer = layer
        self.place = place
    }

    /// nil for a row of a table.
    init?(_ found: FoundFeature) {
        guard let place = found.place else { return nil }
        self.init(layer: found.layer, place: place)
        reference = found.reference
    }

    var view: MarkedView {
        MarkedView(
            layer: layer.id, feature: reference?.text ?? "", lon: FeatureViews.degrees(place.longitude),
            lat: FeatureViews.degrees(place.latitude))
    }
}
