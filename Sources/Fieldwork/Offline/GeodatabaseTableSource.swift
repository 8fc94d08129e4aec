import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// The rows of one table of a geodatabase file.
struct GeodatabaseTableSource: TableSource {
    let layer: LayerDefinition
    let session: GeodatabaseSession

    private var file: GeoPackageFile { session.file }

    // MARK: Queries

    func records(_ query: LayerQuery, mode: FeatureRequestMode) async throws -> FeaturePage {
        var asked = try filter(query)
        asked.order = try query.order.map { key in
            FeatureQuery.OrderTerm(
                expression: try LocalCondition.value(key.field, layer: layer), isDescending: key.isDescending)
        }
        asked.offset = query.offset
        let limit = min(query.limit ?? Limits.queriedFeatures, Limits.queriedFeatures)
        // One more tells whether there are more.
        asked.limit = limit + 1
        asked.returnsGeometry = query.returnsGeometry
        let found = try await onDevice { try await file.records(asked, in: layer.id) }
        let records = try found.prefix(limit).map { try shown($0, query) }
        return FeaturePage(records: records, exceededTransferLimit: found.count > limit)
    }

    func count(_ query: LayerQuery, mode: FeatureRequestMode) async throws -> Int {
        let filter = try filter(query)
        return try await onDevice { try await file.count(filter, in: layer.id) }
    }

    func statistics(
        _ query: LayerQuery, _ statistics: ArcadeStatistics, mode: FeatureRequestMode
    ) async throws -> [[AttributeValue]]? {
        let asked = statistics.query(over: try filter(query))
        return try await onDevice { try await file.statistics(asked, in: layer.id, most: Limits.queriedFeatures) }
    }

    func extent(_ query: LayerQuery, mode: FeatureRequestMode) async throws -> Envelope? {
        let filter = try filter(query)
        guard let extent = try await onDevice({ try await file.extent(filter, in: layer.id).extent }) else {
            return nil
        }
        guard let reference = query.outSpatialReference else { return extent }
        return try GeometryEngine.projected(extent, into: reference).extent
    }

    var knownCount: Int { (try? file.countNow(in: layer.id)) ?? 0 }

    private func filter(_ query: LayerQuery) throws -> FeatureQuery {
        try query.local(layer, objectIDs: query.objectIDs.isEmpty ? nil : query.objectIDs)
    }

    /// A row as the query wants it.
    private func shown(_ record: FeatureRecord, _ query: LayerQuery) throws -> FeatureRecord {
        var record = normalised(record)
        if let names = query.outFields { record.attributes = record.attributes.filter { names.contains($0.key) } }
        guard query.returnsGeometry, let geometry = record.geometry else {
            record.geometry = nil
            return record
        }
        if let reference = query.outSpatialReference {
            record.geometry = try GeometryEngine.projected(geometry, into: reference)
        }
        return record
    }

    private func normalised(_ record: FeatureRecord) -> FeatureRecord {
        var record = record
        for field in layer.fields {
            guard let value = record.attributes[field.name] else { continue }
            record.attributes[field.name] = AttributeConversion.normalised(value, type: field.type)
        }
        return record
    }

    // MARK: Edits

    func add(_ features: [ArcGISFeature], mode: FeatureRequestMode) async throws {
        let draft = FeatureDraft(layer: layer)
        let edits = try features.map { feature in
            guard feature.objectID == nil else {
                throw GeodatabaseError.itemAlreadyExists(details: "The feature has been added already.")
            }
            let record = try draft.newRecord(feature)
            try checkArea(record.geometry)
            return FeatureEdit(
                globalID: record.globalID, attributes: record.attributes.map { ($0.key, $0.value) },
                geometry: record.geometry.map { .geometry($0) } ?? .null)
        }
        let results = try await session.apply(LayerEdits(layerID: layer.id, adds: edits))
        try await handOver(features, results.adds)
    }

    func update(_ features: [ArcGISFeature]) async throws {
        let draft = FeatureDraft(layer: layer)
        let edits = try features.compactMap { feature -> FeatureEdit? in
            let (update, _) = try draft.update(of: feature, since: origin(of: feature))
            // Nothing was edited: nobody is to be named for it.
            if update.attributes.isEmpty, case .unchanged = update.geometry { return nil }
            if case .geometry(let geometry) = update.geometry { try checkArea(geometry) }
            return FeatureEdit(
                objectID: update.objectID, globalID: update.base.globalID, attributes: update.attributes,
                geometry: update.geometry)
        }
        guard !edits.isEmpty else { return }
        let results = try await session.apply(LayerEdits(layerID: layer.id, updates: edits))
        let edited = Dictionary(
            zip(edits.compactMap(\.objectID), results.updates), uniquingKeysWith: { first, _ in first })
        let pairs = features.compactMap { feature in
            feature.origin.flatMap { edited[$0.objectID] }.map { (feature, $0) }
        }
        try await handOver(pairs.map(\.0), pairs.map(\.1))
    }

    func delete(_ features: [ArcGISFeature]) async throws {
        let ids = try features.map { FeatureIdentifier.objectID(try origin(of: $0).objectID) }
        _ = try await session.apply(LayerEdits(layerID: layer.id, deletes: .features(ids)))
    }

    func origin(of feature: ArcGISFeature) throws -> FeatureRecord {
        guard let origin = feature.origin else {
            throw GeodatabaseError.itemNotFound(details: "The feature has not been added.")
        }
        return origin
    }

    /// Gives the objects what the file made of them: ids, defaults, who and when.
    private func handOver(_ features: [ArcGISFeature], _ results: [FieldworkREST.EditResult]) async throws {
        let ids = results.compactMap(\.objectID)
        let rows = try await onDevice { try await file.records(FeatureQuery(objectIDs: ids), in: layer.id) }
        let byID = Dictionary(rows.map { ($0.objectID, normalised($0)) }) { first, _ in first }
        for (feature, result) in zip(features, results) {
            guard let row = result.objectID.flatMap({ byID[$0] }) else { continue }
            feature.handedOver(row, layer: layer)
            feature.adopt(row, layer: layer)
        }
    }

    /// What lies wholly outside the area of the replica would never come back to this device.
    private func checkArea(_ geometry: Geometry?) throws {
        guard let area = session.replica?.area, let geometry, let reference = area.spatialReference else { return }
        let place = try GeometryEngine.projected(geometry, into: reference)
        guard GeometryEngine.isGeometry(area, intersecting: place) else {
            throw GeodatabaseError.geometryOutsideReplicaExtent(
                details: "The geometry lies outside the area that was taken offline.")
        }
    }
}
