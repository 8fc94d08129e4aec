import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// The rows of a service's layer as an app sees them: what the service has, and over it the edits on this device.
struct ServiceTableSource: TableSource {
    let layer: LayerDefinition
    let session: ServiceSession

    // MARK: Queries

    func records(_ query: LayerQuery, mode: FeatureRequestMode) async throws -> FeaturePage {
        if mode == .manualCache { return try await cachedRecords(query) }
        let pending = session.local.edits(in: [layer.id])
        if pending.isEmpty { return try await session.remote.features(query, in: layer) }
        let edited = Set(pending.map(\.key.objectID))
        // An add that was ever sent may be among the rows of the service too: it is one feature, and seen as it is here.
        let uncertain = Set(pending.filter { $0.key.objectID < 0 }.compactMap(\.globalID))
        var wider = query
        wider.offset = 0
        // Rows that are edited here may be among those of the service, and are then replaced.
        wider.limit = query.limit.map { $0 + query.offset + edited.count }
        if let names = query.outFields {
            let own = [layer.objectIDField] + (uncertain.isEmpty ? [] : [layer.globalIDField].compactMap(\.self))
            wider.outFields = Array(Set(names + query.order.map(\.field) + own)).sorted()
        }
        var rows: [FeatureRecord] = []
        var isCut = false
        let asked = query.objectIDs.filter { $0 >= 0 && !edited.contains($0) }
        if query.objectIDs.isEmpty || !asked.isEmpty {
            wider.objectIDs = query.objectIDs.isEmpty ? [] : asked
            let answer = try await session.remote.features(wider, in: layer)
            isCut = answer.exceededTransferLimit
            rows = answer.records.filter { row in
                !edited.contains(row.objectID) && !(row.globalID.map(uncertain.contains) ?? false)
            }
        }
        rows += try await localRows(query, pending)
        return try page(of: rows, query, isCut: isCut)
    }

    func count(_ query: LayerQuery, mode: FeatureRequestMode) async throws -> Int {
        if mode == .manualCache { return try await cachedCount(query) }
        let pending = session.local.edits(in: [layer.id])
        var replaced = 0
        let edited = pending.map(\.key.objectID).filter { $0 >= 0 }
        let asked = query.objectIDs.isEmpty ? edited : edited.filter(query.objectIDs.contains)
        if !asked.isEmpty {
            var same = query
            same.objectIDs = asked
            replaced = try await session.remote.count(same, in: layer)
        }
        let isOnlyLocal = !query.objectIDs.isEmpty && query.objectIDs.allSatisfy { $0 < 0 }
        if !isOnlyLocal { replaced += try await arrivedCount(query, pending) }
        let there = isOnlyLocal ? 0 : try await session.remote.count(query, in: layer)
        return there - replaced + (pending.isEmpty ? 0 : try await localRows(query, pending).count)
    }

    /// How many new features the service counts though nobody knows here that they arrived.
    private func arrivedCount(_ query: LayerQuery, _ pending: [LocalEdit]) async throws -> Int {
        guard session.keepsGlobalIDs(layer), let field = layer.globalIDField else { return 0 }
        let known = Set(pending.filter { $0.key.objectID >= 0 }.compactMap(\.globalID))
        let ids = pending.filter { $0.key.objectID < 0 && ($0.attempt != nil || $0.firstSent != nil) }
            .compactMap(\.globalID).filter { !known.contains($0) }
        var count = 0
        for start in stride(from: 0, to: ids.count, by: Limits.idsPerCondition) {
            let part = ids[start..<min(start + Limits.idsPerCondition, ids.count)]
            var same = query
            let texts = part.map { SQLExpression.literal(.string(GUID.normalForm($0))) }
            same.condition = try LocalCondition.both(
                query.condition, SQLExpression.inList(.field(field), texts, negated: false).text)
            count += try await session.remote.count(same, in: layer)
        }
        return count
    }

    /// The service computes them, as long as it has all there is: with edits that are only on this device they are made of the features.
    func statistics(
        _ query: LayerQuery, _ statistics: ArcadeStatistics, mode: FeatureRequestMode
    ) async throws -> [[AttributeValue]]? {
        guard mode != .manualCache, session.local.edits(in: [layer.id]).isEmpty else { return nil }
        return try await session.remote.statistics(statistics.query(over: FeatureQuery()), of: query, in: layer)
    }

    func extent(_ query: LayerQuery, mode: FeatureRequestMode) async throws -> Envelope? {
        if mode == .manualCache { return try await cachedExtent(query) }
        let pending = session.local.edits(in: [layer.id])
        if pending.isEmpty { return try await session.remote.extent(query, in: layer) }
        let edited = pending.map(\.key.objectID).filter { $0 >= 0 }
        guard edited.count <= Limits.idsPerCondition else { return try await gatheredExtent(query) }
        // The service tells of what is not edited here, the rest is here.
        var geometries = query
        geometries.returnsGeometry = true
        let here = try await localRows(query, pending).map { try shown($0, geometries) }
        var extents: [Geometry] = here.compactMap(\.geometry).filter { !$0.isEmpty }
        if let others = try others(of: query, without: edited),
            let there = try await session.remote.extent(others, in: layer)
        {
            extents.append(there)
        }
        return GeometryEngine.combineExtents(of: extents)
    }

