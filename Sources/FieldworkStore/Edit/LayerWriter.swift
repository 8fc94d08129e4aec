import FieldworkGeometry
import FieldworkREST
import Foundation

/// Writes features of one layer within the transaction that its caller has opened.
final class LayerWriter {
    var layer: StoredLayer { rules.layer }
    let rules: RowRules
    let connection: StoreConnection
    let batch: EditBatch
    /// Adds may choose their object id.
    let keepsObjectIDs: Bool
    /// nil when no relationship concerns the layer.
    let keeper: RelationshipKeeper?
    /// What the layer's attribute rules are run with; nil where edits run none.
    let ruled: RuledLayer?
    /// Carries out what those rules ask for besides.
    private let cascade: RuleCascade?

    // SQL that every feature of the batch uses.
    var table: String { rules.table }
    var key: String { rules.key }
    var insertSQL: String { rules.insertSQL(connection.dialect) }
    private let globalIDs = GlobalIDSource()
    /// What the batch reaches of the layer; nil for all.
    let reach: ReachedFeatures?
    /// Updates that are not written yet, while many are done at once.
    var pendingUpdates: PendingUpdates?
    /// Features that were deleted once and were added again under their ids.
    private(set) var returned: [UUID] = []

    init(
        rules: RowRules, connection: StoreConnection, batch: EditBatch, keepsObjectIDs: Bool,
        relationships: LayerRelationships? = nil, ruled: RuledLayer? = nil, cascade: RuleCascade? = nil
    ) {
        let layer = rules.layer
        self.rules = rules
        self.connection = connection
        self.batch = batch
        self.keepsObjectIDs = keepsObjectIDs
        // What is loaded or taken over may come in pieces: a part before its whole.
        keeper =
            batch.origin == .edit
            ? relationships.map { RelationshipKeeper(relationships: $0, connection: connection) } : nil
        reach = batch.scope?.conditions[layer.definition.id].map { ReachedFeatures($0, in: layer, on: connection) }
        self.ruled = ruled
        self.cascade = cascade
    }

    // MARK: Adds

    func add(_ edit: FeatureEdit) throws -> EditResult {
        if let rejection = edit.rejection { return failed(rejection, edit) }
        if batch.origin == .cache { return try takeOver(edit) }
        do {
            var row = try newRow(edit)
            if !takesObjectIDs { row.objectID = try formerObjectID(edit, row.globalID) }
            return try carrying(row.ruleEdits) {
                // Asked before there is a feature of this id again.
                let returns = try !takesObjectIDs && row.objectID != nil && reachesDeleted(row.globalID)
                let result = try insert(row, edit)
                if returns, let former = row.objectID, result.error == nil {
                    try restoreAttachments(of: former)
                    row.globalID.map { returned.append($0) }
                }
                return result
            }
        } catch let error as EditError {
            return failed(error, edit)
        }
    }

    /// The row that a new feature is to be, with the ids that count of those that it brings. Throws `EditError`.
    func newRow(_ edit: FeatureEdit) throws -> NewRow {
        let geometry = try geometryBlob(edit.geometry)
        let globalID = newGlobalID(given: givenGlobalID(edit))
        let run = try ruled?.run(.insert, geometry: geometry, globalID: globalID)
        var row = NewRow(values: try rules.newRow(edit, in: batch, run))
        try keeper?.check(objectID: nil) { row.values[$0] }
        row.geometry = try run?.newGeometry.map { try GeometryRules.blob(for: $0, in: layer) } ?? geometry
        row.ruleEdits = run?.edits ?? []
        row.globalID = globalID
        if let index = layer.globalIDIndex, let id = row.globalID { row.values[index] = .text(GUID.normalForm(id)) }
        if takesObjectIDs { row.objectID = givenObjectID(edit) }
        return row
    }

    /// Whether an object id that an add brings along counts.
    var takesObjectIDs: Bool { keepsObjectIDs || batch.origin == .load }

    private func insert(_ row: NewRow, _ edit: FeatureEdit) throws -> EditResult {
        let statement = try connection.cached(insertSQL)
        defer { statement.finish() }
        var position = 1
        for index in row.values.indices where layer.columns[index].isStored {
            if index == layer.objectIDIndex {
                if let objectID = row.objectID {
                    try statement.bind(objectID, at: position)
                } else {
                    try statement.bindNull(at: position)
                }
            } else {
                try statement.bind(row.values[index], at: position)
            }
            position += 1
        }
        if layer.geometryColumn != nil { try bind(row.geometry, to: statement, at: position) }
        switch try statement.execute() {
        case .done:
            let objectID = connection.lastInsertedRowID
            reach?.include(objectID)
            return EditResult(objectID: objectID, globalID: row.globalID)
        case .notUnique(let message):
            statement.finish()
            return try notUnique(objectID: row.objectID, globalID: row.globalID, message)
        case .refused(let message): return failed(EditError(code: 1000, description: message), edit)
        }
    }

