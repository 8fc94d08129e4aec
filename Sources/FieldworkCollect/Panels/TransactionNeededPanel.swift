/// What an edit leads to where a transaction must be started first.
struct TransactionNeededPanel: PanelModel {
    static let template = "transaction-needed"
}
