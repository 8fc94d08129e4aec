import FieldworkGeometry
import FieldworkREST

/// Answers that are longer than one page. The others come some at a time and are put in order: by ranges of the object id, which
/// neither overlap nor miss what others change meanwhile, or where an order of its own is asked for by offsets.
extension FeatureServiceClient {
    /// The features of a query, from as many pages as it takes, in its order and at most `Limits.queriedFeatures`.
    func features(_ query: LayerQuery, in layer: LayerDefinition) async throws -> FeaturePage {
        let abilities = QueryAbilities(layer)
        let wanted = min(query.limit ?? Limits.queriedFeatures, Limits.queriedFeatures)
        if wanted <= 0 { return FeaturePage(records: [], exceededTransferLimit: true) }
        if !abilities.paginates || !abilities.orders {
            return try await wholeFeatures(query, wanted, in: layer, abilities)
        }
        // Without a limit of ours the service's own holds.
        let count = query.limit == nil && wanted > layer.maxRecordCount ? nil : wanted
        let first = try await page(query.pageParameters(layer, offset: query.offset, count: count), in: layer, query)
        let size = first.records.count
        guard first.exceededTransferLimit, size > 0, size < wanted else {
            return FeaturePage(
                records: Array(first.records.prefix(wanted)),
                exceededTransferLimit: size > wanted || size == wanted && first.exceededTransferLimit)
        }
        guard query.order.isEmpty, let last = first.records.last?.objectID,
            let rest = query.within(layer, above: last)
        else { return try await features(query, behind: first, wanted, in: layer) }
        let ids = try await objectIDs(rest, in: layer)
        let others = try await records(ids.prefix(wanted - size), of: rest, size: size, in: layer)
        return FeaturePage(
            records: first.records + others, exceededTransferLimit: ids.count > wanted - size)
    }

    // MARK: By the object id

    /// The features of some ids. Ids that are gone when their page is asked for are left out.
    func records(
        _ ids: ArraySlice<Int64>, of query: LayerQuery, size: Int, in layer: LayerDefinition
    ) async throws -> [FeatureRecord] {
        let pages = stride(from: ids.startIndex, to: ids.endIndex, by: max(1, size)).map {
            ids[$0..<min($0 + max(1, size), ids.endIndex)]
        }
        let orders = QueryAbilities(layer).orders
        return try await concurrently(pages, atOnce: Limits.parallelRequests) { ids -> [FeatureRecord] in
            guard var least = ids.first, let most = ids.last else { return [] }
            // Conditions that only the service can read, and queries of single features, name the ids. So do those of services
            // without order, of whose answers nobody knows where they were cut.
            guard query.objectIDs.isEmpty, orders, query.within(layer, least...most) != nil else {
                var named = query
                named.objectIDs = Array(ids)
                return try await single(named, in: layer)
            }
            var found: [FeatureRecord] = []
            while let range = query.within(layer, least...most) {
                let page = try await page(range.pageParameters(layer, offset: 0, count: nil), in: layer, range)
                found += page.records
                // A service may give fewer at a time than before.
                guard page.exceededTransferLimit, let last = page.records.map(\.objectID).max(), last < most else {
                    break
                }
                least = last + 1
            }
            return found
        }.flatMap(\.self)
    }

    /// The features of named ids, as few at a time as the service gives.
    private func single(_ query: LayerQuery, in layer: LayerDefinition) async throws -> [FeatureRecord] {
        var rest = query
        var found: [FeatureRecord] = []
        while !rest.objectIDs.isEmpty {
            let page = try await page(rest.pageParameters(layer, offset: 0, count: nil), in: layer, rest)
            found += page.records
            let known = Set(page.records.map(\.objectID))
            rest.objectIDs.removeAll(where: known.contains)
            if !page.exceededTransferLimit || known.isEmpty { break }
        }
        return found
    }

    // MARK: By offsets

