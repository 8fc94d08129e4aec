import FieldworkGeometry
import FieldworkREST
import FieldworkStore

/// What a table in manual cache mode answers: of the rows on this device alone, edited ones as they are here. Order, paging and
/// counts are the file's, so that no more rows come into memory than are given.
extension ServiceTableSource {
    func cachedRecords(_ query: LayerQuery) async throws -> FeaturePage {
        var asked = try cacheFilter(query)
        asked.order = try cacheOrder(query)
        asked.offset = query.offset
        asked.outFields = query.outFields
        asked.returnsGeometry = query.returnsGeometry
        let limit = min(query.limit ?? Limits.queriedFeatures, Limits.queriedFeatures)
        // One more tells whether there are more.
        asked.limit = limit + 1
        var found = try await session.local.records(asked, in: layer.id)
        let isCut = found.count > limit
        if isCut { found.removeLast() }
        // The file gives the fields and the geometry that are asked for; only the place may have to be told otherwise.
        if query.outSpatialReference != nil { found = try found.map { try shown($0, query) } }
        return FeaturePage(records: found, exceededTransferLimit: isCut)
    }

    /// All rows that a query means, whatever page of them it asks for: as the service counts.
    func cachedCount(_ query: LayerQuery) async throws -> Int {
        try await session.local.count(try cacheFilter(query), in: layer.id)
    }

    func cachedExtent(_ query: LayerQuery) async throws -> Envelope? {
        guard let extent = try await session.local.extent(try cacheFilter(query), in: layer.id) else { return nil }
        guard let reference = query.outSpatialReference else { return extent }
        return try GeometryEngine.projected(extent, into: reference).extent
    }

    /// Features that were added here are found by the ids that they had then as well.
    private func cacheFilter(_ query: LayerQuery) throws -> FeatureQuery {
        let ids = query.objectIDs.map {
            session.local.resolved(.init(layerID: layer.id, objectID: $0)).objectID
        }
        return try query.local(layer, objectIDs: ids.isEmpty ? nil : ids)
    }

    /// The order of the query; the object id decides between equal rows. Features with a temporary id come last, as they were
    /// added.
    private func cacheOrder(_ query: LayerQuery) throws -> [FeatureQuery.OrderTerm] {
        var terms = try query.order.map { key in
            FeatureQuery.OrderTerm(
                expression: try LocalCondition.value(key.field, layer: layer), isDescending: key.isDescending)
        }
        guard session.local.edits(in: [layer.id]).contains(where: { $0.key.objectID < 0 }) else { return terms }
        let id = SQLExpression.field(layer.objectIDField)
        let isTemporary = SQLExpression.caseWhen(
            operand: nil,
            branches: [
                SQLCaseBranch(
                    condition: .binary(.less, id, .literal(.integer(0))), result: .literal(.integer(1)))
            ], otherwise: .literal(.integer(0)))
        terms.append(FeatureQuery.OrderTerm(expression: isTemporary))
        terms.append(FeatureQuery.OrderTerm(expression: .function(.abs, [id])))
        return terms
    }
}
