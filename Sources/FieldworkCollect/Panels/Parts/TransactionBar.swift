/// The bar at the top while a transaction is open: how much isn't kept yet, and the two ways to end it.
struct TransactionBar: TemplateModel {
    static let template = "transaction-bar"

    struct Open: ViewModel {
        let text: String
        /// Whether the app stopped while it was open.
        let unfinished: Bool
    }

    let transaction: Open?
    let revision: UInt64
}
