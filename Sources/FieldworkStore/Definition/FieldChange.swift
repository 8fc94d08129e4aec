import FieldworkREST

/// The way from a layer as it is stored to a new definition of it: fields that come, fields that go.
struct FieldChange {
    let old: StoredLayer
    let new: LayerDefinition
    let added: [FieldDefinition]
    let removed: [StoredColumn]

    init(from old: StoredLayer, to new: LayerDefinition) {
        self.old = old
        self.new = new
        added = new.fields.filter { old.index(of: $0.name) == nil }
        let names = Set(new.fields.map { $0.name.lowercased() })
        removed = old.columns.filter { !names.contains($0.name.lowercased()) }
    }

    func check() throws {
        guard new.geometryType == old.definition.geometryType, new.objectIDField == old.definition.objectIDField,
            new.globalIDField == old.definition.globalIDField,
            new.spatialReference == old.definition.spatialReference
        else {
            throw invalid("keeps its geometry type, spatial reference, object id field and global id field")
        }
        for field in new.fields {
            guard let index = old.index(of: field.name) else {
                if field.type == .globalID || field.type == .geometry {
                    throw invalid("can't be given a field of the type of \(field.name)")
                }
                continue
            }
            let known = old.columns[index].field
            guard known.name == field.name else { throw invalid("keeps the name of the field \(known.name)") }
            guard known.type == field.type else { throw invalid("keeps the type of the field \(field.name)") }
        }
        guard !old.isPlaced || (added.isEmpty && removed.isEmpty) else {
            throw invalid("is a table that was published in place: its fields are that table's columns")
        }
        guard !old.isPlaced || !new.hasAttachments else {
            throw invalid("is a table that was published in place, and has no attachments")
        }
        // What looks like a new name for a field would take its values away.
        guard removed.isEmpty || added.isEmpty else {
            throw invalid(
                "can't lose fields (\(removed.map(\.name).joined(separator: ", "))) and get others "
                    + "(\(added.map(\.name).joined(separator: ", "))) at once: a field is renamed by its alias")
        }
    }

    private func invalid(_ what: String) -> StoreError {
        StoreError(.invalidDefinition, "Layer \(new.id) \(what).")
    }

    func apply(on connection: StoreConnection) throws -> StoredLayer {
        for field in new.fields { try checkValues(of: field, on: connection) }
        guard !added.isEmpty || !removed.isEmpty else { return try stored(slots: slotsOfSameFields()) }
        try keepValuesOfRemoved(on: connection)
        try connection.dialect.textIndex.removeIfNames(removed, of: old, on: connection)
        let isFile = connection.dialect.isSQLite
        if isFile { try ChangeTriggers(layer: old).drop(on: connection) }
        let slots = try FieldSlots.change(old, to: new, on: connection)
        for column in removed where column.isStored { try remove(column, on: connection) }
        let layer = try stored(slots: slots)
        for field in added { try add(StoredColumn(field), on: connection) }
        if isFile {
            try FeatureTable(layer: layer).prepareTracking(on: connection)
        } else {
            try PostgresDefinitionChange(on: connection).replaceTriggerFunctions(of: layer)
        }
        return layer
    }

    private func stored(slots: [Int]) throws -> StoredLayer {
        var layer = try StoredLayer(
            definition: new, tableName: old.tableName, geometryColumn: old.geometryColumn, srsID: old.srsID,
            slots: slots)
        layer.isPlaced = old.isPlaced
        return layer
    }

    /// The same fields, perhaps in another order.
    private func slotsOfSameFields() -> [Int] {
        new.fields.compactMap { field in old.index(of: field.name).map { old.slots[$0] } }
    }

    /// A tighter rule must hold for what is there: otherwise features could be read and not written again.
    private func checkValues(of field: FieldDefinition, on connection: StoreConnection) throws {
        guard let known = old.definition.field(named: field.name) else { return }
        let (table, column) = (quoted(old.tableName), quoted(known.name))
        if known.isNullable, !field.isNullable,
            try connection.integer("SELECT 1 FROM \(table) WHERE \(column) IS NULL LIMIT 1") != nil
        {
            throw invalid("has features without \(field.name): it can't be required")
        }
        let isShorter = field.length > 0 && (known.length == 0 || known.length > field.length)
        if field.type == .string, isShorter,
            try connection.integer(
                "SELECT 1 FROM \(table) WHERE length(\(column)) > ? LIMIT 1",
                bind: { try $0.bind(Int64(field.length), at: 1) })
                != nil
        {
            throw invalid("has longer values of \(field.name) than \(field.length) characters")
        }
    }

