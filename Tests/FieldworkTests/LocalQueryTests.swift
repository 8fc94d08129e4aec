import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Queries with local edits", .fewAtATime)
struct LocalQueryTests {
    private static func causes(_ table: ServiceFeatureTable, _ parameters: QueryParameters) async throws -> [String] {
        try await table.queryFeatures(using: parameters).features()
            .compactMap { $0.attributeValue(forKey: "primcause") as? String }
    }

    @Test("All pages of the service are read, in a stable order")
    func paging() async throws {
        try await TestService.with(damages: 53) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let all = try await Self.causes(table, QueryParameters())
            #expect(all == (0..<53).map { "Cause \($0)" })
            let parameters = QueryParameters()
            parameters.addOrderByField(OrderBy(fieldName: "numoccup", sortOrder: .descending))
            parameters.resultOffset = 10
            parameters.maxFeatures = 25
            #expect(try await Self.causes(table, parameters) == (18..<43).reversed().map { "Cause \($0)" })
        }
    }

    @Test("Conditions, geometry, counts and order see added, changed, moved and deleted features")
    func merging() async throws {
        try await TestService.with(damages: 30) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let features = Array(try await table.queryFeatures(using: QueryParameters()).features())
            features[0].setAttributeValue("Destroyed", forKey: "typdamage")
            features[1].geometry = Point(x: 0, y: 0, spatialReference: .webMercator)
            try await table.update([features[0], features[1]])
            try await table.delete(features[2])
            let new = table.makeFeature(
                attributes: ["typdamage": "Destroyed", "primcause": "New", "numoccup": Int16(15)],
                geometry: Point(x: 10, y: 0, spatialReference: .webMercator))
            try await table.add(new)

            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 30)
            let destroyed = QueryParameters()
            destroyed.whereClause = "typdamage = 'Destroyed'"
            #expect(try await Self.causes(table, destroyed) == ["Cause 0", "New"])
            #expect(try await table.queryFeatureCount(using: destroyed) == 2)
            let minor = QueryParameters()
            minor.whereClause = "typdamage = 'Minor'"
            #expect(try await table.queryFeatureCount(using: minor) == 13)
            let near = QueryParameters()
            near.geometry = Envelope(xMin: -50, yMin: -50, xMax: 50, yMax: 50, spatialReference: .webMercator)
            #expect(try await Self.causes(table, near) == ["Cause 1", "New"])
            let there = QueryParameters()
            there.geometry = GeometryEngine.project(
                Envelope(
                    xMin: DamageService.place.x - 10, yMin: DamageService.place.y - 10,
                    xMax: DamageService.place.x + 250,
                    yMax: DamageService.place.y + 10, spatialReference: .webMercator), into: .wgs84)
            #expect(try await Self.causes(table, there) == ["Cause 0"])
            let ordered = QueryParameters()
            ordered.addOrderByField(OrderBy(fieldName: "numoccup", sortOrder: .descending))
            ordered.resultOffset = 13
            ordered.maxFeatures = 4
            #expect(try await Self.causes(table, ordered) == ["Cause 16", "Cause 15", "New", "Cause 14"])
            let extent = try await table.queryExtent(using: near)
            #expect(extent.xMin == 0)
            #expect(extent.xMax == 10)
        }
    }

    @Test("A definition expression narrows every query and can't be broken out of")
    func definitionExpression() async throws {
        try await TestService.with(damages: 4) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            table.definitionExpression = "numoccup < 2"
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 2)
            let parameters = QueryParameters()
            parameters.whereClause = "1=2) OR (1=1"
            await #expect(throws: CommonError.self) { try await table.queryFeatureCount(using: parameters) }
        }
    }

    @Test("A feature without all its attributes loads the rest, and keeps what was set meanwhile")
    func loadingAFeature() async throws {
        try await TestService.with(damages: 1) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let found = try await table.queryFeatures(using: QueryParameters(), queryFeatureFields: .idsOnly)
            let feature = try #require(found.features().first { _ in true } as? ArcGISFeature)
            #expect(feature.loadStatus == .notLoaded)
            #expect(feature.attributeValue(forKey: "primcause") == nil)
            feature.setAttributeValue("Major", forKey: "typdamage")
            try await table.update(feature)
            #expect(feature.loadStatus == .loaded)
            #expect(feature.attributeValue(forKey: "primcause") as? String == "Cause 0")
            _ = try await geodatabase.applyEdits()
            let row = try #require(try await service.rows().first)
            #expect(row.attributes["typdamage"] == .text("Major"))
            #expect(row.attributes["primcause"] == .text("Cause 0"))
        }
    }

    @Test("In manual cache mode queries need no service, and see edits")
    func manualCache() async throws {
        try await TestService.with(damages: 25) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            table.featureRequestMode = .manualCache
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 0)
            let brought = try await table.populateFromService(using: nil, clearCache: true, outFields: ["*"])
            #expect(Array(brought.features()).count == 25)
            service.interceptor.isOffline = true
            let parameters = QueryParameters()
            parameters.whereClause = "typdamage = 'Major'"
            #expect(try await table.queryFeatureCount(using: parameters) == 12)
            let feature = try #require(try await table.queryFeatures(using: parameters).features().first { _ in true })
            try await table.delete(feature)
            #expect(try await table.queryFeatureCount(using: parameters) == 11)
            try await geodatabase.undoLocalEdits()
            #expect(try await table.queryFeatureCount(using: parameters) == 12)
        }
    }
    @Test("A cache answers in the order and the pages of a query as the service does, edited and new features with it")
    func cachedPages() async throws {
        try await TestService.with(damages: 30) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            table.featureRequestMode = .manualCache
            _ = try await table.populateFromService(using: nil, clearCache: true, outFields: ["*"])
            service.interceptor.isOffline = true
            let new = ["First", "Second"].map { name in
                table.makeFeature(
                    attributes: ["primcause": name, "numoccup": Int16(15)],
                    geometry: Point(x: 10, y: 0, spatialReference: .webMercator))
            }
            for feature in new { try await table.add(feature) }
            let parameters = QueryParameters()
            parameters.addOrderByField(OrderBy(fieldName: "NUMOCCUP", sortOrder: .descending))
            parameters.resultOffset = 13
            parameters.maxFeatures = 5
            let page = try await table.queryFeatures(using: parameters)
            // Equal ones by their ids: those without one of the service come last, as they were added.
            let expected = ["Cause 16", "Cause 15", "First", "Second", "Cause 14"]
            #expect(page.features().map { $0.attributeValue(forKey: "primcause") as? String } == expected)
            #expect(page.isTransferLimitExceeded)
            #expect(try await table.queryFeatureCount(using: parameters) == 32, "a count is of all pages")
            let all = try await Self.causes(table, QueryParameters())
            #expect(all == (0..<30).map { "Cause \($0)" } + ["First", "Second"])
            let named = QueryParameters()
            named.addObjectIDs(new.compactMap { ($0 as? ArcGISFeature)?.objectID })
            let extent = try await table.queryExtent(using: named)
            #expect(extent.xMin == 10 && extent.yMax == 0 && extent.spatialReference == .webMercator)
            named.outSpatialReference = .wgs84
            let degrees = try await table.queryExtent(using: named)
            #expect(degrees.xMax < 0.001 && degrees.xMax > 0 && degrees.spatialReference == .wgs84)

            service.interceptor.isOffline = false
            _ = try await table.applyEdits()
            #expect(try await Self.causes(table, named) == ["First", "Second"], "found by the ids that they had")
        }
    }
}
