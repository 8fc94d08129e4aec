import FieldworkREST

extension LayerWriter {
    /// Takes over features of a service, in their order. Most of them are new here: these are inserted as they come, by one
    /// statement, and only one that is in the way of another is looked at by itself.
    func takeOverAll(_ edits: [FeatureEdit]) throws -> [EditResult] {
        guard let columns = positions(in: edits) else { return try edits.map(add) }
        var results: [EditResult] = []
        results.reserveCapacity(edits.count)
        // Where one is there already, its neighbours are as a rule.
        var isKnown = false
        for edit in edits {
            if !isKnown, let result = try insertNew(edit, columns) {
                results.append(result)
                continue
            }
            let objectID = edit.objectID ?? 0
            isKnown = try find(.objectID(objectID)) != nil
            results.append(try add(edit))
        }
        return results
    }

    /// Where the values of all edits go, when they all name the same fields in one order and no stored field is missing; nil
    /// otherwise.
    private func positions(in edits: [FeatureEdit]) -> [Int?]? {
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
        var result: [Int?] = []
        for (index, column) in layer.columns.enumerated() where column.isStored {
            let position = indices.firstIndex(of: index)
            // The ids stand beside the attributes.
            let isID = index == layer.objectIDIndex || index == layer.globalIDIndex
            if position == nil, !isID { return nil }
            result.append(isID ? nil : position)
        }
        return result
    }

    /// - Returns: nil when something is in the way.
    private func insertNew(_ edit: FeatureEdit, _ columns: [Int?]) throws -> EditResult? {
        let geometry: [UInt8]?
        do {
            geometry = try geometryBlob(edit.geometry)
        } catch {
            return EditResult(objectID: edit.objectID, globalID: edit.globalID, error: error)
        }
        let statement = try connection.cached(insertSQL)
        defer { statement.finish() }
        var place = 0
        for (index, column) in layer.columns.enumerated() where column.isStored {
            if let position = columns[place] {
                let value = AttributeRules.storedAsIs(edit.attributes[position].value, in: column)
                try statement.bind(value, at: place + 1)
            } else if index == layer.objectIDIndex, let id = edit.objectID {
                try statement.bind(id, at: place + 1)
            } else if let id = edit.globalID {
                try statement.bind(GUID.normalForm(id), at: place + 1)
            }
            place += 1
        }
        if layer.geometryColumn != nil { try bind(geometry, to: statement, at: place + 1) }
        switch try statement.execute() {
        case .done: return EditResult(objectID: edit.objectID, globalID: edit.globalID)
        case .notUnique, .refused: return nil
        }
    }
}
