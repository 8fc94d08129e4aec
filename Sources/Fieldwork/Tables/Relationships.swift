import FieldworkREST
import Foundation

/// A relationship as it is seen from one feature: the other table and the keys on both sides.
struct RelationshipEnd: Sendable {
    let info: RelationshipInfo
    let table: ArcGISFeatureTable
    /// The key of the feature's own table.
    let key: FieldDefinition
    /// The key of the other table.
    let relatedKey: FieldDefinition
    /// The table between both sides; nil where the rows keep each other's keys, and where only the service can read it.
    var through: RelationshipTable?

    /// Throws `CommonError.notFound` when the service does not describe both sides.
    init(_ info: RelationshipInfo, of layer: LayerDefinition, to table: ArcGISFeatureTable) throws {
        guard let related = table.definition else {
            throw MappingError.notLoaded(details: "The table of \(info.name) is not loaded.")
        }
        let ends = related.relationships.filter { $0.relatedTableID == layer.id }
        let end =
            ends.first { $0.id == info.id && ($0.role == .origin) != (info.role == .origin) }
            ?? ends.first { ($0.role == .origin) != (info.role == .origin) }
        guard let end, let key = layer.field(named: info.keyField), let relatedKey = related.field(named: end.keyField)
        else {
            throw CommonError.notFound(details: "The service does not say what keys \(info.name) is kept by.")
        }
        self.info = info
        self.table = table
        self.key = key
        self.relatedKey = relatedKey
        relatedEnd = end
    }

    /// The same relationship as the other side tells it.
    let relatedEnd: RelationshipDefinition

    /// The condition that holds for the rows that belong to a key's value; nil when the value belongs to none.
    func condition(for value: (any Sendable)?) throws -> String? {
        try Self.literal(value, of: key).map { SQLExpression.binary(.equal, .field(relatedKey.name), $0).text }
    }

    static func literal(_ value: (any Sendable)?, of field: FieldDefinition) throws -> SQLExpression? {
        switch try AttributeConversion.stored(value, in: field) {
        case .null, .data: nil
        case .integer(let number): .literal(.integer(number))
        case .real(let number): .literal(.real(number))
        case .text(let text): .literal(.string(text))
        }
    }
}

extension ArcGISFeatureTable {
    /// The features that are related to a feature, local edits included: one result a relationship.
    /// - Parameter parameters: which features of one relationship; nil for all relationships.
    public func queryRelatedFeatures(
        to feature: ArcGISFeature, using parameters: RelatedQueryParameters? = nil
    ) async throws -> [RelatedFeatureQueryResult] {
        try await relatedFeatures(to: feature, using: parameters, fields: .loadAll)
    }

    /// The number of features that are related to a feature, local edits included.
    public func queryRelatedFeatureCount(
        for feature: ArcGISFeature, using parameters: RelatedQueryParameters? = nil
    ) async throws -> Int {
        var count = 0
        for end in try await ends(of: feature, for: parameters) {
            let values = parameters?.values ?? RelatedQueryParameters.Values()
            guard let query = try await query(end, feature, values) else { continue }
            count += try await end.table.queryFeatureCount(using: query)
        }
        return count
    }

    func relatedFeatures(
        to feature: ArcGISFeature, using parameters: RelatedQueryParameters?, fields: QueryFeatureFields
    ) async throws -> [RelatedFeatureQueryResult] {
        var results: [RelatedFeatureQueryResult] = []
        for end in try await ends(of: feature, for: parameters) {
            let values = parameters?.values ?? RelatedQueryParameters.Values()
            var found = FeatureQueryResult(
                features: [], fields: end.table.fields, spatialReference: end.table.spatialReference,
                geometryType: end.table.geometryType)
            if let query = try await query(end, feature, values) {
                if let table = end.table as? ServiceFeatureTable {
                    found = try await table.queryFeatures(using: query, queryFeatureFields: fields)
                } else {
                    found = try await end.table.queryFeatures(using: query)
                }
            }
            results.append(
                RelatedFeatureQueryResult(
                    feature: feature, relatedTable: end.table, relationshipInfo: end.info, found: found))
        }
        return results
    }

    /// The tables that this table's relationships lead to: of one relationship, or of all.
    public func relatedTables(for relationshipInfo: RelationshipInfo? = nil) -> [ArcGISFeatureTable] {
        var known: Set<ObjectIdentifier> = []
        return (relationshipInfo.map { [$0] } ?? relationshipInfos).compactMap(relatedTable(of:))
            .filter { known.insert(ObjectIdentifier($0)).inserted }
    }

    var relationshipInfos: [RelationshipInfo] { definition?.relationships.map(RelationshipInfo.init) ?? [] }

    /// The other sides of the relationships that parameters mean.
    func ends(of feature: ArcGISFeature, for parameters: RelatedQueryParameters?) async throws -> [RelationshipEnd] {
        guard feature.table === self else {
            throw GeodatabaseError.invalidArgument(details: "The feature is not one of this table.")
        }
        try await load()
        try await feature.load()
        let all = relationshipInfos
        var ends: [RelationshipEnd] = []
        for info in parameters?.relationshipInfo.map({ [$0] }) ?? all {
            guard let table = relatedTable(of: info) else {
                throw CommonError.notFound(details: "The table of the relationship \(info.name) is not there.")
            }
            try await table.load()
            var end = try end(of: info, to: table)
            if info.cardinality == .manyToMany { end.through = try await relationshipTable(of: end) }
            ends.append(end)
        }
        return ends
    }

    func end(of info: RelationshipInfo, to table: ArcGISFeatureTable) throws -> RelationshipEnd {
        guard let definition else { throw MappingError.notLoaded(details: "The table is not loaded.") }
        return try RelationshipEnd(info, of: definition, to: table)
    }

    private func query(
        _ end: RelationshipEnd, _ feature: ArcGISFeature, _ values: RelatedQueryParameters.Values
    ) async throws -> QueryParameters? {
        let query = QueryParameters()
        if end.info.cardinality == .manyToMany {
            guard let condition = try await condition(over: end, from: feature) else { return nil }
            query.whereClause = try LocalCondition.both(condition, values.whereClause)
        } else {
            guard let condition = try end.condition(for: feature.attributeValue(forKey: end.key.name)) else {
                return nil
            }
            query.whereClause = try LocalCondition.both(condition, values.whereClause)
        }
        query.addOrderByFields(values.orderByFields)
        query.maxFeatures = values.maxFeatures
        query.resultOffset = values.resultOffset
        query.returnsGeometry = values.returnsGeometry
        return query
    }
}