    /// An id that is there already. The result names the feature that has it, so that a client that sends an edit again
    /// after it lost the answer learns what became of it.
    func notUnique(objectID: Int64?, globalID: UUID?, _ message: String) throws -> EditResult {
        if let globalID, let existing = try findAny(.globalID(globalID)) {
            return EditResult(
                objectID: existing.objectID, globalID: globalID,
                error: EditError(code: 1016, description: "A feature with this global id exists already."))
        }
        guard let objectID else {
            // Both ids are new: it is a value of an index that the definition says is unique.
            return EditResult(objectID: nil, globalID: globalID, error: EditError(code: 1000, description: message))
        }
        return EditResult(
            objectID: objectID, globalID: globalID,
            error: EditError(code: 1016, description: "A feature with this object id exists already."))
    }

    /// The client's id where it counts, else a new one; nil for a layer without.
    func newGlobalID(given: @autoclosure () -> UUID?) -> UUID? {
        guard layer.globalIDIndex != nil else { return nil }
        if batch.usesGlobalIDs || batch.origin != .edit, let id = given() { return id }
        return globalIDs.next()
    }

    func givenGlobalID(_ edit: FeatureEdit) -> UUID? {
        if let id = edit.globalID { return id }
        guard let index = layer.globalIDIndex else { return nil }
        return edit.attributes.first { layer.index(of: $0.name) == index }?.value.textValue.flatMap(GUID.parse)
    }

    func givenObjectID(_ edit: FeatureEdit) -> Int64? {
        edit.objectID
            ?? edit.attributes.first { layer.index(of: $0.name) == layer.objectIDIndex }?.value.integerValue
    }

    /// The state of a feature as its service has it: inserted, or put in place of what was known.
    private func takeOver(_ edit: FeatureEdit) throws -> EditResult {
        let globalID = givenGlobalID(edit) ?? (layer.globalIDIndex == nil ? nil : globalIDs.next())
        var assignments = rules.assignmentsAsTheyAre(edit)
        let objectID = givenObjectID(edit)
        if let index = layer.globalIDIndex, let globalID, objectID == nil || givenGlobalID(edit) != nil {
            assignments.append((index, .text(GUID.normalForm(globalID))))
            // The same feature under a provisional object id gives way to the service's.
            if let objectID { try moveAttachments(of: globalID, to: objectID) }
            try connection.run(
                "DELETE FROM \(table) WHERE \(quoted(layer.columns[index].name)) = ?1 AND \(key) IS DISTINCT FROM ?2"
            ) {
                try $0.bind(GUID.normalForm(globalID), at: 1)
                if let objectID { try $0.bind(objectID, at: 2) }
            }
        }
        // Not one statement with ON CONFLICT: its rule for conflicts would take the place of the one in the R-tree's
        // triggers, and an update of a row with a geometry would fail there.
        if let objectID, let current = try find(.objectID(objectID)) {
            do {
                return try write(assignments, edit, to: current)
            } catch let error as EditError {
                return failed(error, edit)
            }
        }
        var names = assignments.map { quoted(layer.columns[$0.column].name) }
        let setsGeometry = layer.geometryColumn != nil && !edit.geometry.isUnchanged
        if setsGeometry, let geometryColumn = layer.geometryColumn { names.append(quoted(geometryColumn)) }
        let marks = Array(repeating: ", ?", count: names.count).joined()
        let sql = "INSERT INTO \(table) (\(([key] + names).joined(separator: ", "))) VALUES (?\(marks))"
        do {
            let geometry = try geometryBlob(edit.geometry)
            try connection.run(sql) { statement in
                if let objectID { try statement.bind(objectID, at: 1) }
                for (offset, assignment) in assignments.enumerated() {
                    try statement.bind(assignment.value, at: offset + 2)
                }
                if setsGeometry { try bind(geometry, to: statement, at: names.count + 1) }
            }
        } catch let error as EditError {
            return failed(error, edit)
        }
        return EditResult(objectID: objectID ?? connection.lastInsertedRowID, globalID: globalID)
    }

    // MARK: Updates