    private func features(
        _ query: LayerQuery, behind first: FeaturePage, _ wanted: Int, in layer: LayerDefinition
    ) async throws -> FeaturePage {
        let size = first.records.count
        let there = try await count(query, in: layer) - query.offset
        let last = min(wanted, max(there, size), size * Limits.queryPages)
        let spans = stride(from: size, to: last, by: size).map { $0..<min($0 + size, last) }
        let rest = try await concurrently(spans, atOnce: Limits.parallelRequests) { span -> [FeatureRecord] in
            var records: [FeatureRecord] = []
            while records.count < span.count {
                let left = span.count - records.count
                let offset = query.offset + span.lowerBound + records.count
                let page = try await page(query.pageParameters(layer, offset: offset, count: left), in: layer, query)
                records += page.records.prefix(left)
                if page.records.isEmpty || !page.exceededTransferLimit { break }
            }
            return records
        }
        // What moved between two pages while they were read is there once.
        var known: Set<Int64> = []
        let records = (first.records + rest.flatMap(\.self)).filter { known.insert($0.objectID).inserted }
        return FeaturePage(records: records, exceededTransferLimit: there > last || records.count < last)
    }

    // MARK: Without pages

    /// The features of a service that knows no pages, or no order: all of them, put in order here.
    private func wholeFeatures(
        _ query: LayerQuery, _ wanted: Int, in layer: LayerDefinition, _ abilities: QueryAbilities
    ) async throws -> FeaturePage {
        var all = query
        all.offset = 0
        all.limit = nil
        if !abilities.orders { all.order = [] }
        if let names = query.outFields {
            all.outFields = Array(Set(names + query.order.map(\.field) + [layer.objectIDField])).sorted()
        }
        let first = try await page(all.pageParameters(layer, offset: 0, count: nil), in: layer, all)
        var records = first.records
        var isCut = false
        let mayBeCut = first.exceededTransferLimit || !abilities.tellsWhatIsCut && !records.isEmpty
        if mayBeCut {
            let known = Set(records.map(\.objectID))
            let ids = try await objectIDs(all, in: layer)
            let missing = ids.filter { !known.contains($0) }.prefix(Limits.queriedFeatures)
            isCut = ids.count > Limits.queriedFeatures
            all.order = []
            if !missing.isEmpty {
                records += try await self.records(missing, of: all, size: max(1, first.records.count), in: layer)
                    .filter { !known.contains($0.objectID) }
            }
        }
        let rest = (abilities.orders && !mayBeCut ? records : query.sorted(records)).dropFirst(query.offset)
        return FeaturePage(records: Array(rest.prefix(wanted)), exceededTransferLimit: isCut || rest.count > wanted)
    }

    // MARK: One page

    private func page(
        _ parameters: [(name: String, value: String)], in layer: LayerDefinition, _ query: LayerQuery
    ) async throws -> FeaturePage {
        try await page(parameters, in: layer, isExact: query.isExact)
    }
}

extension LayerQuery {
    /// The rows of the query whose object id is above one; nil when the condition can't be read here.
    fileprivate func within(_ layer: LayerDefinition, above id: Int64) -> LayerQuery? {
        within(layer, (id == .max ? id : id + 1)...Int64.max)
    }

    /// The rows of the query whose object id is in a range, in its order; nil when the condition can't be read here.
    func within(_ layer: LayerDefinition, _ ids: ClosedRange<Int64>) -> LayerQuery? {
        let key = SQLExpression.field(layer.objectIDField)
        let range: SQLExpression =
            ids.upperBound == .max
            ? .binary(.greaterOrEqual, key, .literal(.integer(ids.lowerBound)))
            : .between(
                key, lower: .literal(.integer(ids.lowerBound)), upper: .literal(.integer(ids.upperBound)),
                negated: false)
        guard let condition = try? LocalCondition.both(condition, range.text) else { return nil }
        var query = self
        query.condition = condition
        query.order = []
        query.offset = 0
        query.limit = nil
        return query
    }
}
