import Dispatch
import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

/// Answers what expressions ask of layers: the tables of the feature's service or geodatabase, as far as they are at
/// hand. What is asked becomes one query of a table; only what tables can't say is made of their features.
struct ArcadeTables: ArcadeDataSource {
    let table: FeatureTable?
    let feature: (any GeoElement)?
    let now: Double
    /// Tables of a map, for `$map`.
    var mapTables: [FeatureTable] = []

    /// A table as an interpreter knows it; nil until it is loaded.
    static func layer(_ table: FeatureTable) -> ArcadeLayer? {
        guard let definition = table.definition else { return nil }
        return ArcadeLayer(
            id: String(definition.id), name: table.displayName, schema: ArcadeSchema(definition),
            spatialReference: definition.spatialReference,
            url: (table as? ServiceFeatureTable)?.url?.absoluteString ?? "")
    }

    private var tables: [FeatureTable] {
        let beside: [FeatureTable] = (table as? ArcGISFeatureTable)?.tablesBeside ?? table.map { [$0] } ?? []
        return beside + mapTables.filter { other in !beside.contains { $0 === other } }
    }

    func layerOfFeature() throws -> ArcadeLayer? { table.flatMap(Self.layer) }

    func layer(named name: String, in collection: ArcadeLayerCollection) throws -> ArcadeLayer? {
        try layer {
            [$0.displayName, $0.tableName, $0.layer?.name ?? ""].contains { $0.lowercased() == name.lowercased() }
        }
    }

    func layer(id: String, in collection: ArcadeLayerCollection) throws -> ArcadeLayer? {
        try layer { $0.definition.map { String($0.id) } == id }
    }

    private func layer(_ isMeant: (FeatureTable) -> Bool) throws -> ArcadeLayer? {
        var problem: (any Error)?
        for table in tables {
            if table.definition == nil {
                do { try Self.wait { try await table.load() } } catch { problem = error }
            }
            if isMeant(table), let layer = Self.layer(table) { return layer }
        }
        // It may be one of those that could not be loaded.
        if let problem { throw problem }
        return nil
    }

    private func relationship(_ name: String) -> (RelationshipInfo, ArcGISFeatureTable)? {
        guard let table = table as? ArcGISFeatureTable,
            let info = table.relationshipInfos.first(where: { $0.name.lowercased() == name.lowercased() }),
            let other = table.relatedTable(of: info)
        else { return nil }
        return (info, other)
    }

    func layer(relatedBy name: String, to layer: ArcadeLayer) throws -> ArcadeLayer? {
        guard let (_, other) = relationship(name) else { return nil }
        if other.definition == nil { try Self.wait { try await other.load() } }
        return Self.layer(other)
    }

    // MARK: Questions

    func features(_ query: ArcadeFeatureQuery, offset: Int, count: Int) throws -> [ArcadeFeature] {
        if case .related = query.base { return Array(try related(query).dropFirst(offset).prefix(count)) }
        let (table, layer) = try asked(query)
        if let parameters = parameters(query) {
            parameters.resultOffset = offset
            parameters.maxFeatures = count
            let found = try Self.wait { try await table.queryFeatures(using: parameters) }
            return found.features().map { ArcadeSnapshot.feature($0, layer.schema, layer) }
        }
        return Array(try inMemory(query, table, layer).dropFirst(offset).prefix(count))
    }

    func count(_ query: ArcadeFeatureQuery) throws -> Int {
        if case .related = query.base { return try related(query).count }
        let (table, layer) = try asked(query)
        guard let parameters = parameters(query) else { return try inMemory(query, table, layer).count }
        return try Self.wait { try await table.queryFeatureCount(using: parameters) }
    }

    func statistic(
        _ statistic: ArcadeStatistic, of expression: FieldworkArcade.SQLExpression, _ query: ArcadeFeatureQuery
    ) throws -> ArcadeValue? {
        let column = ArcadeGrouping.Column(name: "value", expression: expression, statistic: statistic)
        return try rows([column], query)?.first?.first
    }

    func groups(_ grouping: ArcadeGrouping, _ query: ArcadeFeatureQuery) throws -> [[ArcadeValue]]? {
        try rows(grouping.columns, query)
    }

    /// Statistics that the database computes; nil where the features are needed.
    private func rows(_ columns: [ArcadeGrouping.Column], _ query: ArcadeFeatureQuery) throws -> [[ArcadeValue]]? {
        guard case .layer = query.base else { return nil }
        let (table, _) = try asked(query)
        guard let parameters = parameters(query), let definition = table.definition,
            let statistics = ArcadeStatistics(columns, of: definition)
        else { return nil }
        return try Self.wait { try await table.statistics(statistics, parameters) }
    }

    private func asked(_ query: ArcadeFeatureQuery) throws -> (FeatureTable, ArcadeLayer) {
        for table in tables {
            if let layer = Self.layer(table), layer == query.layer { return (table, layer) }
        }
        throw ArcadeError(.dataAccess, "The layer “\(query.layer?.name ?? "")” is not at hand.")
    }

