import FieldworkGeometry
import FieldworkREST
import Foundation

/// The rows of a replica, now and at an earlier generation, also those that belong to it only because others do.
struct ReplicaRowsReader {
    let catalogue: ServiceCatalogue
    let connection: StoreConnection
    let rows: [Int: ReplicaRows]

    /// The generation from which on a delta of a layer can be given. Rows that depend on others need their log as well.
    func floor(of layerID: Int) throws -> Int64 {
        var floor = max(catalogue.floor, try LogCompaction.floor(of: layerID, on: connection))
        if case .related(let relations)? = rows[layerID] {
            for relation in relations {
                floor = max(floor, try LogCompaction.floor(of: relation.originID, on: connection))
            }
        }
        return floor
    }

    // MARK: Changes

    /// - Parameter replicaID: the replica whose client asks.
    func delta(of layerID: Int, after generation: Int64, replicaID: UUID? = nil) throws -> LayerDelta {
        let layer = try catalogue.layer(layerID)
        switch rows[layerID] ?? .none {
        case .none: return LayerDelta()
        case .matching(let query):
            return try DeltaReader(layer: layer, connection: connection, replicaID: replicaID)
                .delta(after: generation, rows: query)
        case .related(let relations):
            return try delta(of: layer, relations, after: generation, replicaID: replicaID)
        }
    }

    /// Keys of an origin that came into the replica or left it.
    private struct MovedKeys {
        var entered: Set<AttributeValue> = []
        var left: Set<AttributeValue> = []
    }

    private func delta(
        of layer: StoredLayer, _ relations: [ReplicaRelation], after generation: Int64, replicaID: UUID?
    ) throws -> LayerDelta {
        let reader = DeltaReader(layer: layer, connection: connection, replicaID: replicaID)
        let moved = try relations.map { try movedKeys($0, after: generation) }
        var entries: [Int64: DeltaReader.Entry] = [:]
        for entry in try reader.entries(after: generation) {
            entries[entry.objectID] = entry
        }
        var candidates = Set(entries.keys)
        for (relation, keys) in zip(relations, moved) {
            candidates.formUnion(try ids(in: layer, holding: keys.entered.union(keys.left), relation.foreignKey))
        }
        let versions = VersionReader(layer: layer, connection: connection)
        var delta = LayerDelta()
        for id in candidates.sorted() {
            let now = try versions.current(id)
            let before = entries[id]?.first == .add ? nil : try versions.version(of: id, at: generation)
            let isIn = try now.map { try belongs($0, layer, relations) } ?? false
            let wasIn = try before.map { try belonged($0, layer, relations, moved) } ?? false
            switch (wasIn, isIn) {
            case (false, true): delta.adds.append(id)
            case (true, true): if entries[id] != nil { delta.updates.append(id) }
            case (true, false):
                delta.deletes.append(DeletedFeature(objectID: id, globalID: before?.globalID(in: layer)))
            case (false, false):
                if entries[id]?.isOwn == true { delta.deletes.append(try reader.stray(id, after: generation)) }
            }
            if entries[id]?.changesGeometry == true, wasIn, isIn { delta.hasGeometryUpdates = true }
        }
        return delta
    }

    private func movedKeys(_ relation: ReplicaRelation, after generation: Int64) throws -> MovedKeys {
        let origin = try catalogue.layer(relation.originID)
        guard let key = origin.index(of: relation.originKey) else { return MovedKeys() }
        let delta = try self.delta(of: relation.originID, after: generation)
        let versions = VersionReader(layer: origin, connection: connection)
        var moved = MovedKeys()
        for id in delta.adds {
            if let value = try versions.current(id)?.values[key] { moved.entered.insert(value) }
        }
        for deleted in delta.deletes {
            if let value = try versions.version(of: deleted.objectID, at: generation)?.values[key] {
                moved.left.insert(value)
            }
        }
        for id in delta.updates where key != origin.globalIDIndex {
            let (old, new) = (try versions.version(of: id, at: generation), try versions.current(id))
            guard let old = old?.values[key], let new = new?.values[key], old != new else { continue }
            moved.left.insert(old)
            moved.entered.insert(new)
        }
        return moved
    }

    // MARK: Membership

