/// The list of a layer's features.
struct ListPanel: PanelModel {
    static let template = "list"

    /// A layer that can be listed.
    struct Layer: ViewModel {
        let name: String
        let address: String
        let current: Bool
    }

    struct Column: ViewModel {
        let name: String
        let number: Bool
        /// Whether the rows are in its order.
        let sorted: Bool
    }

    let heading: String
    let layer: Int
    let layers: [Layer]
    /// The list of those that are nearest to the user; nil for a table.
    let nearest: String?
    /// Whether rows are left out by what they hold.
    let narrowed: Bool
    /// Opens the form that narrows and sorts the list, or closes it.
    let choose: String
    let chooseName: String
    /// The form that narrows and sorts the list, where it is open.
    let choices: ListChoices?
    /// The head of the column of distances; nil for a table.
    let firstColumn: String?
    /// Whether the nearest rows are first.
    let byDistance: Bool
    /// The page on which several rows are changed at once.
    var many: String?
    /// "78 trees on the map, by condition"
    var count = ""
    /// The same list without a filter.
    var clear: String?
    var note: String?
    var columns: [Column] = []
    var rows: [RowView] = []
    var hasRows = false
    /// What is said where there are none.
    var empty: String?
    var previous: String?
    var next: String?
}

/// The form that narrows and sorts a list.
struct ListChoices: ViewModel {
    /// The values of a field that rows can be chosen by.
    struct Only: ViewModel {
        let label: String
        let choices: [FormOption]
    }

    /// The place that distances are from, where it isn't the map's middle.
    let near: String?
    let query: String
    let sorts: [FormOption]
    let groups: [FormOption]
    let hasGroups: Bool
    let scopes: [FormOption]
    let hasScopes: Bool
    let only: [Only]
    let hasOnly: Bool
    let ranges: [FormOption]
    let hasRanges: Bool
    /// Whether a range of numbers is asked for.
    let rangeOpen: Bool
    let low: String
    let high: String
}
