import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Tables of services", .fewAtATime)
struct TableTests {
    @Test("Statistics by group count what is edited here, in every request mode")
    func statistics() async throws {
        try await TestService.withTrees(8) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            func numbers() async throws -> [[Int16: [Double]]] {
                let parameters = StatisticsQueryParameters(statisticDefinitions: [
                    StatisticDefinition(fieldName: "dbh", statisticType: .maximum, outputAlias: "widest"),
                    StatisticDefinition(fieldName: "OBJECTID", statisticType: .count),
                    StatisticDefinition(fieldName: "DBH", statisticType: .average),
                ])
                parameters.addGroupByFieldName("CONDITION")
                parameters.addOrderByField(OrderBy(fieldName: "Condition", sortOrder: .descending))
                parameters.whereClause = "Condition < 3"
                return try await table.queryStatistics(using: parameters).statisticRecords().map { record in
                    let group = try #require(record.group["Condition"] as? Int16)
                    return [
                        group: ["widest", "COUNT_OBJECTID", "AVG_DBH"].compactMap {
                            RendererFields.number(record.statistics[$0])
                        }
                    ]
                }
            }
            #expect(try await numbers() == [[2: [1_239.5, 2, 1_237.5]], [1: [1_238.5, 2, 1_236.5]]])
            try await table.add(
                table.makeFeature(
                    attributes: ["Condition": 1, "DBH": 2_000.0, "Kind": "park"], geometry: TreeService.place))
            let edited: [[Int16: [Double]]] = [
                [2: [1_239.5, 2, 1_237.5]], [1: [2_000, 3, (2_000 + 2 * 1_236.5) / 3]],
            ]
            #expect(try await numbers() == edited)
            _ = try await table.populateFromService(using: nil, clearCache: true, outFields: [])
            table.featureRequestMode = .manualCache
            #expect(try await numbers() == edited)
        }
    }

    @Test("Different values and combinations are told once each, with what is edited here, in every request mode")
    func distinctValues() async throws {
        try await TestService.withTrees(8) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            func conditions(_ parameters: QueryParameters = QueryParameters()) async throws -> [Int16?] {
                try await table.queryDistinctValues(ofFieldsNamed: ["CONDITION"], using: parameters)
                    .map { $0["Condition"] as? Int16 }
            }
            #expect(try await conditions() == [1, 2, 3, 4])
            let all = Array(try await table.queryFeatures(using: QueryParameters()).features())
            for tree in all where tree.attributeValue(forKey: "Condition") as? Int16 == 3 {
                tree.setAttributeValue(nil, forKey: "Condition")
                try await table.update(tree)
            }
            #expect(try await conditions() == [nil, 1, 2, 4])
            _ = try await table.populateFromService(using: nil, clearCache: true, outFields: [])
            table.featureRequestMode = .manualCache
            let some = QueryParameters()
            some.whereClause = "Condition IS NOT NULL"
            some.addOrderByField(OrderBy(fieldName: "Condition", sortOrder: .descending))
            some.resultOffset = 1
            some.maxFeatures = 1
            #expect(try await conditions(some) == [2])
            let pairs = try await table.queryDistinctValues(
                ofFieldsNamed: ["Condition", "OBJECTID"], using: QueryParameters())
            #expect(pairs.count == 8 && pairs.allSatisfy { $0["OBJECTID"] is Int64 })
            for names in [[], ["Nothing"]] {
                await #expect(throws: CommonError.self) {
                    try await table.queryDistinctValues(ofFieldsNamed: names, using: QueryParameters())
                }
            }
        }
    }

    @Test("Without groups there is one record; fields that are not there are refused")
    func statisticsOfAll() async throws {
        try await TestService.withTrees(1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let parameters = StatisticsQueryParameters(statisticDefinitions: [
                StatisticDefinition(fieldName: "Planted", statisticType: .minimum),
                StatisticDefinition(fieldName: "Notes", statisticType: .count),
                StatisticDefinition(fieldName: "DBH", statisticType: .standardDeviation),
            ])
            let record = try #require(
                try await table.queryStatistics(using: parameters).statisticRecords().first { _ in true })
            let planted = Date(timeIntervalSince1970: Double(TreeService.planted) / 1_000)
            #expect(record.group.isEmpty && record.statistics["MIN_Planted"] as? Date == planted)
            #expect(record.statistics["COUNT_Notes"] as? Int == 0 && record.statistics["STDDEV_DBH"] == nil)
            parameters.whereClause = "1=0"
            #expect(try await Array(table.queryStatistics(using: parameters).statisticRecords()).count == 1)
            await #expect(throws: CommonError.self) {
                try await table.queryStatistics(
                    using: StatisticsQueryParameters(statisticDefinitions: [
                        StatisticDefinition(fieldName: "Nothing", statisticType: .sum)
                    ]))
            }
        }
    }

    @Test("The cache is filled page by page with all features; edits here stay, and features that are gone go")
    func populate() async throws {
        try await TestService.with(damages: 95) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            table.featureRequestMode = .manualCache
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 0)
            let all = try await table.populateFromService(using: nil, clearCache: true, outFields: ["numoccup"])
            let numbers = all.features().map { $0.attributeValue(forKey: "numoccup") as? Int16 }
            #expect(numbers == (0..<95).map { Int16($0) })
            #expect(all.features().allSatisfy { $0.attributeValue(forKey: "primcause") == nil })
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 95)
            // Pages are cut by keys: five of twenty features at most, the last id and the count.
            #expect(service.interceptor.sent.count { $0 == "query" } == 7)
            let cached = Array(try await table.queryFeatures(using: QueryParameters()).features())
            cached[3].setAttributeValue("mine", forKey: "primcause")
            try await table.update(cached[3])
            let gone = try #require((cached[50] as? ArcGISFeature)?.objectID)
            _ = try await service.store.apply(
                EditBatch(
                    layers: [LayerEdits(layerID: 0, deletes: .features([.objectID(gone)]))], moment: Date.now),
                to: DamageService.name)
            _ = try await table.populateFromService(using: nil, clearCache: true, outFields: [])
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 94)
            let mine = QueryParameters()
            mine.whereClause = "primcause = 'mine'"
            #expect(try await table.queryFeatureCount(using: mine) == 1)
        }
    }

    @Test("Filling the cache that fails leaves what was there; a condition brings its features alone")
    func populateFails() async throws {
        try await TestService.with(damages: 45) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            table.featureRequestMode = .manualCache
            let few = QueryParameters()
            few.whereClause = "numoccup < 30 OR numoccup > 43"
            _ = try await table.populateFromService(using: few, clearCache: true, outFields: ["*"])
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 31)
            service.interceptor.isOffline = true
            await #expect(throws: Fieldwork.ServiceError.self) {
                try await table.populateFromService(using: nil, clearCache: true, outFields: ["*"])
            }
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 31)
        }
    }

    @Test("The edits of one feature are undone, and those of others stay")
    func undoOne() async throws {
        try await TestService.with(damages: 3) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let features = Array(try await table.queryFeatures(using: QueryParameters()).features())
            for feature in features.prefix(2) {
                feature.setAttributeValue("changed", forKey: "primcause")
                try await table.update(feature)
            }
            try await table.delete(features[2])
            let new = table.makeFeature(attributes: ["primcause": "new"], geometry: DamageService.place)
            try await table.add(new)
            try await table.undoLocalEdits(of: [features[0], features[2], new])
            #expect(features[0].attributeValue(forKey: "primcause") as? String == "Cause 0")
            #expect(geodatabase.localEditsCount == 1)
            let causes = try await table.queryFeatures(using: QueryParameters()).features().map {
                $0.attributeValue(forKey: "primcause") as? String
            }
            #expect(causes == ["Cause 0", "changed", "Cause 2"])
            // What was undone can be done anew with the same objects.
            features[0].setAttributeValue("again", forKey: "primcause")
            try await table.update(features[0])
            try await table.add(new)
            _ = try await geodatabase.applyEdits()
            let rows = try await service.rows().compactMap { $0.attributes["primcause"]?.textValue }
            #expect(rows == ["again", "changed", "Cause 2", "new"])
        }
    }

    @Test("On demand a wider part is fetched and asked for again only when it is left or has expired")
    func onDemand() async throws {
        try await TestService.with(damages: 20) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let moment = Mutex(Date(timeIntervalSince1970: 0))
            let fetcher = try FeatureFetcher(
                layer: FeatureLayer(featureTable: table), mode: .onDemand, now: { moment.withLock { $0 } },
                pause: { _ in })
            fetcher.bufferFactor = 3
            fetcher.expirationInterval = 60
            func count(_ from: Double, _ to: Double) async throws -> Int {
                let x = DamageService.place.x
                return try await fetcher.features(
                    in: Envelope(
                        xMin: x + from, yMin: DamageService.place.y - 1, xMax: x + to, yMax: DamageService.place.y + 1,
                        spatialReference: .webMercator)
                ).features().map { _ in 1 }.count
            }
            func asked() -> Int { service.interceptor.sent.count { $0 == "query" } }
            #expect(try await count(-50, 250) == 3)
            let first = asked()
            #expect(first > 0)
            #expect(try await count(250, 550) == 3 && asked() == first)
            #expect(try await count(550, 850) == 3 && asked() > first)
            let second = asked()
            moment.withLock { $0 = Date(timeIntervalSince1970: 61) }
            #expect(try await count(550, 850) == 3 && asked() > second)
            let third = asked()
            try await fetcher.refresh()
            #expect(asked() > third)
        }
    }

    @Test("A snapshot is fetched once; in selection mode only what is selected is there")
    func otherModes() async throws {
        try await TestService.with(damages: 5) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let layer = FeatureLayer(featureTable: table)
            let everywhere = Envelope(xMin: -180, yMin: -80, xMax: 180, yMax: 80, spatialReference: .wgs84)
            let snapshot = try FeatureFetcher(layer: layer, mode: .snapshot)
            #expect(try await Array(snapshot.features(in: everywhere).features()).count == 5)
            service.interceptor.isOffline = true
            #expect(try await Array(snapshot.features(in: everywhere).features()).count == 5)
            service.interceptor.isOffline = false
            let selection = try FeatureFetcher(layer: layer, mode: .selection)
            #expect(try await Array(selection.features(in: everywhere).features()).isEmpty)
            let major = QueryParameters()
            major.whereClause = "typdamage = 'Major'"
            try await layer.selectFeatures(withQuery: major, mode: .new)
            #expect(try await Array(selection.features(in: everywhere).features()).count == 2)
        }
    }
}