    /// Whether a feature belongs to the client's rows now.
    func contains(_ objectID: Int64, in layerID: Int) throws -> Bool {
        let layer = try catalogue.layer(layerID)
        switch rows[layerID] ?? .none {
        case .none: return false
        case .matching(let query):
            if query.asksForAll { return true }
            return try !identifiers(query.restricted(to: [objectID]), in: layer).isEmpty
        case .related(let relations):
            guard let version = try VersionReader(layer: layer, connection: connection).current(objectID) else {
                return false
            }
            return try belongs(version, layer, relations)
        }
    }

    private func belongs(_ version: RowVersion, _ layer: StoredLayer, _ relations: [ReplicaRelation]) throws -> Bool {
        for relation in relations {
            guard let value = key(of: version, layer, relation) else { continue }
            if try isKeyOfRows(value, relation) { return true }
        }
        return false
    }

    private func belonged(
        _ version: RowVersion, _ layer: StoredLayer, _ relations: [ReplicaRelation], _ moved: [MovedKeys]
    ) throws -> Bool {
        for (relation, moved) in zip(relations, moved) {
            guard let value = key(of: version, layer, relation) else { continue }
            if moved.left.contains(value) { return true }
            if !moved.entered.contains(value), try isKeyOfRows(value, relation) { return true }
        }
        return false
    }

    private func key(of version: RowVersion, _ layer: StoredLayer, _ relation: ReplicaRelation) -> AttributeValue? {
        guard let index = layer.index(of: relation.foreignKey), !version.values[index].isNull else { return nil }
        return version.values[index]
    }

    private func isKeyOfRows(_ value: AttributeValue, _ relation: ReplicaRelation) throws -> Bool {
        let origin = try catalogue.layer(relation.originID)
        return try ids(in: origin, holding: [value], relation.originKey).contains {
            try contains($0, in: relation.originID)
        }
    }

    // MARK: Whole tables

    /// The object ids of all rows that belong to a table through its relations.
    func relatedIDs(_ relations: [ReplicaRelation], in layer: StoredLayer) throws -> Set<Int64> {
        var found: Set<Int64> = []
        for relation in relations {
            let origin = try catalogue.layer(relation.originID)
            guard let key = origin.index(of: relation.originKey) else { continue }
            let ids: [Int64]
            switch rows[relation.originID] ?? .none {
            case .none: ids = []
            case .matching(let query): ids = try identifiers(query, in: origin)
            case .related(let further): ids = try relatedIDs(further, in: origin).sorted()
            }
            let column = quoted(origin.columns[key].name)
            for chunk in ids.chunks(of: Limits.idsPerStatement) {
                var keys: Set<AttributeValue> = []
                try connection.run(
                    """
                    SELECT \(column) FROM \(quoted(origin.tableName))
                    WHERE \(quoted(origin.objectIDColumn)) IN (\(connection.dialect.integersOfArray))
                    """,
                    bind: { try $0.bind(JSONValue.array(chunk.map { .integer($0) }).text, at: 1) },
                    row: { keys.insert(origin.columns[key].value($0, 0)) })
                found.formUnion(try self.ids(in: layer, holding: keys, relation.foreignKey))
            }
        }
        return found
    }

    private func ids(in layer: StoredLayer, holding keys: Set<AttributeValue>, _ field: String) throws -> Set<Int64> {
        guard !keys.isEmpty, let index = layer.index(of: field) else { return [] }
        let column = layer.columns[index]
        let wanted = connection.dialect.members(keys.filter { !$0.isNull }, of: column)
        var ids: Set<Int64> = []
        for chunk in wanted.chunks(of: Limits.idsPerStatement) {
            try connection.run(
                """
                SELECT \(quoted(layer.objectIDColumn)) FROM \(quoted(layer.tableName))
                WHERE \(quoted(column.name)) IN (\(connection.dialect.array(of: column)))
                """,
                bind: { try $0.bind(JSONValue.array(chunk).text, at: 1) }, row: { ids.insert($0.integer(0)) })
        }
        return ids
    }

    private func identifiers(_ query: FeatureQuery, in layer: StoredLayer) throws -> [Int64] {
        let plan = try QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds)
            .identifiers(query)
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        var ids: [Int64] = []
        while try statement.step() { ids.append(statement.integer(0)) }
        return ids
    }
}
