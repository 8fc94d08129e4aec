/// One value for many features of the list.
struct ManyPanel: PanelModel {
    static let template = "many"

    struct Problem: ViewModel {
        /// Which feature.
        let title: String
        /// Why it stays as it is.
        let text: String
    }

    struct Row: ViewModel {
        /// The reference of the feature.
        let feature: String
        let title: String
        let subtitle: String
        let selected: Bool
    }

    let subheading: String
    /// The address of the list.
    let back: String
    /// Where the value to change is chosen, and where it is set.
    let action: String
    let address: String
    let session: String
    /// What became of the last selection.
    let done: String?
    let hasProblems: Bool
    let problems: [Problem]
    let hidden: [HiddenValue]
    /// The fields of which one is changed.
    let fields: [FormOption]
    /// The name of the field that is changed, and its control.
    let chosen: String
    let element: FieldView
    let rows: [Row]
}
