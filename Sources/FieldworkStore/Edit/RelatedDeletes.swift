import FieldworkREST

/// Deletes features with what their relationships ask for: parts go with their whole, the keys of others that named it are
/// emptied, pairs of a many-to-many relationship end. What is to be done is found first and done when nothing speaks
/// against it, so that nothing has to be undone: within a savepoint SQLite would look through all that it kept there after
/// every row.
struct RelatedDeletes {
    let rules: RelationshipRules
    let connection: StoreConnection
    let batch: EditBatch
    /// Rows that went with another one, of layers that the batch deletes from by itself: whoever deletes them there has his
    /// way already.
    private var gone: [Int: [FeatureIdentifier: EditResult]] = [:]
    private let remembered: Set<Int>

    init(rules: RelationshipRules, connection: StoreConnection, batch: EditBatch) {
        self.rules = rules
        self.connection = connection
        self.batch = batch
        remembered = Set(
            batch.layers.filter { edits in
                switch edits.deletes {
                case .features(let identifiers): !identifiers.isEmpty
                case .matching: batch.listsMatches
                }
            }.map(\.layerID))
    }

    /// - Parameters:
    ///   - isChosen: the feature was there when the batch looked for what to delete: if it is gone, it went with another.
    ///   - writer: gives the writer of a layer.
    mutating func delete(
        _ identifier: FeatureIdentifier, from layerID: Int, isChosen: Bool = false,
        writer: (Int) throws -> LayerWriter
    ) throws -> EditResult {
        if let result = gone[layerID]?[identifier] { return result }
        let own = try writer(layerID)
        // A cache takes over what its service did, related rows and all.
        guard batch.origin != .cache, rules.layer(layerID)?.isOrigin == true else { return try own.delete(identifier) }
        guard let found = try own.find(identifier) else {
            if isChosen, case .objectID(let id) = identifier { return EditResult(objectID: id, globalID: nil) }
            return try own.delete(identifier)
        }
        let plan: Plan
        do {
            plan = try self.plan(Row(layerID: layerID, objectID: found.objectID))
        } catch let error as EditError {
            return EditResult(objectID: found.objectID, globalID: found.globalID, error: error)
        }
        let result = try own.delete(.objectID(found.objectID))
        if result.isSuccess { try carryOut(plan, writer) }
        return result
    }

    /// Deletes features in their order.
    /// - Returns: nil where each has to be deleted by itself.
    func deleteAll(
        _ identifiers: [FeatureIdentifier], from layerID: Int, writer: (Int) throws -> LayerWriter
    ) throws -> [EditResult]? {
        guard gone[layerID] == nil, rules.layer(layerID)?.isOrigin != true else { return nil }
        return try writer(layerID).deleteAll(identifiers)
    }

    private mutating func carryOut(_ plan: Plan, _ writer: (Int) throws -> LayerWriter) throws {
        for clearing in plan.clearings {
            try writer(clearing.holder.layer.definition.id).clear(clearing.holder, holding: clearing.value)
        }
        for row in plan.rows.dropFirst() {
            let result = try writer(row.layerID).delete(.objectID(row.objectID), isPartOfWhole: true)
            if let error = result.error {
                // An edit of a rule may have deleted it before.
                guard try writer(row.layerID).findAny(.objectID(row.objectID)) != nil else { continue }
                // A constraint that another program put on the table: the batch fails as a whole.
                throw StoreError(.failure, "A related row can't be deleted: \(error.description)")
            }
            guard remembered.contains(row.layerID) else { continue }
            if let id = result.objectID { gone[row.layerID, default: [:]][.objectID(id)] = result }
            if let id = result.globalID { gone[row.layerID, default: [:]][.globalID(id)] = result }
        }
    }

    // MARK: What is to be done

    private struct Row: Hashable {
        var layerID: Int
        var objectID: Int64
    }

    private struct Clearing {
        var holder: KeyColumn
        var value: AttributeValue
    }

    private struct Plan {
        /// The feature itself, then what goes with it.
        var rows: [Row]
        var clearings: [Clearing] = []
    }

    /// Finds what goes with a row, one after the other: a list, not the call stack, since parts may have parts. Throws
    /// `EditError` when the row must stay.
    private func plan(_ root: Row) throws -> Plan {
        var plan = Plan(rows: [root])
        var known: Set<Row> = [root]
        var next = 0
        while next < plan.rows.count {
            let row = plan.rows[next]
            next += 1
            guard let relationships = rules.layer(row.layerID) else { continue }
            for child in relationships.children {
                guard let key = try key(child.origin, of: row, known) else { continue }
                switch child.deletion {
                case .cascade: try add(child.destination, holding: key, to: &plan, &known)
                case .clear:
                    if try clears(child, key) { plan.clearings.append(.init(holder: child.destination, value: key)) }
                case .refuse: try refuse(child, key)
                }
            }
            for link in relationships.links {
                guard let key = try key(link.own, of: row, known) else { continue }
                try add(link.inTable, holding: key, to: &plan, &known)
            }
        }
        return plan
    }

    /// The key of a row that others may hold. nil when it is null, or while another row has the same that stays: those that
    /// hold it still belong to something.
    private func key(_ column: KeyColumn, of row: Row, _ known: Set<Row>) throws -> AttributeValue? {
        var key = AttributeValue.null
        try connection.run(
            "SELECT \(column.sql) FROM \(column.table) WHERE \(column.objectID) = ?",
            bind: { try $0.bind(row.objectID, at: 1) }, row: { key = $0.rawValue(0) })
        if key.isNull { return nil }
        guard column.meaning == .field else { return key }
        let statement = try connection.cached(
            "SELECT \(column.objectID) FROM \(column.table) WHERE \(column.sql) = ? AND \(column.objectID) <> ?")
        defer { statement.finish() }
        try statement.bind(key, at: 1)
        try statement.bind(row.objectID, at: 2)
        while try statement.step() {
            if !known.contains(Row(layerID: row.layerID, objectID: statement.integer(0))) { return nil }
        }
        return key
    }

    private func add(
        _ holder: KeyColumn, holding key: AttributeValue, to plan: inout Plan, _ known: inout Set<Row>
    ) throws {
        let statement = try connection.cached(
            "SELECT \(holder.objectID) FROM \(holder.table) WHERE \(holder.sql) = ? ORDER BY \(holder.objectID)")
        defer { statement.finish() }
        try statement.bind(key, at: 1)
        while try statement.step() {
            let row = Row(layerID: holder.layer.definition.id, objectID: statement.integer(0))
            guard known.insert(row).inserted else { continue }
            plan.rows.append(row)
            guard plan.rows.count <= Limits.rowsPerDelete else {
                throw EditError(
                    code: 1018,
                    description: "More than \(Limits.rowsPerDelete) rows would be deleted with the feature.")
            }
        }
    }

    /// Whether there are keys to empty. Throws when there are and they can't be.
    private func clears(_ child: StoredRelationship, _ key: AttributeValue) throws -> Bool {
        guard try child.destination.holds(key, on: connection) else { return false }
        guard child.canClearKey else {
            throw EditError(
                code: 1018,
                description:
                    "The feature has related rows in \(child.destination.layer.definition.name), whose field \(child.destination.name) must not be null."
            )
        }
        return true
    }

    private func refuse(_ child: StoredRelationship, _ key: AttributeValue) throws {
        guard try child.destination.holds(key, on: connection) else { return }
        throw EditError(
            code: 1018,
            description:
                "The feature has related rows in \(child.destination.layer.definition.name) (\(child.name)).")
    }
}
