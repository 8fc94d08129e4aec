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
    private let catalogue: ServiceCatalogue
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

    func layer(relatedBy relationship: String, to layer: ArcadeLayer) throws -> ArcadeLayer? { nil }

    func features(_ query: ArcadeFeatureQuery, offset: Int, count: Int) throws -> [ArcadeFeature] {
        Array(try selected(query).dropFirst(offset).prefix(count))
    }

    func count(_ query: ArcadeFeatureQuery) throws -> Int { try selected(query).count }

    /// The rows that meet the conditions are read by the database, the rest of the question is answered here.
    private func selected(_ query: ArcadeFeatureQuery) throws -> [ArcadeFeature] {
        guard case .layer(let asked) = query.base, let id = Int(asked.id), let stored = catalogue.layers[id] else {
            throw ArcadeError(
                .dataAccess, "Attribute rules read the layers of their own service, and no relationships.")
        }
        var features = FeatureQuery(returnsGeometry: query.includesGeometry, limit: Limits.ruleRows + 1)
        if let text = query.condition?.text {
            do { features.condition = try SQLParser.parse(where: text) } catch {
                throw ArcadeError(.dataAccess, "The condition can't be read: \(error)")
            }
        }
        if let extent = query.places.first?.geometry.extent, !extent.isEmpty {
            features.spatialFilter = SpatialFilter(geometry: extent, relation: .envelopeIntersects)
        }
        let records = try RecordReader(layer: stored, connection: connection).records(features)
        guard records.count <= Limits.ruleRows else {
            throw ArcadeError(.limit, "An attribute rule reads at most \(Limits.ruleRows) rows of a layer at once.")
        }
        let rows = records.map { record in
            let values = stored.columns.map { column in
                AttributeRuleRun.arcadeValue(record.attributes[column.name] ?? .null, column)
            }
            return ArcadeFeature(schema: asked.schema, values: values, geometry: record.geometry, layer: asked)
        }
        return try ArcadeMemorySource.features(query, of: rows, now: now, zone: .utc)
    }
}
