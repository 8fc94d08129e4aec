import FieldworkGeometry
import FieldworkREST
import Foundation

/// Brings a layer's features to this device page by page. Pages are cut by ranges of the object id, so that they neither overlap
/// nor miss what others change meanwhile; some are on their way at the same time, and each is kept as it arrives. What is in
/// memory does not grow with the layer.
struct ServicePopulation: Sendable {
    let session: ServiceSession
    let layer: LayerDefinition
    let query: LayerQuery

    /// What a part of the layer brought.
    private struct Part: Sendable {
        var ids = KeyRuns()
        var count = 0
        /// The features to show, where they are among the first.
        var shown: [FeatureRecord] = []
        var isCut = false

        mutating func add(_ records: [FeatureRecord], isShown: Bool) {
            ids.formUnion(KeyRuns(records.map(\.objectID)))
            count += records.count
            if isShown { shown += records }
        }

        mutating func add(_ page: FeatureRows, isShown: Bool) {
            ids.formUnion(KeyRuns(page.ids))
            count += page.rows.count
            if isShown { shown += page.rows.map(FeatureRecord.init) }
        }

        mutating func add(_ other: Part) {
            ids.formUnion(other.ids)
            count += other.count
            shown += other.shown
        }
    }

    /// - Returns: the first features, at most `Limits.populatedFeatures`; all others are in the local store alone.
    func run(clearsCache: Bool) async throws -> FeaturePage {
        let abilities = QueryAbilities(layer)
        let isRanged = query.within(layer, 0...0) != nil && abilities.orders
        let all = isRanged && abilities.paginates ? try await byKeys() : try await byIDs()
        // What was there before goes only when all that is there now has come.
        if clearsCache { try await session.local.forgetCached(of: layer, except: all.ids) }
        let shown = all.shown.sorted { $0.objectID < $1.objectID }.prefix(Limits.populatedFeatures)
        return FeaturePage(records: Array(shown), exceededTransferLimit: all.count > shown.count)
    }

    // MARK: Ranges

    private func byKeys() async throws -> Part {
        var all = Part()
        let first = try await keep(Int64.min...Int64.max, isShown: true, pages: 1)
        all.add(first)
        guard first.isCut, let last = first.ids.runs.last?.upperBound, let most = try await lastID(), most > last else {
            return all
        }
        let rest = try await session.remote.count(query, in: layer) - first.count
        let size = max(1, min(layer.maxRecordCount, Limits.featuresPerPage))
        let ranges = Self.ranges(from: last + 1, to: most, pages: max(1, (rest + size - 1) / size))
        try await withThrowingTaskGroup(of: Part.self) { group in
            var waiting = ranges.enumerated().makeIterator()
            func start() {
                guard let (index, range) = waiting.next() else { return }
                let isShown = first.count + index * size < Limits.populatedFeatures
                group.addTask { try await keep(range, isShown: isShown) }
            }
            for _ in 0..<Limits.parallelRequests { start() }
            while let part = try await group.next() {
                all.add(part)
                start()
            }
        }
        return all
    }

    /// Equal parts of a range of ids. Where ids lie closer than elsewhere a part takes more than one page.
    private static func ranges(from least: Int64, to most: Int64, pages: Int) -> [ClosedRange<Int64>] {
        let (span, overflows) = most.subtractingReportingOverflow(least)
        if overflows { return [least...most] }
        let width = max(1, span / Int64(min(pages, Limits.populationPages)) + 1)
        var ranges: [ClosedRange<Int64>] = []
        var start = least
        while true {
            let end = most - start < width ? most : start + width - 1
            ranges.append(start...end)
            if end == most { return ranges }
            start = end + 1
        }
    }

    private func lastID() async throws -> Int64? {
        var last = query
        last.order = [(layer.objectIDField, isDescending: true)]
        last.limit = 1
        last.outFields = [layer.objectIDField]
        last.returnsGeometry = false
        return try await session.remote.features(last, in: layer).records.first?.objectID
    }

    /// Keeps the features of a range, page by page.
    private func keep(_ range: ClosedRange<Int64>, isShown: Bool, pages: Int = .max) async throws -> Part {
        var part = Part()
        var next = range.lowerBound
        var fetched = 0
        repeat {
            let isWhole = next == .min && range.upperBound == .max
            guard let own = isWhole ? query : query.within(layer, next...range.upperBound) else { break }
            let count = min(layer.maxRecordCount, Limits.featuresPerPage)
            let page = try await session.remote.rows(
                own.pageParameters(layer, offset: 0, count: count), in: layer)
            try await session.local.cache(page.rows, of: layer)
            part.add(page, isShown: isShown)
            fetched += 1
            part.isCut = page.exceededTransferLimit
            guard let last = page.ids.max(), last < range.upperBound else { break }
            next = last + 1
        } while part.isCut && fetched < pages
        return part
    }

    // MARK: Ids

    /// For services without order or pages: their ids come in one list.
    private func byIDs() async throws -> Part {
        let ids = try await session.remote.objectIDs(query, in: layer)
        let size = max(1, min(layer.maxRecordCount, Limits.featuresPerPage))
        let pages = stride(from: 0, to: ids.count, by: size).map { ids[$0..<min($0 + size, ids.count)] }
        let parts = try await concurrently(pages, atOnce: Limits.parallelRequests) { ids -> Part in
            var part = Part()
            let records = try await session.remote.records(ids, of: query, size: size, in: layer)
            try await session.local.cache(records, of: layer, clears: false)
            part.add(records, isShown: ids.startIndex < Limits.populatedFeatures)
            return part
        }
        return parts.reduce(into: Part()) { $0.add($1) }
    }
}
