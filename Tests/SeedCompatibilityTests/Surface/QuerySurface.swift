import ArcGIS
import Foundation
import TestSupport
import Testing

/// What clients use of queries, services and edit results, in the types that they expect.
@Suite("The names of queries and services", .fewAtATime, .serialized)
struct QuerySurface {
    init() { SeedServer.keepEditsAside() }

    @Test("Each kind of query is asked for by its own names and sees local edits")
    func queries() async throws {
        try await SeedServer.with { url, _ in
            let table = ServiceFeatureTable(url: url)
            try await table.load()
            for x in 1...3 {
                try await table.add(
                    table.makeFeature(
                        attributes: ["typdamage": x == 1 ? "Minor" : "Major"],
                        geometry: Point(x: Double(x), y: 2, spatialReference: .webMercator)))
            }
            let parameters = QueryParameters()
            parameters.whereClause = "typdamage = 'Major'"
            parameters.geometry = Envelope(xMin: 0, yMin: 0, xMax: 9, yMax: 9, spatialReference: .webMercator)
            parameters.spatialRelationship = .intersects
            parameters.addOrderByField(OrderBy(fieldName: "OBJECTID", sortOrder: .descending))
            parameters.maxFeatures = 1
            parameters.returnsGeometry = true
            let time: TimeExtent? = parameters.timeExtent
            #expect(time == nil && TimeExtent(startDate: .distantPast, endDate: nil).endDate == nil)
            let result: FeatureQueryResult = try await table.queryFeatures(using: parameters)
            let found: Feature? = result.features().first { _ in true }
            let type: Geometry.Type? = result.geometryType
            #expect(found != nil && type == Point.self && Array(result.features()).compactMap(\.geometry).count == 1)
            let complete = try await table.queryFeatures(using: parameters, queryFeatureFields: .loadAll)
            #expect(Array(complete.features()).count == 1)
            parameters.maxFeatures = 0
            let count: Int = try await table.queryFeatureCount(using: parameters)
            let extent: Envelope = try await table.queryExtent(using: parameters)
            #expect(count == 2 && extent.width == 1)
            let relations: [SpatialRelationship] = [
                .contains, .crosses, .disjoint, .envelopeIntersects, .equals, .indexIntersects, .intersects, .overlaps,
                .relate, .touches, .unknown, .within,
            ]
            #expect(relations.count == 12)
            try await table.undoLocalEdits()
        }
    }

    @Test("Statistics are records of groups and numbers")
    func statistics() async throws {
        try await SeedServer.with { url, _ in
            let table = ServiceFeatureTable(url: url)
            try await table.load()
            for kind in ["Minor", "Major", "Major"] {
                try await table.add(
                    table.makeFeature(
                        attributes: ["typdamage": kind],
                        geometry: Point(x: 1, y: 2, spatialReference: .webMercator)))
            }
            let all: [StatisticDefinition.StatisticType] = [
                .average, .count, .maximum, .minimum, .standardDeviation, .sum, .variance,
            ]
            #expect(all.count == 7)
            let definition = StatisticDefinition(fieldName: "typdamage", statisticType: .count, outputAlias: "n")
            #expect(definition.fieldName == "typdamage" && definition.statisticType == .count)
            let parameters = StatisticsQueryParameters(statisticDefinitions: [definition])
            parameters.whereClause = "1 = 1"
            parameters.geometry = nil
            parameters.addGroupByFieldNames(["typdamage"])
            parameters.addOrderByFields([OrderBy(fieldName: "typdamage", sortOrder: .ascending)])
            let result: StatisticsQueryResult = try await table.queryStatistics(using: parameters)
            let records: [StatisticRecord] = Array(result.statisticRecords())
            let groups: [[String: any Sendable]] = records.map(\.group)
            let numbers: [[String: any Sendable]] = records.map(\.statistics)
            #expect(groups.compactMap { $0["typdamage"] as? String } == ["Major", "Minor"])
            #expect(numbers.compactMap { $0["n"] as? Int } == [2, 1])
            try await table.undoLocalEdits()
        }
    }

    @Test("A service geodatabase opens from a layer's address and sends the edits of all tables")
    func services() async throws {
        try await SeedServer.with { url, rows in
            let geodatabase = ServiceGeodatabase(url: url)
            #expect(geodatabase.table(withLayerID: 0) == nil && geodatabase.serviceInfo == nil)
            try await geodatabase.load()
            let info: ArcGISFeatureServiceInfo = try #require(geodatabase.serviceInfo)
            let ids: [FeatureServiceLayerIDInfo] = info.layerInfos
            let id: Int? = ids.first?.id
            #expect(info.url?.lastPathComponent == "FeatureServer" && id == 0)
            #expect(info.spatialReference == .webMercator && info.canUseServiceGeodatabaseApplyEdits)
            let (extent, curves): (Envelope?, Bool) = (info.fullExtent, info.supportsTrueCurve)
            _ = (extent, curves, info.allowsTrueCurvesUpdates, info.onlyAllowsTrueCurveUpdatesByTrueCurveClients)
            let modes: [ServiceCurveGeometryMode] = [.densifyCurves, .trueCurveClient]
            #expect(modes.contains(ArcGISEnvironment.serviceCurveGeometryMode))
            let table: ServiceFeatureTable = try #require(geodatabase.table(withLayerID: 0))
            try await table.add(table.makeFeature(geometry: Point(x: 1, y: 2, spatialReference: .webMercator)))
            let hasEdits: Bool = [geodatabase].contains(where: \.hasLocalEdits)
            #expect(hasEdits)
            let results: [FeatureTableEditResult] = try await geodatabase.applyEdits()
            let (edits, edited) = (results.flatMap(\.editResults), results.compactMap(\.featureTable))
            #expect(edits.count == 1 && edited.first === table)
            #expect(try await rows().count == 1)
            try await geodatabase.undoLocalEdits()
            let (version, other): (String, String) = (geodatabase.versionName, geodatabase.defaultVersionName)
            #expect(version.isEmpty && other.isEmpty)
        }
    }

    @Test("A manual cache is filled from the service and answers alone")
    func manualCache() async throws {
        try await SeedServer.with { url, _ in
            let writer = ServiceFeatureTable(url: url)
            try await writer.load()
            try await writer.add(writer.makeFeature(geometry: Point(x: 1, y: 2, spatialReference: .webMercator)))
            _ = try await writer.applyEdits()
            let table = ServiceFeatureTable(url: url)
            table.featureRequestMode = .manualCache
            let result: FeatureQueryResult = try await table.populateFromService(
                using: nil, clearCache: true, outFields: ["*"])
            #expect(Array(result.features()).count == 1 && table.numberOfFeatures == 1)
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 1)
        }
    }
}
