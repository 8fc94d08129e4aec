import FieldworkREST

extension LayerWriter {
    /// Whether the table's own triggers are out of the way of a load: see `TableLoad`.
    var isBeingLoaded: Bool {
        get throws { try batch.origin == .load && TableLoad.isUnderWay(layer, on: connection) }
    }

    /// Adds features while the triggers of the table are out of the way, and logs them all at once.
    func loadAll(_ edits: [FeatureEdit]) throws -> [EditResult] {
        let highest = try connection.integer("SELECT max(\(key)) FROM \(table)") ?? 0
        guard let plan = loadPlan(edits) else {
            let results = try edits.map(add)
            try log(results, after: highest)
            return results
        }
        var results: [EditResult] = []
        results.reserveCapacity(edits.count)
        let statement = try connection.cached(insertSQL)
        for edit in edits {
            if plan.fits(edit) {
                results.append(try load(edit, plan, statement))
            } else {
                statement.reset()
                results.append(try add(edit))
            }
        }
        statement.finish()
        try log(results, after: highest)
        return results
    }

    /// nil where a row is more than its values: where a rule has a say, or an id stands among the attributes.
    private func loadPlan(_ edits: [FeatureEdit]) -> LoadPlan? {
        guard let first = edits.first, rules.hasOnlyFields, ruled == nil, keeper == nil, reach == nil else {
            return nil
        }
        return LoadPlan(names: first.attributes.map(\.name), layer)
    }

    /// What `add` does, for a feature that fits the plan.
    private func load(_ edit: FeatureEdit, _ plan: LoadPlan, _ statement: StoreStatement) throws -> EditResult {
        var row = NewRow(values: [], objectID: edit.objectID)
        let outcome: StoreStatement.Outcome
        do {
            defer { statement.reset() }
            let geometry = try geometryBlob(edit.geometry)
            // No attribute of the plan is a global id.
            row.globalID = newGlobalID(given: edit.globalID)
            var place = 1
            for source in plan.sources {
                switch source {
                case .objectID:
                    if let id = edit.objectID {
                        try statement.bind(id, at: place)
                    } else {
                        try statement.bindNull(at: place)
                    }
                case .globalID: try statement.bind(row.globalID.map(GUID.normalForm), at: place)
                case .constant(let value): try statement.bind(value, at: place)
                case .attribute(let cell):
                    try bind(edit.attributes[cell.position].value, cell, to: statement, at: place)
                }
                place += 1
            }
            if layer.geometryColumn != nil { try bind(geometry, to: statement, at: place) }
            outcome = try statement.execute()
        } catch let error as EditError {
            return failed(error, edit)
        }
        switch outcome {
        case .done: return EditResult(objectID: connection.lastInsertedRowID, globalID: row.globalID)
        case .notUnique(let message): return try notUnique(objectID: row.objectID, globalID: row.globalID, message)
        case .refused(let message): return failed(EditError(code: 1000, description: message), edit)
        }
    }

    /// Binds a value as `AttributeRules.stored` would have it. Most have their column's form already.
    private func bind(
        _ value: AttributeValue, _ cell: LoadPlan.Cell, to statement: StoreStatement, at place: Int
    ) throws {
        switch (cell.form, value) {
        case (.integer(let range), .integer(let number)) where range.contains(number):
            return try statement.bind(number, at: place)
        case (.real, .real(let number)) where number.isFinite: return try statement.bind(number, at: place)
        case (.text(let length), .text(let text)) where text.utf8.count <= length && !Self.hasNull(text):
            return try statement.bind(text, at: place)
        default: break
        }
        let column = layer.columns[cell.column]
        try statement.bind(AttributeRules.stored(value, in: column, domain: column.field.domain), at: place)
    }

    private static func hasNull(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? text.utf8.contains(0)
    }

    /// Logs the features that were added: what their triggers would have done.
    private func log(_ results: [EditResult], after highest: Int64) throws {
        let ids = results.compactMap { $0.isSuccess ? $0.objectID : nil }.sorted()
        guard let lowest = ids.first else { return }
        let id = layer.definition.id
        func insert(_ source: String, _ bind: Int64) throws {
            try connection.run(
                """
                INSERT INTO fieldwork_changes SELECT \(id), \(source) WHERE s.id = 1 AND s.muted = 0
                """
            ) { try $0.bind(bind, at: 1) }
        }
        if lowest > highest {
            try insert(
                "t.\(key), s.generation, 0, NULL, NULL, NULL, NULL FROM fieldwork_state AS s CROSS JOIN \(table) AS t "
                    + "ON t.\(key) > ?", highest)
        } else {
            for id in ids { try insert("?, s.generation, 0, NULL, NULL, NULL, NULL FROM fieldwork_state AS s", id) }
        }
    }
}

/// Where the values of a row come from, for features of a load that all name the same fields.
struct LoadPlan {
    struct Cell {
        /// Among the attributes of a feature.
        var position: Int
        var column: Int
        var form: Form
    }

    /// Which values stay as they are.
    enum Form {
        case integer(ClosedRange<Int64>)
        case real
        case text(Int)
        case other
    }

    enum Source {
        case objectID, globalID
        case attribute(Cell)
        case constant(AttributeValue)
    }

    /// Of the stored columns, in their order.
    let sources: [Source]
    private let names: [String]

    /// nil where a name is no field's, or that of an id, or comes twice.
    init?(names: [String], _ layer: StoredLayer) {
        self.names = names
        let indices = names.compactMap { layer.index(of: $0) }
        guard indices.count == names.count, Set(indices).count == indices.count,
            !indices.contains(where: { $0 == layer.objectIDIndex || $0 == layer.globalIDIndex })
        else { return nil }
        var sources: [Source] = []
        for (index, column) in layer.columns.enumerated() where column.isStored {
            if index == layer.objectIDIndex {
                sources.append(.objectID)
            } else if index == layer.globalIDIndex {
                sources.append(.globalID)
            } else if let position = indices.firstIndex(of: index) {
                sources.append(.attribute(Cell(position: position, column: index, form: Self.form(column))))
            } else {
                let value = try? AttributeRules.stored(
                    column.field.defaultValue, in: column, domain: column.field.domain)
                guard let value else { return nil }
                sources.append(.constant(value))
            }
        }
        self.sources = sources
    }

    func fits(_ edit: FeatureEdit) -> Bool {
        edit.rejection == nil && edit.attributes.count == names.count
            && edit.attributes.indices.allSatisfy { edit.attributes[$0].name == names[$0] }
    }

    private static func form(_ column: StoredColumn) -> Form {
        guard column.field.domain == nil else { return .other }
        switch column.kind {
        case .integer: return .integer(AttributeRules.range(of: column.field.type))
        case .real where column.field.type != .single: return .real
        case .text: return .text(column.field.length > 0 ? column.field.length : .max)
        default: return .other
        }
    }
}
