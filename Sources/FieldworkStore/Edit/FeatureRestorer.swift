import FieldworkREST
import Foundation

/// Brings deleted features back as they were last, each with what belongs to it: the parts and pairs that went with it in the same
/// generation, the keys of others that were emptied then, and the whole without which it can't be.
struct FeatureRestorer {
    let rules: RelationshipRules
    let connection: StoreConnection
    /// Gives the writer of a layer.
    let writer: (Int) throws -> LayerWriter

    private struct Feature: Hashable {
        var layerID: Int
        var globalID: UUID
    }

    /// Does nothing for a feature that is there or never was. Throws `StoreError` where its table does not take it.
    func restore(_ globalID: UUID, in layerID: Int) throws {
        let feature = Feature(layerID: layerID, globalID: globalID)
        if let refusal = try restoreAll([feature])[feature] { throw StoreError(.failure, refusal) }
    }

    /// Brings back what was deleted with a feature that a client has added again under its ids. A row that breaks a constraint of its
    /// table by now, such as a unique value, is left out and stays in the history.
    func restoreWhatWent(with globalID: UUID, in layerID: Int) throws {
        let feature = Feature(layerID: layerID, globalID: globalID)
        guard let generation = try deletion(of: globalID, in: try writer(layerID).layer) else { return }
        _ = try restoreAll(try belongings(of: feature, deletedIn: generation))
    }

    /// - Returns: what could not come back, and why.
    private func restoreAll(_ features: [Feature]) throws -> [Feature: String] {
        // A list, not the call stack: parts may have parts.
        var pending = features
        var known = Set(pending)
        var refused: [Feature: String] = [:]
        while let feature = pending.popLast() {
            let writer = try self.writer(feature.layerID)
            guard try writer.findAny(.globalID(feature.globalID)) == nil,
                let generation = try deletion(of: feature.globalID, in: writer.layer)
            else { continue }
            if let refusal = try writer.restore(feature.globalID) {
                refused[feature] = refusal
                continue
            }
            for next in try belongings(of: feature, deletedIn: generation) where known.insert(next).inserted {
                pending.append(next)
            }
        }
        return refused
    }

    /// Gives the rows whose key was emptied with a feature their key again.
    /// - Returns: the features that are to come back with it.
    private func belongings(of feature: Feature, deletedIn generation: Int64) throws -> [Feature] {
        guard let relationships = rules.layer(feature.layerID) else { return [] }
        var others = try relationships.parents.filter(\.isComposite).compactMap { try whole(of: feature, $0) }
        for relationship in relationships.children {
            let value = try key(relationship.origin, of: feature)
            let holder = relationship.destination
            if value.isNull { continue }
            // Where one may be related, another one may have come in its place.
            if relationship.isOneToOne, try holder.holds(value, on: connection) { continue }
            if relationship.isComposite {
                others += try parts(holding: value, relationship, deletedIn: generation)
            }
            guard relationship.deletion == .clear else { continue }
            try self.writer(holder.layer.definition.id).fill(
                holder, with: value, clearedIn: generation, among: try rows(of: holder.layer, changedIn: generation))
        }
        for link in relationships.links { others += try pairs(of: feature, link, deletedIn: generation) }
        return others
    }

    private func deletion(of globalID: UUID, in layer: StoredLayer) throws -> Int64? {
        guard let column = layer.globalIDColumn.map(quoted) else { return nil }
        return try connection.integer(
            """
            SELECT fieldwork_generation FROM \(quoted(layer.historyTable))
            WHERE \(column) = ? AND fieldwork_operation = 2 ORDER BY fieldwork_version DESC LIMIT 1
            """
        ) { try $0.bind(GUID.normalForm(globalID), at: 1) }
    }

    /// The value of a key column of a feature that is there.
    private func key(_ column: KeyColumn, of feature: Feature) throws -> AttributeValue {
        guard let globalID = column.layer.globalIDColumn.map(quoted) else { return .null }
        var value = AttributeValue.null
        try connection.run(
            "SELECT \(column.sql) FROM \(column.table) WHERE \(globalID) = ?",
            bind: { try $0.bind(GUID.normalForm(feature.globalID), at: 1) }, row: { value = $0.rawValue(0) })
        return value
    }

    /// The whole of a part, when it is not there any more.
    private func whole(of part: Feature, _ relationship: StoredRelationship) throws -> Feature? {
        let value = try key(relationship.destination, of: part)
        let origin = relationship.origin
        guard !value.isNull else { return nil }
        if try origin.holds(value, on: connection) { return nil }
        return try deleted(origin, value, "true ORDER BY fieldwork_version DESC LIMIT 1").first
    }

    /// The parts that went with their whole.
    private func parts(
        holding value: AttributeValue, _ relationship: StoredRelationship, deletedIn generation: Int64
    ) throws -> [Feature] {
        let layer = relationship.destination.layer
        return try deleted(
            relationship.destination, value,
            "fieldwork_generation = ?2 AND fieldwork_object_id IN (\(try rows(of: layer, changedIn: generation)))"
        ) { try $0.bind(generation, at: 2) }
    }

    /// SQL for the object ids of the rows that a generation changed. The history is in no order of generations, and a whole look through
    /// it is long: the log knows them, as long as it goes back so far.
    private func rows(of layer: StoredLayer, changedIn generation: Int64) throws -> String {
        let id = layer.definition.id
        guard generation > (try LogCompaction.floor(of: id, on: connection)) else {
            return
                "SELECT fieldwork_object_id FROM \(quoted(layer.historyTable)) WHERE fieldwork_generation = \(generation)"
        }
        return "SELECT object_id FROM fieldwork_changes WHERE layer_id = \(id) AND generation = \(generation)"
    }

    /// The pairs that went with one of their ends, where the other one is there. When that comes back later, they come with it.
    private func pairs(
        of end: Feature, _ link: LayerRelationships.Link, deletedIn generation: Int64
    ) throws -> [Feature] {
        let value = try key(link.own, of: end)
        if value.isNull { return [] }
        let (other, history) = (link.other, quoted(link.inTable.layer.historyTable))
        return try deleted(
            link.inTable, value,
            """
            fieldwork_generation = ?2
                AND fieldwork_object_id IN (\(try rows(of: link.inTable.layer, changedIn: generation))) AND EXISTS (
                SELECT 1 FROM \(other.key.table) WHERE \(other.key.sql) = \(history).\(other.inTable.sql))
            """
        ) { try $0.bind(generation, at: 2) }
    }

    /// Deleted features that held a key.
    private func deleted(
        _ column: KeyColumn, _ value: AttributeValue, _ condition: String,
        bind: (StoreStatement) throws -> Void = { _ in }
    ) throws -> [Feature] {
        guard let globalID = column.layer.globalIDColumn.map(quoted) else { return [] }
        let held = column.meaning == .objectID ? "fieldwork_object_id" : column.sql
        var found: [Feature] = []
        try connection.run(
            """
            SELECT \(globalID) FROM \(quoted(column.layer.historyTable))
            WHERE \(held) = ?1 AND fieldwork_operation = 2 AND \(condition)
            """,
            bind: {
                try $0.bind(value, at: 1)
                try bind($0)
            },
            row: { row in
                guard let id = row.optionalText(0).flatMap(GUID.parse) else { return }
                found.append(Feature(layerID: column.layer.definition.id, globalID: id))
            })
        return found
    }
}
