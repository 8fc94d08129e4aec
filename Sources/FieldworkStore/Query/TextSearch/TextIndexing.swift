import FieldworkREST

/// A layer's text index, as each database has it: it finds texts by any three characters in a row of them.
protocol TextIndexing: Sendable {
    /// Makes the index over these columns of a layer, changes it, or takes it away where there are none.
    func write(_ columns: [StoredColumn], of layer: StoredLayer, on connection: StoreConnection) throws
    /// Takes the index away where a column of it is about to go.
    func removeIfNames(_ columns: [StoredColumn], of layer: StoredLayer, on connection: StoreConnection) throws
    /// The slots of the columns that the index holds and keeps true; empty without an index.
    func slots(of layer: StoredLayer, on connection: StoreConnection) throws -> Set<Int>
    /// How much room the index takes; nil where that can't be told.
    func bytes(of layer: StoredLayer, on connection: StoreConnection) throws -> Int64?
    /// The rows that can meet a need of a layer that lists a text index; nil where the index can't tell.
    func filter(_ need: TextNeed, _ layer: StoredLayer, on connection: StoreConnection) throws -> TextFilter?
}

/// How a text index narrows a query down.
enum TextFilter {
    /// Rows to look at, in place of all.
    case candidates(Candidates)
    /// A condition by which the database finds the rows itself.
    case condition(String, [QueryPlan.Argument])
}

extension StoredLayer {
    /// The slots of the columns that the definition lists in text indexes; none for a table that is served in place.
    var textSlots: Set<Int> {
        guard !isPlaced else { return [] }
        let names = definition.declaredIndexes.filter(\.isFullText).flatMap(\.fields)
        return Set(names.compactMap { index(of: $0).map { slots[$0] } })
    }

    func slot(of column: StoredColumn) -> Int? { index(of: column.name).map { slots[$0] } }

    func column(ofSlot slot: Int) -> StoredColumn? { slots.firstIndex(of: slot).map { columns[$0] } }
}
