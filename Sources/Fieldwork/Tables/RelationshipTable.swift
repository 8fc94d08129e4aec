import FieldworkREST

/// The table that keeps which features of both sides belong together, each by its key.
struct RelationshipTable: Sendable {
    let table: ArcGISFeatureTable
    /// Where the key of the feature that is started from stands.
    let nearKey: FieldDefinition
    /// Where the key of the features on the other side stands.
    let farKey: FieldDefinition
}

/// Relationships of many features to many.
extension ArcGISFeatureTable {
    /// The table between both sides of a relationship; nil when it is no table of the service.
    func relationshipTable(of end: RelationshipEnd) async throws -> RelationshipTable? {
        guard let own = definition?.relationships.first(where: { $0.id == end.info.id }),
            let id = own.relationshipTableID, let table = table(besideWithID: id)
        else { return nil }
        try await table.load()
        guard let near = own.keyFieldInRelationshipTable.flatMap({ table.definition?.field(named: $0) }),
            let far = end.relatedEnd.keyFieldInRelationshipTable.flatMap({ table.definition?.field(named: $0) })
        else { return nil }
        return RelationshipTable(table: table, nearKey: near, farKey: far)
    }

    /// The condition that holds for the features that belong to one; nil when there are none. The table between both is
    /// read with the edits on this device; where it is none of the service's tables, only the service knows.
    func condition(over end: RelationshipEnd, from feature: ArcGISFeature) async throws -> String? {
        guard let through = end.through else {
            guard let source = try await loadedSource() as? ServiceTableSource, let id = feature.objectID,
                let field = end.table.definition?.objectIDField
            else {
                throw CommonError.notFound(details: "The table that keeps \(end.info.name) is not there.")
            }
            let ids = try await source.relatedIDs(of: id, over: end.info.id)
            return Self.condition(field, ids.map { .literal(.integer($0)) })
        }
        guard let value = try RelationshipEnd.literal(feature.attributeValue(forKey: end.key.name), of: end.key) else {
            return nil
        }
        let query = QueryParameters()
        query.whereClause = SQLExpression.binary(.equal, .field(through.nearKey.name), value).text
        query.returnsGeometry = false
        let rows = try await through.table.queryFeatures(using: query).features()
        var known: Set<SQLExpression> = []
        let keys = try rows.compactMap { row in
            try RelationshipEnd.literal(row.attributeValue(forKey: through.farKey.name), of: through.farKey)
        }.filter { known.insert($0).inserted }
        return Self.condition(end.relatedKey.name, keys)
    }

    private static func condition(_ field: String, _ values: [SQLExpression]) -> String? {
        values.isEmpty ? nil : SQLExpression.inList(.field(field), values, negated: false).text
    }
}
