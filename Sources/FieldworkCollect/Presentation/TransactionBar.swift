import Foundation

/// The bar at the top while a transaction is open: how much isn't kept yet, and the two ways to end it.
enum TransactionBar {
    static func values(_ map: OpenMap) -> Any {
        guard let open = map.transaction else { return false }
        let edits = FieldText.count(open.count, "edit")
        return [
            "text": open.isUnfinished
                ? "A transaction with \(edits) was not finished." : "Transaction: \(edits) not kept yet",
            "unfinished": open.isUnfinished, "any": open.count > 0,
        ] as Values
    }

    static func fragment(_ map: OpenMap, pages: PageRenderer) throws -> String {
        try pages.templates.render(
            "transaction-bar",
            ["transaction": values(map), "revision": pages.workspace.hub.revision])
    }
}
