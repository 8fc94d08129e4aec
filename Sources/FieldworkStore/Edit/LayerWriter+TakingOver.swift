import FieldworkREST

extension LayerWriter {
    /// Where the value of a stored column comes from.
    private enum Source {
        case objectID
        case globalID
        case attribute(Int, column: Int, StoredColumn.Kind)
    }

    /// Takes over features of a service, in their order. Most of them are new here: these are inserted as they come, by one
    /// statement, and only one that is in the way of another is looked at by itself.
    func takeOverAll(_ edits: [FeatureEdit]) throws -> [EditResult] {
        guard let sources = sources(in: edits) else { return try edits.map(add) }
        var results: [EditResult] = []
        results.reserveCapacity(edits.count)
        var bulk = edits.count >= Limits.bulkTakeOver ? try BulkTakeOver(layer, on: connection) : nil
        let statement = try connection.cached(insertSQL)
        defer { statement.finish() }
        // Where one is there already, its neighbours are as a rule.
        var isKnown = false
        for edit in edits {
            if !isKnown, let result = try insertNew(edit, sources, statement, bulk) {
                results.append(result)
                continue
            }
            try bulk?.end()
            bulk = nil
            let objectID = edit.objectID ?? 0
            isKnown = try find(.objectID(objectID)) != nil
            results.append(try add(edit))
        }
        try bulk?.end()
        return results
    }

    /// Where the values of all edits go, when they all name the same fields in one order and no stored field is missing; nil
    /// otherwise.
    private func sources(in edits: [FeatureEdit]) -> [Source]? {
        guard edits.count > 1, let names = edits.first?.attributes.map(\.name) else { return nil }
        let isSame = edits.allSatisfy { edit in
            edit.rejection == nil && edit.objectID != nil && (edit.globalID != nil || layer.globalIDIndex == nil)
                && edit.attributes.count == names.count && zip(edit.attributes, names).allSatisfy { $0.name == $1 }
                && (layer.geometryColumn == nil || !edit.geometry.isUnchanged)
        }
        guard isSame else { return nil }
        let indices = names.map { layer.index(of: $0) }
        let given = indices.compactMap(\.self)
        guard Set(given).count == given.count else { return nil }
        var result: [Source] = []
        for (index, column) in layer.columns.enumerated() where column.isStored {
            // The ids stand beside the attributes.
            if index == layer.objectIDIndex {
                result.append(.objectID)
            } else if index == layer.globalIDIndex {
                result.append(.globalID)
            } else if let position = indices.firstIndex(of: index) {
                result.append(.attribute(position, column: index, column.kind))
            } else {
                return nil
            }
        }
        return result
    }

    /// - Returns: nil when something is in the way.
    private func insertNew(
        _ edit: FeatureEdit, _ sources: [Source], _ statement: StoreStatement, _ bulk: BulkTakeOver?
    ) throws -> EditResult? {
        let geometry: [UInt8]?
        do {
            geometry = try geometryBlob(edit.geometry)
        } catch {
            return EditResult(objectID: edit.objectID, globalID: edit.globalID, error: error)
        }
        defer { statement.reset() }
        var place = 1
        for source in sources {
            switch source {
            case .objectID: try statement.bind(edit.objectID ?? 0, at: place)
            case .globalID: try statement.bind(edit.globalID.map(GUID.normalForm), at: place)
            case .attribute(let position, let column, let kind):
                try bind(edit.attributes[position].value, kind, column: column, to: statement, at: place)
            }
            place += 1
        }
        if layer.geometryColumn != nil { try bind(geometry, to: statement, at: place) }
        switch try statement.execute() {
        case .done: break
        case .notUnique, .refused: return nil
        }
        try bulk?.note(edit.objectID ?? 0, geometry)
        return EditResult(objectID: edit.objectID, globalID: edit.globalID)
    }

    /// Binds a value as `AttributeRules.storedAsIs` would have it. Most have their column's form already.
    private func bind(
        _ value: AttributeValue, _ kind: StoredColumn.Kind, column: Int, to statement: StoreStatement, at place: Int
    ) throws {
        switch (kind, value) {
        case (_, .null): try statement.bindNull(at: place)
        case (.integer, .integer(let number)): try statement.bind(number, at: place)
        case (.real, .real(let number)): try statement.bind(number, at: place)
        case (.text, .text(let text)): try statement.bind(text, at: place)
        default: try statement.bind(AttributeRules.storedAsIs(value, in: layer.columns[column]), at: place)
        }
    }
}
