/// What can be done at a place without a feature.
struct GroundView: TemplateModel {
    static let template = "ground"

    /// A kind of feature that is created at once.
    struct Kind: ViewModel {
        let layer: Int
        /// The key of the layer's template.
        let template: String
        let name: String
        let symbol: SymbolView?
    }

    /// A line or an area, which is drawn on a page of its own.
    struct Shape: ViewModel {
        let address: String
        let name: String
    }

    let lon: String
    let lat: String
    let session: String
    /// What was created last, or else the first.
    let first: Kind?
    let kinds: [Kind]
    let shapes: [Shape]
    /// Shapes that stand by themselves, since there is no point to create.
    let draw: [Shape]
    /// Whether there is a choice.
    let hasMore: Bool
    let nothing: Bool
}

/// A place that was found, with a pin and what can be done there.
struct FoundPlaceView: TemplateModel {
    static let template = "found-place"

    let placeName: String
    let detail: String
    let zoom: Double
    /// Latitude and longitude in degrees.
    let coordinates: String
    let lon: String
    let lat: String
    let session: String
    let first: GroundView.Kind?
}
