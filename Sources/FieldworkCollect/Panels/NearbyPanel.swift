/// The map's own panel: the features in view, nearest to the middle first.
struct NearbyPanel: PanelModel {
    static let template = "nearby"

    let heading: String
    let list: NearbyRows
}

/// The rows of the map's own panel, which a script puts in anew when the map rests.
struct NearbyRows: TemplateModel {
    static let template = "nearby-rows"

    /// "78 trees, nearest to the middle first"
    var count = ""
    var rows: [RowView] = []
    /// What is said where there are none.
    var empty = ""
    /// Whether they are still looked for.
    var again = false
    var note: String?
}

/// The features near the pin of a place that is being chosen.
struct NearPinView: TemplateModel {
    static let template = "near-pin"

    /// A feature so close that it may be the same.
    struct Close: ViewModel {
        let text: String
        let title: String
        let address: String
    }

    let close: Close?
    let rows: [RowView]
    let hasRows: Bool
}
