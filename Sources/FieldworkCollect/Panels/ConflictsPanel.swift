/// The conflicts that wait for a decision, and those that are settled.
struct ConflictsPanel: PanelModel {
    static let template = "conflicts"

    struct Row: ViewModel {
        let address: String
        let title: String
        let detail: String
    }

    let open: [Row]
    let hasOpen: Bool
    let decided: [Row]
    let hasDecided: Bool
}
