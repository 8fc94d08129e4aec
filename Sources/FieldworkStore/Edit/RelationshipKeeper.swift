import FieldworkREST
import GRDBSQLite

/// Keeps relationships true while one layer's features are written: a part of a whole names its whole, one to one stays
/// so, and rows follow when the key changes that they hold.
struct RelationshipKeeper {
    let relationships: LayerRelationships
    let connection: StoreConnection

    /// Checks the keys of a row that is about to be written.
    /// - Parameters:
    ///   - objectID: the row's, when it is there already.
    ///   - value: what a column is to hold; nil when it keeps its value.
    func check(objectID: Int64?, _ value: (Int) -> AttributeValue?) throws {
        for parent in relationships.parents {
            guard let key = value(parent.destination.index) else { continue }
            let field = parent.destination.name
            let origin = parent.origin.layer.definition.name
            if key.isNull {
                guard !parent.isComposite else {
                    throw EditError(
                        code: 1000,
                        description: "Field \(field) must name a feature of \(origin): \(parent.name) is composite.")
                }
                continue
            }
            if parent.isComposite, try !parent.origin.holds(key, on: connection) {
                throw EditError(code: 1000, description: "Field \(field) names no feature of \(origin).")
            }
            if parent.isOneToOne, try parent.destination.holds(key, except: objectID, on: connection) {
                throw EditError(
                    code: 1000,
                    description: "Field \(field): the feature of \(origin) is related already, and to one at most.")
            }
        }
    }

    // MARK: Keys that change

    /// A key that other rows may hold, before and after an update.
    struct KeyChange {
        let old: AttributeValue
        let new: AttributeValue
        let holder: KeyColumn
    }

    /// The keys that an update changes, with the rows that hold them. Throws when a key that is held would be emptied.
    func keyChanges(
        objectID: Int64, _ value: (Int) -> AttributeValue?
    ) throws -> [KeyChange] {
        var changes: [KeyChange] = []
        let held =
            relationships.children.map { ($0.origin, $0.destination) }
            + relationships.links.map { ($0.own, $0.inTable) }
        for (own, holder) in held where own.meaning == .field {
            guard let new = value(own.index), let old = try stored(own, objectID), !old.isNull, old != new else {
                continue
            }
            // Another row with the same key: those that hold it may mean that one.
            guard try !own.holds(old, except: objectID, on: connection) else { continue }
            guard try holder.holds(old, on: connection) else { continue }
            guard !new.isNull else {
                throw EditError(
                    code: 1019,
                    description:
                        "Field \(own.name) is the key of rows of \(holder.layer.definition.name): it can't be null.")
            }
            changes.append(KeyChange(old: old, new: new, holder: holder))
        }
        return changes
    }

    func follow(_ changes: [KeyChange]) throws {
        for change in changes {
            try connection.run(
                "UPDATE \(change.holder.table) SET \(change.holder.sql) = ?2 WHERE \(change.holder.sql) = ?1"
            ) {
                try $0.bind(change.old, at: 1)
                try $0.bind(change.new, at: 2)
            }
        }
    }

    private func stored(_ column: KeyColumn, _ objectID: Int64) throws -> AttributeValue? {
        var found: AttributeValue?
        try connection.run(
            "SELECT \(column.sql) FROM \(column.table) WHERE \(column.objectID) = ?",
            bind: { try $0.bind(objectID, at: 1) }, row: { found = $0.rawValue(0) })
        return found
    }
}

extension StoreStatement {
    /// A column as it is stored, without regard to its field's type.
    func rawValue(_ column: Int) -> AttributeValue {
        switch type(column) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(double(column))
        case SQLITE_TEXT: .text(text(column))
        default: .null
        }
    }
}
