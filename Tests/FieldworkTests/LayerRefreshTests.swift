import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Refreshing layers", .fewAtATime)
struct LayerRefreshTests {
    /// A clock that ticks when the test says so.
    private final class Ticks: Sendable {
        private let ticks: AsyncStream<Void>
        private let tick: AsyncStream<Void>.Continuation
        private let asked = Mutex<[TimeInterval]>([])

        init() { (ticks, tick) = AsyncStream.makeStream(of: Void.self) }

        var intervals: [TimeInterval] { asked.withLock { $0 } }

        func pass() { tick.yield() }

        func wait(_ interval: TimeInterval) async throws {
            asked.withLock { $0.append(interval) }
            for await _ in ticks { return }
            throw CancellationError()
        }
    }

    private static func rename(_ cause: String, _ service: TestService) async throws {
        let row = try #require(try await service.rows().first)
        let edit = FeatureEdit(objectID: row.objectID, attributes: [("primcause", .text(cause))])
        _ = try await service.store.apply(
            EditBatch(layers: [LayerEdits(layerID: 0, updates: [edit])], moment: Date.now), to: service.name)
    }

    private static func causes(_ table: FeatureTable) async throws -> [String] {
        try await table.queryFeatures(using: QueryParameters()).features().compactMap {
            $0.attributeValue(forKey: "primcause") as? String
        }
    }