    /// - Parameter found: features of the batch that were read already.
    func update(_ edit: FeatureEdit, among found: FoundFeatures? = nil) throws -> EditResult {
        if let rejection = edit.rejection { return failed(rejection, edit) }
        guard let identifier = identifier(of: edit) else {
            return failed(EditError(code: 1019, description: "An update needs the id of its feature."), edit)
        }
        guard let current = try found?.take(identifier) ?? find(identifier) else {
            return failed(EditError(code: 1019, description: "There is no feature with this id."), edit)
        }
        do {
            var edit = edit
            let stored = StoredGeometry { try self.storedGeometry(of: current.objectID) }
            let run = batch.origin == .cache ? nil : try updateRun(edit, of: current, stored)
            let assignments =
                batch.origin == .cache
                ? rules.assignmentsAsTheyAre(edit)
                : try rules.assignments(edit, in: batch, current: current.values, run)
            if let geometry = run?.newGeometry { edit.geometry = .geometry(geometry) }
            try checkOwner(.update, of: current)
            return try carrying(run?.edits ?? []) { try write(assignments, edit, to: current, stored) }
        } catch let error as EditError {
            return EditResult(objectID: current.objectID, globalID: current.globalID, error: error)
        }
    }

    /// The layer's rules for an update; nil where none of them concerns it.
    private func updateRun(
        _ edit: FeatureEdit, of current: Found, _ stored: StoredGeometry
    ) throws -> AttributeRuleRun? {
        guard let ruled, ruled.concerns(.update) else { return nil }
        let old = try stored.blob()
        let new = edit.geometry.isUnchanged ? old : try geometryBlob(edit.geometry)
        return try ruled.run(.update, geometry: new, original: (current.values, old))
    }

    /// The geometry of a feature as it is stored, read once, when it is first needed.
    private final class StoredGeometry {
        private let read: () throws -> [UInt8]?
        private var known: [UInt8]??

        init(_ read: @escaping () throws -> [UInt8]?) { self.read = read }

        func blob() throws -> [UInt8]? {
            if let known { return known }
            let blob = try read()
            known = .some(blob)
            return blob
        }
    }

    func storedGeometry(of objectID: Int64) throws -> [UInt8]? {
        guard let geometryColumn = layer.geometryColumn else { return nil }
        var blob: [UInt8]?
        try connection.run(
            "SELECT \(quoted(geometryColumn)) FROM \(table) WHERE \(key) = ?",
            bind: { try $0.bind(objectID, at: 1) },
            row: { row in if !row.isNull(0) { blob = Array(row.blob(0)) } })
        return blob
    }

    /// - Parameter stored: the geometry that the feature has; nil where it does not matter.
    private func write(
        _ assignments: [RowRules.Assignment], _ edit: FeatureEdit, to current: Found, _ stored: StoredGeometry? = nil
    ) throws -> EditResult {
        var sets = assignments.map { "\(quoted(layer.columns[$0.column].name)) = ?" }
        let setsGeometry = layer.geometryColumn != nil && !edit.geometry.isUnchanged
        if setsGeometry, let geometryColumn = layer.geometryColumn { sets.append("\(quoted(geometryColumn)) = ?") }
        let result = EditResult(objectID: current.objectID, globalID: current.globalID)
        guard !sets.isEmpty else { return result }
        let geometry = try geometryBlob(edit.geometry)
        if setsGeometry, let stored { try checkGeometryStays(geometry, of: current, stored) }
        let keyChanges = try keyChanges(assignments, of: current)
        if let pendingUpdates,
            try pendingUpdates.add(assignments, geometry, setsGeometry: setsGeometry, objectID: current.objectID)
        {
            return result
        }
        let statement = try connection.cached("UPDATE \(table) SET \(sets.joined(separator: ", ")) WHERE \(key) = ?")
        defer { statement.finish() }
        for (offset, assignment) in assignments.enumerated() { try statement.bind(assignment.value, at: offset + 1) }
        if setsGeometry { try bind(geometry, to: statement, at: sets.count) }
        try statement.bind(current.objectID, at: sets.count + 1)
        switch try statement.execute() {
        case .done: break
        case .notUnique(let message), .refused(let message): throw EditError(code: 1019, description: message)
        }
        try keeper?.follow(keyChanges)
        return result
    }

    /// Checks the keys that an update assigns and gives those that other rows hold.
    private func keyChanges(
        _ assignments: [RowRules.Assignment], of current: Found
    ) throws -> [RelationshipKeeper.KeyChange] {
        guard let keeper else { return [] }
        func value(_ column: Int) -> AttributeValue? { assignments.last { $0.column == column }?.value }
        try keeper.check(objectID: current.objectID, value)
        return try keeper.keyChanges(objectID: current.objectID, value)
    }

    func identifier(of edit: FeatureEdit) -> FeatureIdentifier? {
        if batch.usesGlobalIDs, let id = givenGlobalID(edit) { return .globalID(id) }
        if let id = givenObjectID(edit) { return .objectID(id) }
        return givenGlobalID(edit).map(FeatureIdentifier.globalID)
    }

    // MARK: Restores