    // MARK: Removing

    /// Enters an update of each feature that has a value to lose, with what it was, into history and change log: all that
    /// the layer's triggers would write for it, whatever the column itself demands.
    private func keepValuesOfRemoved(on connection: StoreConnection) throws {
        let lost = removed.filter(\.isStored)
        guard !lost.isEmpty else { return }
        let key = quoted(old.objectIDColumn)
        let columns = ChangeTriggers(layer: old).historyColumns.map { ", \(quoted($0))" }.joined()
        let hasValue = lost.map { "\(quoted($0.name)) IS NOT NULL" }.joined(separator: " OR ")
        var masks = [Int64](repeating: 0, count: ChangeTriggers.maskCount)
        for column in lost {
            guard let slot = old.index(of: column.name).map({ old.slots[$0] }) else { continue }
            masks[slot / ChangeTriggers.bitsPerMask] |= 1 << Int64(slot % ChangeTriggers.bitsPerMask)
        }
        let generation = try ChangeLog.generation(on: connection)
        let update = FeatureChange.Operation.update.number
        try connection.execute(
            """
            INSERT INTO \(quoted(old.historyTable))
                (fieldwork_object_id, fieldwork_generation, fieldwork_operation\(columns))
            SELECT \(key), \(generation), \(update)\(columns) FROM \(quoted(old.tableName)) WHERE \(hasValue)
            """)
        try connection.execute(
            """
            INSERT INTO fieldwork_changes
            SELECT \(new.id), \(key), \(generation), \(update), \(masks.map(String.init).joined(separator: ", "))
            FROM \(quoted(old.tableName)) WHERE \(hasValue)
            """)
    }

    private func remove(_ column: StoredColumn, on connection: StoreConnection) throws {
        let generation = try ChangeLog.generation(on: connection)
        do {
            guard connection.dialect.isSQLite else {
                let slot = old.index(of: column.name).map { old.slots[$0] } ?? 0
                return try PostgresDefinitionChange(on: connection).remove(
                    column, slot: slot, from: old, generation: generation)
            }
            try removeFromFile(column, on: connection)
        } catch let error as StoreError where error.code == .failure {
            throw invalid("can't lose the field \(column.name), which something else uses: \(error.message)")
        }
        try connection.run(
            "DELETE FROM gpkg_data_columns WHERE table_name = ? AND lower(column_name) = lower(?)"
        ) {
            try $0.bind(old.tableName, at: 1)
            try $0.bind(column.name, at: 2)
        }
        // The history keeps the values under a name that no field can have, also when a field of this name comes again.
        try connection.execute(
            """
            ALTER TABLE \(quoted(old.historyTable)) RENAME COLUMN \(quoted(column.name))
            TO \(quoted("fieldwork_removed_\(generation)_\(column.name)"))
            """)
    }

    private func removeFromFile(_ column: StoredColumn, on connection: StoreConnection) throws {
        var indexes: [String] = []
        try connection.run(
            """
            SELECT l.name FROM pragma_index_list(?1) AS l, pragma_index_info(l.name) AS i
            WHERE lower(i.name) = lower(?2) AND l.origin = 'c'
            """,
            bind: {
                try $0.bind(old.tableName, at: 1)
                try $0.bind(column.name, at: 2)
            }, row: { indexes.append($0.text(0)) })
        for index in indexes { try connection.execute("DROP INDEX \(quoted(index))") }
        try connection.execute("ALTER TABLE \(quoted(old.tableName)) DROP COLUMN \(quoted(column.name))")
    }

    // MARK: Adding

    private func add(_ column: StoredColumn, on connection: StoreConnection) throws {
        guard column.isStored else { return }
        // Features that are there get a value only where they must have one.
        let value = AttributeRules.storedAsIs(column.field.defaultValue, in: column)
        let clause = column.field.isNullable ? "" : FeatureTable.defaultClause(value)
        if !column.field.isNullable, value.isNull,
            try connection.integer("SELECT 1 FROM \(quoted(old.tableName)) LIMIT 1") != nil
        {
            throw invalid("has features: a new field that is required, \(column.name), needs a defaultValue")
        }
        guard connection.dialect.isSQLite else {
            return try PostgresDefinitionChange(on: connection).add(column, to: old, clause)
        }
        try connection.execute(
            "ALTER TABLE \(quoted(old.tableName)) ADD COLUMN \(quoted(column.name)) \(column.sqlType)\(clause)")
        try connection.execute(
            "ALTER TABLE \(quoted(old.historyTable)) ADD COLUMN \(quoted(column.name)) \(column.sqlType)")
    }
}