    @Test("What was brought to this device is brought again at each interval, until the interval is taken away")
    func interval() async throws {
        try await TestService.with(damages: 2) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            table.featureRequestMode = .manualCache
            let layer = FeatureLayer(featureTable: table)
            try await layer.load()
            _ = try await table.populateFromService(using: nil, clearCache: true, outFields: ["*"])
            let ticks = Ticks()
            layer.content.withLock { $0.refresh.pause = { try await ticks.wait($0) } }
            var dates = layer.$refreshDate.makeAsyncIterator()
            let first = try #require(await dates.next())
            #expect(first == nil)

            layer.refreshInterval = 30
            try await Self.rename("seen later", service)
            #expect(try await Self.causes(table) == ["Cause 0", "Cause 1"])
            ticks.pass()
            let second = try #require(await dates.next())
            #expect(second != nil)
            #expect(try await Self.causes(table) == ["seen later", "Cause 1"])
            #expect(!ticks.intervals.isEmpty && ticks.intervals.allSatisfy { $0 == 30 })

            // A service that can't be reached leaves what is here, and is asked again after the next interval.
            service.interceptor.isOffline = true
            await #expect(throws: Fieldwork.ServiceError.self) { try await layer.refresh() }
            #expect(try await Self.causes(table) == ["seen later", "Cause 1"])
            service.interceptor.isOffline = false

            layer.refreshInterval = 0
            #expect(layer.refreshInterval == nil)
            #expect(layer.content.withLock { $0.refresh.timer } == nil)
        }
    }

    @Test("Unsent edits stay as they are, and selected features take what the service has")
    func editsAndSelection() async throws {
        try await TestService.with(damages: 3) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            table.featureRequestMode = .manualCache
            let layer = FeatureLayer(featureTable: table)
            try await layer.load()
            _ = try await table.populateFromService(using: nil, clearCache: true, outFields: ["*"])
            let features = Array(try await table.queryFeatures(using: QueryParameters()).features())
            layer.selectFeatures(features)
            features[1].setAttributeValue("mine", forKey: "primcause")
            try await table.update(features[1])

            try await Self.rename("theirs", service)
            let last = try #require(try await service.rows().last)
            let delete = LayerEdits(layerID: 0, deletes: .features([.objectID(last.objectID)]))
            _ = try await service.store.apply(EditBatch(layers: [delete], moment: Date.now), to: service.name)
            try await layer.refresh()
            #expect(features[0].attributeValue(forKey: "primcause") as? String == "theirs")
            #expect(features[1].attributeValue(forKey: "primcause") as? String == "mine")
            #expect(Array(try await layer.selectedFeatures.features()).count == 2)
            #expect(try await Self.causes(table) == ["theirs", "mine"])
            _ = try await table.applyEdits()
            #expect(try await service.rows().map { $0.attributes["primcause"] } == [.text("theirs"), .text("mine")])
        }
    }

    @Test(
        "Features that are brought in an order or a few at a time leave unsent edits as they are",
        arguments: [false, true])
    func editsAndFewFeatures(clearsCache: Bool) async throws {
        try await TestService.with(damages: 4) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            table.featureRequestMode = .manualCache
            _ = try await table.populateFromService(using: nil, clearCache: true, outFields: ["*"])
            let features = Array(try await table.queryFeatures(using: QueryParameters()).features())
            features[1].setAttributeValue("mine", forKey: "primcause")
            try await table.update(features[1])
            try await table.delete(features[2])
            try await Self.rename("theirs", service)
            let first = QueryParameters()
            first.addOrderByField(OrderBy(fieldName: "numoccup", sortOrder: .ascending))
            first.maxFeatures = 3
            _ = try await table.populateFromService(using: first, clearCache: clearsCache, outFields: ["*"])
            let wanted = ["theirs", "mine"] + (clearsCache ? [] : ["Cause 3"])
            #expect(try await Self.causes(table) == wanted)
        }
    }

    @Test("Several questions are all asked again, and none clears what another brought")
    func severalQuestions() async throws {
        try await TestService.with(damages: 4) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            table.featureRequestMode = .manualCache
            let layer = FeatureLayer(featureTable: table)
            for kind in ["Minor", "Major"] {
                let parameters = QueryParameters()
                parameters.whereClause = "typdamage = '\(kind)'"
                _ = try await table.populateFromService(using: parameters, clearCache: false, outFields: ["*"])
            }
            try await Self.rename("again", service)
            try await layer.refresh()
            #expect(try await Self.causes(table) == ["again", "Cause 1", "Cause 2", "Cause 3"])
        }
    }

    @Test("Features that have only their ids are completed with one question, and one that is gone says so")
    func completing() async throws {
        try await TestService.with(damages: 3) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let features = try await table.queryFeatures(using: QueryParameters(), queryFeatureFields: .idsOnly)
                .features().compactMap { $0 as? ArcGISFeature }
            #expect(features.allSatisfy { $0.attributeValue(forKey: "primcause") == nil })
            features[1].setAttributeValue("mine", forKey: "primcause")
            let asked = service.interceptor.sent.count
            try await table.loadOrRefreshFeatures(features)
            #expect(service.interceptor.sent.count == asked + 1)
            let causes = features.compactMap { $0.attributeValue(forKey: "primcause") as? String }
            #expect(causes == ["Cause 0", "mine", "Cause 2"], "what was set meanwhile stays")
            let last = try #require(try await service.rows().last)
            let delete = LayerEdits(layerID: 0, deletes: .features([.objectID(last.objectID)]))
            _ = try await service.store.apply(EditBatch(layers: [delete], moment: Date.now), to: service.name)
            await #expect(throws: GeodatabaseError.self) { try await table.loadOrRefreshFeatures(features) }
        }
    }

    @Test("A web map's minutes are the layer's seconds, and are written back as they were")
    func webMap() throws {
        let text = #"""
            {"operationalLayers":[{"id":"a","title":"A","layerType":"ArcGISFeatureLayer","refreshInterval":0.5,
            "url":"http://127.0.0.1:9/rest/services/A/FeatureServer/0",
            "layerDefinition":{"drawingInfo":{"scaleSymbols":true}}}],"referenceScale":2000,"version":"2.31"}
            """#
        let map = try Map.fromJSON(Data(text.utf8))
        let layer = try #require(map.operationalLayers.first as? FeatureLayer)
        #expect(layer.refreshInterval == 30 && layer.scalesSymbols)
        #expect(map.symbolFactor(of: layer, atScale: 1_000) == 2)
        #expect(map.webMap == (try JSONParser.parse(text)))
        layer.refreshInterval = 120
        layer.scalesSymbols = false
        #expect(map.symbolFactor(of: layer, atScale: 1_000) == 1)
        let written = try Map.fromJSON(map.toJSON())
        let copy = try #require(written.operationalLayers.first as? FeatureLayer)
        #expect(copy.refreshInterval == 120 && !copy.scalesSymbols)
        layer.refreshInterval = nil
        copy.refreshInterval = nil
    }
}