    /// Brings a deleted feature back as it was last, with its ids. Does nothing for one that is there or never was.
    /// - Returns: why the table does not take it; nil when it does.
    @discardableResult
    func restore(_ globalID: UUID) throws -> String? {
        guard let column = layer.globalIDColumn.map(quoted), try findAny(.globalID(globalID)) == nil else { return nil }
        var names = layer.columns.filter { $0.isStored && $0.name != layer.objectIDColumn }.map { quoted($0.name) }
        if let geometryColumn = layer.geometryColumn { names.append(quoted(geometryColumn)) }
        let list = names.joined(separator: ", ")
        let statement = try connection.cached(
            """
            INSERT INTO \(table) (\(key), \(list)) SELECT fieldwork_object_id, \(list)
            FROM \(quoted(layer.historyTable)) WHERE \(column) = ? AND fieldwork_operation = 2
            ORDER BY fieldwork_version DESC LIMIT 1
            """)
        defer { statement.finish() }
        try statement.bind(GUID.normalForm(globalID), at: 1)
        switch try statement.execute() {
        case .done: break
        case .notUnique(let message), .refused(let message): return message
        }
        if let restored = try findAny(.globalID(globalID)) { try restoreAttachments(of: restored.objectID) }
        return nil
    }

    // MARK: Both

    struct Found {
        var objectID: Int64
        var globalID: UUID?
        /// The values of the columns that `rules` wants to check with.
        var values: [Int: AttributeValue] = [:]
    }

    func checkOwner(_ action: OwnershipAccess.Action, of found: Found) throws(EditError) {
        guard batch.origin == .edit, let ownership = rules.ownership else { return }
        try ownership.check(action, creator: found.values[ownership.creatorColumn] ?? .null, editor: batch.editor)
    }

    /// Where geometries stay as they are, only a feature's owner may send another one. Clients send all that they have:
    /// the same geometry is no change.
    private func checkGeometryStays(_ new: [UInt8]?, of found: Found, _ stored: StoredGeometry) throws {
        guard batch.origin == .edit, !layer.definition.allowsGeometryUpdates else { return }
        if let ownership = rules.ownership,
            ownership.isOwner(batch.editor, found.values[ownership.creatorColumn] ?? .null)
        {
            return
        }
        guard try Self.isSame(stored.blob(), new) else {
            throw EditError(code: 1000, description: "The layer does not allow geometries to be changed.")
        }
    }

    /// Whether two blobs hold the same geometry: what stands before it says nothing more.
    private static func isSame(_ one: [UInt8]?, _ other: [UInt8]?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                guard let one = GeometryBlob(one)?.body, let other = GeometryBlob(other)?.body else { return false }
                return one.elementsEqual(other)
            }
        }
    }

    /// Writes a feature with what its rules ask for besides: both, or neither.
    func carrying(_ edits: [RuleEdit], _ write: () throws -> EditResult) throws -> EditResult {
        guard !edits.isEmpty, let cascade else { return try write() }
        return try cascade.carry(edits, after: write)
    }

    /// A feature that the batch reaches.
    func find(_ identifier: FeatureIdentifier) throws -> Found? {
        guard let found = try findAny(identifier) else { return nil }
        guard let reach else { return found }
        return try reach.contains(found.objectID) ? found : nil
    }

    func findAny(_ identifier: FeatureIdentifier) throws -> Found? {
        try pendingUpdates?.write()
        var found: Found?
        switch identifier {
        case .objectID(let id):
            try connection.run(rules.findByObjectID, bind: { try $0.bind(id, at: 1) }, row: { found = read($0) })
        case .globalID(let id):
            guard let sql = rules.findByGlobalID else { return nil }
            try connection.run(sql, bind: { try $0.bind(GUID.normalForm(id), at: 1) }, row: { found = read($0) })
        }
        return found
    }

    /// A row of `RowRules.find`.
    func read(_ row: StoreStatement) -> Found {
        var read = Found(objectID: row.integer(0), globalID: row.optionalText(1).flatMap(GUID.parse))
        for (position, index) in rules.checkedWith.enumerated() {
            read.values[index] = layer.columns[index].value(row, position + 2)
        }
        return read
    }

    func geometryBlob(_ edit: FeatureEdit.GeometryEdit) throws(EditError) -> [UInt8]? {
        guard case .geometry(let geometry) = edit else { return nil }
        return try GeometryRules.blob(for: geometry, in: layer)
    }

    func bind(_ blob: [UInt8]?, to statement: StoreStatement, at index: Int) throws {
        guard let blob else { return try statement.bindNull(at: index) }
        try blob.withUnsafeBytes { try statement.bind(blob: $0, at: index) }
    }

    func failed(_ error: EditError, _ edit: FeatureEdit) -> EditResult {
        EditResult(objectID: edit.objectID, globalID: edit.globalID, error: error)
    }
}

extension FeatureEdit.GeometryEdit {
    var isUnchanged: Bool { if case .unchanged = self { true } else { false } }
}
