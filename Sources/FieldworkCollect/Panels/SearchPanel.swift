/// The search, with what was found.
struct SearchPanel: PanelModel {
    static let template = "search"

    /// A place or a feature that was chosen before.
    struct Recent: ViewModel {
        let text: String
        let address: String
    }

    let query: String
    /// What is searched, in words.
    let scope: String
    let tooShort: String?
    let features: SearchFeatures
    let places: SearchPlaces
    let nothing: String?
    let recent: [Recent]
    let hasRecent: Bool
}

/// The features that a search found.
struct SearchFeatures: TemplateModel {
    static let template = "search-features"

    let rows: [RowView]
    let hasRows: Bool
    let count: Int
    var note: String?

    init(_ rows: [RowView], note: String? = nil) {
        self.rows = rows
        hasRows = !rows.isEmpty
        count = rows.count
        self.note = note
    }
}

/// The addresses and places that a search found.
struct SearchPlaces: TemplateModel {
    static let template = "search-places"

    struct Row: ViewModel {
        let name: String
        let detail: String
        let address: String
        /// Empty where it isn't known.
        let distance: String
        let direction: String
    }

    let rows: [Row]
    let hasRows: Bool
    let count: Int
    /// Whose they are.
    let source: String
    let note: String?
}
