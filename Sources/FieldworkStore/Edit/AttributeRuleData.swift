import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import Foundation

/// Answers what the rules of a layer ask of the service's layers, in the transaction of the edit: a rule sees the rows that the
/// edits before it have written.
///
/// A script is evaluated on the thread that writes, which alone uses the connection, and the source is not kept after it.
final class AttributeRuleData: ArcadeDataSource, @unchecked Sendable {
    private let layer: StoredLayer
    let catalogue: ServiceCatalogue
    private let connection: StoreConnection
    private let now: Double

    init(_ layer: StoredLayer, _ catalogue: ServiceCatalogue, _ connection: StoreConnection, now: Double) {
        self.layer = layer
        self.catalogue = catalogue
        self.connection = connection
        self.now = now
    }

    func layerOfFeature() throws -> ArcadeLayer? { ArcadeLayer(layer.definition) }

    func layer(named name: String, in collection: ArcadeLayerCollection) throws -> ArcadeLayer? {
        guard collection == .datastore else { return nil }
        let found = catalogue.layers.values.filter { $0.definition.name.lowercased() == name.lowercased() }
        return found.min { $0.definition.id < $1.definition.id }.map { ArcadeLayer($0.definition) }
    }

    func layer(id: String, in collection: ArcadeLayerCollection) throws -> ArcadeLayer? {
        guard collection == .datastore, let number = Int(id) else { return nil }
        return catalogue.layers[number].map { ArcadeLayer($0.definition) }
    }

    func layer(relatedBy relationship: String, to layer: ArcadeLayer) throws -> ArcadeLayer? {
        path(relationship, from: layer).flatMap { catalogue.layers[$0.relatedLayerID] }.map {
            ArcadeLayer($0.definition)
        }
    }

    // MARK: What the database answers

    func features(_ query: ArcadeFeatureQuery, offset: Int, count: Int) throws -> [ArcadeFeature] {
        let query = try ofLayer(query)
        let (layer, stored) = try asked(query)
        guard var features = FeatureQuery(query, of: stored.definition) else {
            return Array(try selected(query, layer, stored).dropFirst(offset).prefix(count))
        }
        (features.offset, features.limit) = (offset, count)
        return try read(features, layer, stored)
    }

    func count(_ query: ArcadeFeatureQuery) throws -> Int {
        let query = try ofLayer(query)
        let all = ArcadeGrouping.Column(name: "count", expression: .literal(.number(1)), statistic: .count)
        if case .number(let count)?? = try rows([all], query)?.first?.first { return Int(count) }
        let (layer, stored) = try asked(query)
        return try selected(query, layer, stored).count
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

    /// nil where the interpreter has to do it.
    private func rows(
        _ columns: [ArcadeGrouping.Column], _ query: ArcadeFeatureQuery
    ) throws -> [[ArcadeValue]]? {
        let query = try ofLayer(query)
        let (_, stored) = try asked(query)
        guard let features = FeatureQuery(query, of: stored.definition),
            let statistics = ArcadeStatistics(columns, of: stored.definition)
        else { return nil }
        return try StatisticsReader(layer: stored, connection: connection)
            .rows(statistics.query(over: features), most: Limits.ruleRows).map(statistics.values)
    }

    // MARK: What the interpreter answers

    private func asked(_ query: ArcadeFeatureQuery) throws -> (ArcadeLayer, StoredLayer) {
        guard case .layer(let asked) = query.base, let id = Int(asked.id), let stored = catalogue.layers[id] else {
            throw ArcadeError(.dataAccess, "Attribute rules read the layers of their own service.")
        }
        return (asked, stored)
    }

    private func read(
        _ query: FeatureQuery, _ layer: ArcadeLayer, _ stored: StoredLayer
    ) throws -> [ArcadeFeature] {
        try RecordReader(layer: stored, connection: connection).records(query).map { record in
            let values = stored.columns.map { ArcadeValue(record.attributes[$0.name] ?? .null, of: $0) }
            return ArcadeFeature(schema: layer.schema, values: values, geometry: record.geometry, layer: layer)
        }
    }

    /// The rows that meet the conditions are read by the database, the rest of the question is answered here.
    private func selected(
        _ query: ArcadeFeatureQuery, _ layer: ArcadeLayer, _ stored: StoredLayer
    ) throws -> [ArcadeFeature] {
        var features = FeatureQuery(returnsGeometry: query.includesGeometry, limit: Limits.ruleRows + 1)
        if let text = query.condition?.text {
            do { features.condition = try SQLParser.parse(where: text) } catch {
                throw ArcadeError(.dataAccess, "The condition can't be read: \(error)")
            }
        }
        if let extent = query.places.first?.geometry.extent, !extent.isEmpty {
            features.spatialFilter = SpatialFilter(geometry: extent, relation: .envelopeIntersects)
        }
        let rows = try read(features, layer, stored)
        guard rows.count <= Limits.ruleRows else {
            throw ArcadeError(.limit, "An attribute rule reads at most \(Limits.ruleRows) rows of a layer at once.")
        }
        return try ArcadeMemorySource.features(query, of: rows, now: now, zone: .utc)
    }
}
