extension TransactionBar {
    init(_ map: OpenMap, revision: UInt64) {
        self.revision = revision
        transaction = map.transaction.map { open in
            let edits = FieldText.count(open.count, "edit")
            return Open(
                text: open.isUnfinished
                    ? "A transaction with \(edits) was not finished." : "Transaction: \(edits) not kept yet",
                unfinished: open.isUnfinished)
        }
    }
}
