/// What was done with one feature.
struct HistoryPanel: PanelModel {
    static let template = "history"

    /// What the service keeps of who made and changed it.
    struct Fact: ViewModel {
        let label: String
        let value: String
    }

    struct Row: ViewModel {
        let what: String
        let when: String
        /// Where the values before it are restored; nil where they can't be.
        let restore: String?
        /// The form's own name; sent again, it is the same edit.
        let session: String
    }

    let subheading: String
    /// The feature's page.
    let back: String
    let facts: [Fact]
    let hasRows: Bool
    let rows: [Row]
    /// What is said where there are no rows.
    let empty: String
    /// What isn't among the rows, and where it is.
    let note: String?
}
