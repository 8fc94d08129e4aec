/// A feature in a list.
struct RowView: ViewModel {
    /// The heading of a group that begins with the row.
    struct GroupHead: ViewModel {
        let name: String
        /// "12 trees".
        let count: String
        /// How many columns the table has.
        var span = 1
    }

    /// The value of a column.
    struct Cell: ViewModel {
        let value: String
        let number: Bool
        /// The first column leads to the feature.
        let link: String?
        let symbol: SymbolView?
    }

    let address: String
    /// nil for a row of a table.
    let mapAddress: String?
    /// The feature's reference, by which the page's script knows the row.
    let feature: String
    let title: String
    let subtitle: String
    let symbol: SymbolView?
    /// Empty where it isn't known.
    let distance: String
    let direction: String
    let marks: StateMarks
    var cells: [Cell] = []
    /// Whether the map shows it as selected.
    var selected = false
    var groupHead: GroupHead?
    var ways: WaysView?
}
