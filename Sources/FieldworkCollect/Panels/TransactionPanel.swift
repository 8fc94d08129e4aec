/// The transaction of an offline area, and the rule that every edit belongs to one.
struct TransactionPanel: PanelModel {
    static let template = "transaction"

    struct Open: ViewModel {
        /// How much isn't kept yet, in large letters.
        let figure: String
        /// Whether the app stopped while it was open.
        let unfinished: Bool
    }

    /// Where the work is.
    let area: String
    /// What was just done.
    let said: String?
    /// The question before edits are lost.
    let ask: String?
    let open: Open?
    let hasEdits: Bool
    let edits: [EditRow]
    /// Whether every edit is to belong to a transaction.
    let required: Bool
}