    /// The question as a query of a table; nil when tables can't be asked all of it.
    private func parameters(_ query: ArcadeFeatureQuery) -> QueryParameters? {
        let parameters = QueryParameters()
        parameters.whereClause = query.condition?.text ?? "1=1"
        parameters.returnsGeometry = query.includesGeometry
        if let place = query.places.first {
            guard query.places.count == 1 else { return nil }
            parameters.geometry = place.relation == .envelopeIntersects ? place.geometry.extent : place.geometry
            parameters.spatialRelationship = place.relation.ofGiven
        }
        for term in query.order {
            guard case .field(let name) = term.expression else { return nil }
            parameters.addOrderByField(
                OrderBy(fieldName: name, sortOrder: term.isDescending ? .descending : .ascending))
        }
        return parameters
    }

    /// The features that meet the conditions, then the rest of the question on this device.
    private func inMemory(
        _ query: ArcadeFeatureQuery, _ table: FeatureTable, _ layer: ArcadeLayer
    ) throws -> [ArcadeFeature] {
        let parameters = QueryParameters()
        parameters.whereClause = query.condition?.text ?? "1=1"
        if let place = query.places.first {
            parameters.geometry = place.geometry.extent
            parameters.spatialRelationship = .intersects
        }
        let found = try Self.wait { try await table.queryFeatures(using: parameters) }
        guard !found.isTransferLimitExceeded else {
            throw ArcadeError(.limit, "The layer “\(layer.name)” has more features than an expression may read.")
        }
        return try answer(query, found.features().map { ArcadeSnapshot.feature($0, layer.schema, layer) })
    }

    private func related(_ query: ArcadeFeatureQuery) throws -> [ArcadeFeature] {
        guard case .related(let layer, let name, let origin) = query.base, let (info, _) = relationship(name),
            let table = table as? ArcGISFeatureTable, let feature = feature as? ArcGISFeature,
            let key = table.definition?.objectIDField, let id = origin.value(of: key),
            id == ArcadeSnapshot.value(feature.attributes[key], ofType: "esriFieldTypeOID")
        else { throw ArcadeError(.dataAccess, "The related records can't be read here.") }
        let parameters = RelatedQueryParameters(relationshipInfo: info)
        let results = try Self.wait { try await table.queryRelatedFeatures(to: feature, using: parameters) }
        return try answer(
            query, results.flatMap { $0.features() }.map { ArcadeSnapshot.feature($0, layer.schema, layer) })
    }

    private func answer(_ query: ArcadeFeatureQuery, _ base: [ArcadeFeature]) throws -> [ArcadeFeature] {
        try ArcadeMemorySource.features(query, of: base, now: now, zone: .utc)
    }

    /// Those that are staged on this device included. None for a feature of a table without attachments.
    func attachments(of feature: ArcadeFeature) throws -> [ArcadeAttachment]? {
        guard let layer = feature.layer,
            let table = tables.first(where: { Self.layer($0) == layer }) as? ArcGISFeatureTable
        else { return nil }
        guard table.hasAttachments, let element = try element(feature, of: table) else { return [] }
        return try Self.wait { try await element.attachments }.sorted { $0.id < $1.id }.map {
            ArcadeAttachment(
                id: $0.id, name: $0.name, contentType: $0.contentType, size: $0.size, keywords: $0.keywords)
        }
    }

    /// The feature of a table that a script holds.
    private func element(_ held: ArcadeFeature, of table: ArcGISFeatureTable) throws -> ArcGISFeature? {
        guard let key = table.definition?.objectIDField, case .number(let number)? = held.value(of: key),
            let id = Int64(exactly: number)
        else { return nil }
        if let own = feature as? ArcGISFeature, own.table === table, own.objectID == id { return own }
        let parameters = QueryParameters()
        parameters.whereClause = "\(FieldworkArcade.SQLExpression.field(key).text) = \(id)"
        parameters.maxFeatures = 1
        let found = try Self.wait { try await table.queryFeatures(using: parameters) }
        return found.features().first { _ in true } as? ArcGISFeature
    }

    // MARK: Waiting

    private final class Answer<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
        let isThere = DispatchSemaphore(value: 0)
    }

    /// Waits for a task. Expressions that read data run on a thread of their own, never on one that tasks need.
    private static func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let answer = Answer<Value>()
        Task.detached {
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            answer.result.withLock { $0 = result }
            answer.isThere.signal()
        }
        answer.isThere.wait()
        guard let result = answer.result.withLock({ $0 }) else {
            throw ArcadeError(.dataAccess, "The data can't be read.")
        }
        do { return try result.get() } catch let error as any ArcGISError {
            throw ArcadeError(.dataAccess, error.details)
        }
    }
}

extension ArcadePlace.Relation {
    /// Queries name how the given geometry lies to the feature.
    fileprivate var ofGiven: SpatialRelationship {
        switch self {
        case .intersects: .intersects
        case .envelopeIntersects: .envelopeIntersects
        case .within: .contains
        case .contains: .within
        case .crosses: .crosses
        case .overlaps: .overlaps
        case .touches: .touches
        }
    }
}
