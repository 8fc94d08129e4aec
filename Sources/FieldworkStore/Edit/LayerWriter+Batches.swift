import FieldworkGeometry
import FieldworkREST
import Foundation

/// Many edits of a layer in a database with few statements: row by row each statement is a way to the server and back. When the
/// database refuses a row of several, `SavepointsNeeded` is thrown, and all of the batch is done again row by row.
extension LayerWriter {
    /// The features that a batch names, read at once; an edit takes its feature out, so that a later edit of the same one reads it
    /// as it is then.
    final class FoundFeatures {
        private var features: [FeatureIdentifier: Found]
        private var unread: Set<FeatureIdentifier>

        fileprivate init(_ identifiers: Set<FeatureIdentifier>, _ features: [FeatureIdentifier: Found]) {
            self.features = features
            unread = identifiers
        }

        /// nil for one that has to be looked for by itself; `.some(nil)` for one that is not there.
        func take(_ identifier: FeatureIdentifier) -> Found?? {
            guard unread.remove(identifier) != nil else { return nil }
            return .some(features.removeValue(forKey: identifier))
        }
    }

    /// Deletes features in their order.
    /// - Returns: nil where each has to be deleted by itself.
    func deleteAll(_ identifiers: [FeatureIdentifier]) throws -> [EditResult]? {
        guard identifiers.count >= Limits.bulkAdds, areBatchesPossible, ruled?.concerns(.delete) != true else {
            return nil
        }
        let found = try findAll(identifiers)
        var ids: Set<Int64> = []
        let results = identifiers.map { identifier in
            guard let feature = found[identifier], !ids.contains(feature.objectID) else { return missing(identifier) }
            var result = EditResult(objectID: feature.objectID, globalID: feature.globalID)
            do throws(EditError) {
                try checkOwner(.delete, of: feature)
                ids.insert(feature.objectID)
            } catch {
                result.error = error
            }
            return result
        }
        guard !ids.isEmpty else { return results }
        // Where a row may keep another one, the order counts.
        guard try !TableFacts(rules, on: connection).refersToItself else { return nil }
        let statement = try connection.cached(
            "DELETE FROM \(table) WHERE \(key) IN (\(connection.dialect.integersOfArray))")
        defer { statement.finish() }
        try statement.bind(JSONValue.array(ids.sorted().map { .integer($0) }).text, at: 1)
        guard case .done = try statement.execute() else { throw SavepointsNeeded() }
        return results
    }

    /// Updates features in their order.
    func updateAll(_ edits: [FeatureEdit]) throws -> [EditResult] {
        guard edits.count >= Limits.bulkAdds, areBatchesPossible, ruled?.concerns(.update) != true else {
            return try edits.map { try update($0) }
        }
        let identifiers = edits.compactMap { $0.rejection == nil ? identifier(of: $0) : nil }
        let features = try findAll(identifiers)
        // One that is named by both of its ids is read when its turn comes, and so are the others.
        guard Set(features.values.map(\.objectID)).count == features.count else {
            return try edits.map { try update($0) }
        }
        let found = FoundFeatures(Set(identifiers), features)
        let facts = try TableFacts(rules, on: connection)
        let pending = PendingUpdates(rules, facts, on: connection)
        pendingUpdates = facts.refersToItself ? nil : pending
        defer { pendingUpdates = nil }
        let results = try edits.map { try update($0, among: found) }
        try pending.write()
        return results
    }

    private var areBatchesPossible: Bool {
        takesManyAtOnce && batch.origin == .edit && reach == nil
    }

    /// Those of the features that are there.
    private func findAll(_ identifiers: [FeatureIdentifier]) throws -> [FeatureIdentifier: Found] {
        var objectIDs: Set<Int64> = []
        var globalIDs: Set<UUID> = []
        for identifier in identifiers {
            switch identifier {
            case .objectID(let id): objectIDs.insert(id)
            case .globalID(let id): globalIDs.insert(id)
            }
        }
        var features: [FeatureIdentifier: Found] = [:]
        if !objectIDs.isEmpty {
            try connection.run(
                "\(rules.find) \(key) IN (\(connection.dialect.integersOfArray))",
                bind: { try $0.bind(JSONValue.array(objectIDs.map { .integer($0) }).text, at: 1) },
                row: { row in
                    let feature = read(row)
                    features[.objectID(feature.objectID)] = feature
                })
        }
        if !globalIDs.isEmpty, let column = layer.globalIDColumn.map(quoted) {
            try connection.run(
                "\(rules.find) \(column) IN (\(connection.dialect.textsOfArray))",
                bind: { try $0.bind(JSONValue.array(globalIDs.map { .string(GUID.normalForm($0)) }).text, at: 1) },
                row: { row in
                    let feature = read(row)
                    if let id = feature.globalID { features[.globalID(id)] = feature }
                })
        }
        return features
    }
}