    /// The query for the rows of the service that are not edited here; nil when it names edited ones alone.
    private func others(of query: LayerQuery, without edited: [Int64]) throws -> LayerQuery? {
        var others = query
        if !query.objectIDs.isEmpty {
            others.objectIDs = query.objectIDs.filter { $0 >= 0 && !edited.contains($0) }
            return others.objectIDs.isEmpty ? nil : others
        }
        if edited.isEmpty { return others }
        let ids = edited.map { SQLExpression.literal(.integer($0)) }
        others.condition = try LocalCondition.both(
            query.condition, SQLExpression.inList(.field(layer.objectIDField), ids, negated: true).text)
        return others
    }

    /// The extent of so many edits that no condition names them: of all rows, one by one.
    private func gatheredExtent(_ query: LayerQuery) async throws -> Envelope? {
        var geometries = query
        geometries.outFields = [layer.objectIDField]
        geometries.returnsGeometry = true
        let page = try await records(geometries, mode: .onInteractionNoCache)
        guard !page.exceededTransferLimit else {
            throw CommonError.invalidArgument(
                details: "More than \(Limits.queriedFeatures) features are meant: the extent of a part would be wrong.")
        }
        return GeometryEngine.combineExtents(of: page.records.compactMap(\.geometry))
    }

    var knownCount: Int { session.local.countNow(in: layer.id) }

    /// The edited rows that a query means. A query that names ids may name features by temporary ids.
    private func localRows(_ query: LayerQuery, _ pending: [LocalEdit]) async throws -> [FeatureRecord] {
        // A new feature that arrived without an answer may be edited under the service's id as well: it is seen once.
        let known = Set(pending.filter { $0.key.objectID >= 0 }.compactMap(\.globalID))
        var ids = pending.filter { edit in
            let isTwice = edit.key.objectID < 0 && edit.globalID.map(known.contains) ?? false
            return edit.operation != .delete && !isTwice
        }.map(\.key.objectID)
        if !query.objectIDs.isEmpty {
            let asked = Set(
                query.objectIDs.map { session.local.resolved(.init(layerID: layer.id, objectID: $0)).objectID })
            ids = ids.filter(asked.contains)
        }
        return ids.isEmpty ? [] : try await session.local.records(try query.local(layer, objectIDs: ids), in: layer.id)
    }

    private func page(of rows: [FeatureRecord], _ query: LayerQuery, isCut: Bool) throws -> FeaturePage {
        let rest = query.sorted(rows).dropFirst(query.offset)
        let records = try rest.prefix(query.limit ?? Limits.queriedFeatures).map { try shown($0, query) }
        return FeaturePage(records: records, exceededTransferLimit: isCut || records.count < rest.count)
    }

    /// A row of this device as the query wants it.
    func shown(_ record: FeatureRecord, _ query: LayerQuery) throws -> FeatureRecord {
        var record = record
        if let names = query.outFields { record.attributes = record.attributes.filter { names.contains($0.key) } }
        if !query.returnsGeometry { record.geometry = nil }
        if let reference = query.outSpatialReference, let geometry = record.geometry {
            record.geometry = try GeometryEngine.projected(geometry, into: reference)
        }
        return record
    }

    // MARK: What only the service knows

    func fieldGroups() async throws -> [FieldGroupDefinition] {
        if !layer.fieldGroups.isEmpty { return layer.fieldGroups }
        guard layer.unknownMembers["hasContingentValuesDefinition"]?.boolValue == true else { return [] }
        return try await session.remote.fieldGroups(of: layer)
    }

    /// The ids of the features that a relationship leads to.
    func relatedIDs(of objectID: Int64, over relationshipID: Int) async throws -> [Int64] {
        let key = session.local.resolved(.init(layerID: layer.id, objectID: objectID))
        if key.objectID < 0 { return [] }
        guard let end = layer.relationships.first(where: { $0.id == relationshipID }),
            let related = session.service.layer(id: end.relatedTableID)
        else { return [] }
        return try await session.remote.relatedIDs(of: key.objectID, in: layer, over: end, to: related)
    }

    // MARK: Edits

    func add(_ features: [ArcGISFeature], mode: FeatureRequestMode) async throws {
        let records = try features.map { feature in
            guard feature.objectID == nil else {
                throw GeodatabaseError.itemAlreadyExists(details: "The feature has been added already.")
            }
            return try FeatureDraft(layer: layer).newRecord(feature)
        }
        let added = try await session.local.add(records, to: layer, isCached: mode == .manualCache)
        for (feature, record) in zip(features, added) {
            feature.handedOver(record, layer: layer)
            session.registry.note(feature, as: .init(layerID: layer.id, objectID: record.objectID))
        }
    }

    func update(_ features: [ArcGISFeature]) async throws {
        var updates: [LocalStore.Update] = []
        var records: [FeatureRecord] = []
        for feature in features {
            try await feature.load()
            guard let origin = feature.origin else {
                throw GeodatabaseError.itemNotFound(details: "The feature has not been added.")
            }
            let (update, record) = try FeatureDraft(layer: layer).update(of: feature, since: origin)
            records.append(record)
            if !update.attributes.isEmpty || record.geometry != origin.geometry { updates.append(update) }
        }
        if !updates.isEmpty { try await session.local.update(updates, in: layer) }
        for (feature, record) in zip(features, records) {
            feature.handedOver(record, layer: layer)
            let key = session.local.resolved(.init(layerID: layer.id, objectID: record.objectID))
            if session.local.edit(key) != nil { session.registry.note(feature, as: key) }
        }
    }

    func delete(_ features: [ArcGISFeature]) async throws {
        let records = try features.map { feature in
            guard let origin = feature.origin else {
                throw GeodatabaseError.itemNotFound(details: "The feature has not been added.")
            }
            return origin
        }
        try await session.local.delete(records, in: layer)
    }
}
