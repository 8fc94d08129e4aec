import FieldworkREST
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Long answers in pages", .fewAtATime)
struct PagingTests {
    /// Dense, with gaps, far apart, and some more than a page's worth in every case. Old services list rows as they lie.
    private static let ids: [Int64] =
        [40, 3, 900_000_000_000, 7, 41, 42] + (100..<131) + [2, 5_000, 5_002, 1, 77, 76, 75]

    private static func with(
        _ make: PagedService.Make, _ test: (ServiceFeatureTable, LoopbackServer) async throws -> Void
    ) async throws {
        let service = PagedService(make: make, ids: ids)
        try await with({ service.answer($0) }, test)
    }

    private static func with(
        _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Action,
        _ test: (ServiceFeatureTable, LoopbackServer) async throws -> Void
    ) async throws {
        try await LoopbackServer.with(answer) { server in
            let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-pages-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let geodatabase = ServiceGeodatabase(
                url: try server.url("/rest/services/Rows/FeatureServer"),
                environment: ServiceEnvironment(directory: folder, client: HTTPServiceClient(pause: { _ in })))
            try await geodatabase.load()
            try await test(#require(geodatabase.table(withLayerID: 0)), server)
        }
    }

    /// The rows that a query must give, by the plain meaning of its parameters.
    private static func expected(
        order: Bool?, offset: Int = 0, limit: Int = 0, _ isChosen: (Int64) -> Bool = { _ in true }
    ) -> [Int64] {
        let rows = ids.filter(isChosen).sorted { one, other in
            let (first, second) = (PagedService.value(one), PagedService.value(other))
            guard let order, first != second else { return one < other }
            return (first < second) == order
        }
        return Array(rows.dropFirst(offset).prefix(limit == 0 ? .max : limit))
    }

    private static func found(_ table: ServiceFeatureTable, _ parameters: QueryParameters) async throws -> [Int64] {
        try await table.queryFeatures(using: parameters).features().compactMap { ($0 as? ArcGISFeature)?.objectID }
    }

    @Test(
        "Every feature comes once, in the order that was asked for, whatever the service knows of pages",
        arguments: PagedService.Make.allCases)
    func everyFeature(_ make: PagedService.Make) async throws {
        try await Self.with(make) { table, _ in
            for order in [nil, true, false] as [Bool?] {
                for (offset, limit) in [(0, 0), (0, 5), (0, 20), (9, 0), (9, 20), (40, 10), (100, 1)] {
                    let parameters = QueryParameters()
                    if let order {
                        let direction: OrderBy.SortOrder = order ? .ascending : .descending
                        parameters.addOrderByField(OrderBy(fieldName: "Value", sortOrder: direction))
                    }
                    parameters.resultOffset = offset
                    parameters.maxFeatures = limit
                    let ids = try await Self.found(table, parameters)
                    let wanted = Self.expected(order: order, offset: offset, limit: limit)
                    // A service without an order of its own leaves it to us; with pages it is put in order here.
                    #expect(ids == wanted, "\(make), order \(String(describing: order)), \(offset) and \(limit)")
                }
            }
        }
    }

    @Test("What moves on to the next page while the pages are read is there once")
    func movedBetweenPages() async throws {
        let order = Self.expected(order: true)
        let first = try #require(order.first)
        // After the first page somebody adds a feature in front of all: the next page begins with the last one of the page before.
        let before = PagedService(make: .modern, ids: Self.ids.filter { $0 != first })
        let after = PagedService(make: .modern, ids: Self.ids)
        let isAdded = Mutex(false)
        let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Action = { request in
            guard request.path.hasSuffix("/query") else { return before.answer(request) }
            let service = isAdded.withLock { isAdded in
                defer { isAdded = true }
                return isAdded ? after : before
            }
            return service.answer(request)
        }
        try await Self.with(answer) { table, _ in
            let parameters = QueryParameters()
            parameters.addOrderByField(OrderBy(fieldName: "Value", sortOrder: .ascending))
            let ids = try await Self.found(table, parameters)
            #expect(ids == Array(order.dropFirst()))
        }
    }

    @Test("A condition holds on every page", arguments: PagedService.Make.allCases)
    func condition(_ make: PagedService.Make) async throws {
        try await Self.with(make) { table, _ in
            let parameters = QueryParameters()
            parameters.whereClause = "Value <= 5"
            let wanted = Self.expected(order: nil) { PagedService.value($0) <= 5 }
            #expect(wanted.count > 14)
            let ids = try await Self.found(table, parameters)
            #expect(ids == wanted)
        }
    }

    @Test("Features that are named by their ids come in pages as well", arguments: PagedService.Make.allCases)
    func namedFeatures(_ make: PagedService.Make) async throws {
        try await Self.with(make) { table, _ in
            let parameters = QueryParameters()
            let named = Array(Self.ids.prefix(25))
            parameters.addObjectIDs(named)
            let ids = try await Self.found(table, parameters)
            #expect(ids == named.sorted())
        }
    }

    @Test("The cache is filled with every feature, and what has gone goes", arguments: PagedService.Make.allCases)
    func population(_ make: PagedService.Make) async throws {
        try await Self.with(make) { table, server in
            table.featureRequestMode = .manualCache
            let shown = try await table.populateFromService(using: nil, clearCache: true, outFields: ["*"])
            let ids = shown.features().compactMap { ($0 as? ArcGISFeature)?.objectID }
            #expect(ids == Self.ids.sorted())
            #expect(!shown.isTransferLimitExceeded)
            let cached = try await Self.found(table, QueryParameters())
            #expect(cached == Self.ids.sorted())
            let few = QueryParameters()
            few.whereClause = "Value <= 5"
            _ = try await table.populateFromService(using: few, clearCache: true, outFields: ["*"])
            let wanted = Self.expected(order: nil) { PagedService.value($0) <= 5 }
            let left = try await Self.found(table, QueryParameters())
            #expect(left == wanted)
            // Pages and what tells where they begin, not a request a feature.
            #expect(server.requests.count < Self.ids.count)
        }
    }

    @Test("Runs of ids hold what was put in and nothing else")
    func keyRuns() {
        var numbers = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            let sets = (0..<4).map { _ in
                Set(
                    (0..<Int.random(in: 0...60, using: &numbers)).map { _ in Int64.random(in: -40...40, using: &numbers)
                    })
            }
            var runs = KeyRuns()
            for set in sets { runs.formUnion(KeyRuns(set)) }
            let all = sets.reduce(into: Set<Int64>()) { $0.formUnion($1) }
            for id in Int64(-45)...45 { #expect(runs.contains(id) == all.contains(id)) }
            #expect(zip(runs.runs, runs.runs.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound })
        }
        var edges = KeyRuns([.min, .max, .max - 1])
        edges.formUnion(KeyRuns([.min + 1]))
        #expect(edges.runs == [.min ... .min + 1, .max - 1 ... .max])
        #expect(edges.contains(.max) && !edges.contains(0) && edges.contains(.min))
    }
}
