/// The place that a panel is about, for the map to show with a ring.
struct MarkedView: TemplateModel {
    static let template = "marked"

    let layer: Int
    /// Empty for a feature that isn't made yet.
    let feature: String
    let lon: String
    let lat: String
}
