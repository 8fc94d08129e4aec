import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Times of features", .fewAtATime)
struct TimeExtentTests {
    /// Trees that say when they were planted.
    private static var definition: ServiceDefinition {
        var trees = TreeService.trees
        trees.timeInfo = TimeInfoDefinition(startTimeField: "Planted")
        return ServiceDefinition(
            name: TreeService.name, spatialReference: .webMercator,
            layers: [trees, TreeService.inspections, TreeService.species])
    }

    private static let planted = Date(timeIntervalSince1970: Double(TreeService.planted) / 1_000)
    private static let later = planted.addingTimeInterval(40 * 86_400)

    private static func parameters(_ time: TimeExtent) -> QueryParameters {
        let parameters = QueryParameters()
        parameters.timeExtent = time
        return parameters
    }

    @Test("Of two moments the earlier one is the start, whichever comes first")
    func ends() {
        let span = TimeExtent(startDate: Self.later, endDate: Self.planted)
        #expect(span.startDate == Self.planted && span.endDate == Self.later)
        #expect(span == TimeExtent(startDate: Self.planted, endDate: Self.later))
        #expect(TimeExtent(startDate: nil, endDate: Self.planted).startDate == nil)
    }

    @Test("A span that was given from its end to its start finds what the span finds")
    func turnedSpan() async throws {
        try await TestService.with(Self.definition, rows: TreeService.rows(trees: 3)) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let span = TimeExtent(startDate: Self.later, endDate: Self.planted.addingTimeInterval(-1))
            #expect(try await table.queryFeatureCount(using: Self.parameters(span)) == 3)
        }
    }

    @Test("A query finds what was there at its time, on the service, in the cache and among local edits")
    func queries() async throws {
        try await TestService.with(Self.definition, rows: TreeService.rows(trees: 3)) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let before = Self.parameters(TimeExtent(startDate: nil, endDate: Self.planted.addingTimeInterval(1)))
            let after = Self.parameters(TimeExtent(startDate: Self.planted.addingTimeInterval(1), endDate: nil))
            let moment = Self.parameters(TimeExtent(date: Self.planted))
            #expect(try await table.queryFeatureCount(using: before) == 3)
            #expect(try await table.queryFeatureCount(using: after) == 0)
            #expect(try await table.queryFeatureCount(using: moment) == 3)

            let tree = try #require(
                try await table.queryFeatures(using: QueryParameters()).features().first { _ in true })
            tree.setAttributeValue(Self.later, forKey: "Planted")
            try await table.update(tree)
            #expect(try await table.queryFeatureCount(using: before) == 2)
            #expect(try await Array(table.queryFeatures(using: after).features()).count == 1)

            table.featureRequestMode = .manualCache
            _ = try await table.populateFromService(using: nil, clearCache: true, outFields: ["*"])
            #expect(try await table.queryFeatureCount(using: before) == 2)
            #expect(try await table.queryFeatureCount(using: after) == 1)
        }
    }

    @Test("A layer without times refuses a query for one, on the service as on this device")
    func noTimes() async throws {
        try await TestService.withTrees(1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            for mode in [FeatureRequestMode.onInteractionCache, .manualCache] {
                table.featureRequestMode = mode
                await #expect(throws: Fieldwork.ServiceError.self) {
                    try await table.queryFeatures(using: Self.parameters(TimeExtent(date: Self.planted)))
                }
            }
        }
    }

    @Test("A layer's offset moves the time that is looked at, and a layer may not care for it")
    func offsets() async throws {
        try await TestService.with(Self.definition, rows: TreeService.rows(trees: 1)) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let layer = FeatureLayer(featureTable: table)
            try await layer.load()
            #expect(layer.supportsTimeFiltering)
            func found(_ date: Date) async throws -> Int {
                try await layer.identify(at: TreeService.place, tolerance: 1, timeExtent: TimeExtent(date: date))
                    .geoElements.count
            }
            #expect(try await found(Self.planted) == 1)
            #expect(try await found(Self.later) == 0)
            layer.timeOffset = TimeValue(duration: 40, unit: .days)
            #expect(try await found(Self.planted) == 0)
            #expect(try await found(Self.later) == 1)
            layer.isTimeFilteringEnabled = false
            #expect(try await found(Self.planted) == 1)
        }
    }

    @Test(
        "Units of the calendar keep the day where the month has it",
        arguments: [
            (TimeValue(duration: 1, unit: .months), "2024-02-29T00:00:00Z"),
            (TimeValue(duration: 1, unit: .years), "2023-03-31T00:00:00Z"),
            (TimeValue(duration: 2, unit: .weeks), "2024-03-17T00:00:00Z"),
            (TimeValue(duration: 90, unit: .minutes), "2024-03-30T22:30:00Z"),
            (TimeValue(duration: .infinity, unit: .days), "2024-03-31T00:00:00Z"),
            (TimeValue(duration: 1e300, unit: .centuries), "2024-03-31T00:00:00Z"),
        ])
    func units(_ value: TimeValue, _ expected: String) throws {
        let date = try Date("2024-03-31T00:00:00Z", strategy: .iso8601)
        #expect(value.before(date).formatted(.iso8601) == expected)
    }

    @Test("A table counts what is on this device, and sees the edits of an open transaction")
    func counts() async throws {
        try await TestService.withTrees(4) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            #expect(table.numberOfFeatures == 0)
            table.featureRequestMode = .manualCache
            _ = try await table.populateFromService(using: nil, clearCache: true, outFields: ["*"])
            #expect(table.numberOfFeatures == 4)
            try await table.add(table.makeFeature(attributes: ["Kind": "park"], geometry: TreeService.place))
            #expect(table.numberOfFeatures == 5)
            try await table.undoLocalEdits()
            #expect(table.numberOfFeatures == 4)

            let geodatabase = try await Geodatabase.createEmpty(fileURL: service.folder.appending(path: "own.gpkg"))
            let description = TableDescription(
                name: "Places", spatialReference: .webMercator, geometryType: Point.self)
            let places = try await geodatabase.makeTable(description: description)
            try geodatabase.beginTransaction()
            try await places.add(places.makeFeature(geometry: TreeService.place))
            #expect(places.numberOfFeatures == 1)
            try geodatabase.rollbackTransaction()
            #expect(places.numberOfFeatures == 0)
            geodatabase.close()
        }
    }
}
