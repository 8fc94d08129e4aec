import FieldworkGeometry
import FieldworkREST
import Foundation

/// Brings a layer's features to this device page by page. Pages are cut by the features' keys, so that they neither overlap
/// nor miss what others change meanwhile; some are on their way at the same time, and each is kept as it arrives. What is
/// in memory does not grow with the layer but for the keys.
struct ServicePopulation: Sendable {
    let session: ServiceSession
    let layer: LayerDefinition
    let query: LayerQuery

    /// - Returns: the first features, at most `Limits.populatedFeatures`; all others are in the local store alone.
    func run(clearsCache: Bool) async throws -> FeaturePage {
        let ids = try await session.remote.objectIDs(query, in: layer)
        let size = max(1, min(layer.maxRecordCount, Limits.featuresPerPage))
        let pages = stride(from: 0, to: ids.count, by: size).map { ids[$0..<min($0 + size, ids.count)] }
        var first: [Int: [FeatureRecord]] = [:]
        try await withThrowingTaskGroup(of: (Int, [FeatureRecord]).self) { group in
            var next = 0
            func start() {
                guard next < pages.count else { return }
                let (index, page) = (next, pages[next])
                next += 1
                group.addTask { (index, try await fetch(page, isShown: index * size < Limits.populatedFeatures)) }
            }
            for _ in 0..<Limits.parallelRequests { start() }
            while let (index, records) = try await group.next() {
                if !records.isEmpty { first[index] = records }
                start()
            }
        }
        // What was there before goes only when all that is there now has come.
        if clearsCache { try await session.local.forgetCached(of: layer, except: Set(ids)) }
        let shown = first.sorted { $0.key < $1.key }.flatMap(\.value).prefix(Limits.populatedFeatures)
        return FeaturePage(records: Array(shown), exceededTransferLimit: ids.count > Limits.populatedFeatures)
    }

    private func fetch(_ ids: ArraySlice<Int64>, isShown: Bool) async throws -> [FeatureRecord] {
        guard let least = ids.first, let most = ids.last else { return [] }
        var page = query
        let key = SQLExpression.field(layer.objectIDField)
        let range = SQLExpression.between(
            key, lower: .literal(.integer(least)), upper: .literal(.integer(most)), negated: false)
        page.condition = try LocalCondition.both(query.condition, range.text)
        let records = try await session.remote.features(page, in: layer).records
        try await session.local.cache(records, of: layer, clears: false)
        return isShown ? records : []
    }
}
