/// All records of one relationship of a feature.
struct RelatedListPanel: PanelModel {
    static let template = "related-list"

    let heading: String
    /// The title of the feature.
    let subheading: String
    let back: String
    let related: RelatedView
}
