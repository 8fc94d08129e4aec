/// The records of which one is chosen for a feature to refer to.
struct ChoosePanel: PanelModel {
    static let template = "choose"

    struct Row: ViewModel {
        /// The reference of the record.
        let record: String
        /// The two lines that say which record it is.
        let first: String
        let second: String
        let current: Bool
    }

    let heading: String
    let subheading: String
    /// The address of the form that asked.
    let form: String
    let action: String
    let query: String
    let count: String
    let rows: [Row]
    /// Shown instead of the rows.
    let empty: String
    let previous: String?
    let next: String?
}
