import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Copies of maps and layers", .fewAtATime)
struct MapCopyTests {
    private static func map(_ service: TestService) throws -> Map {
        let text = #"""
            {"operationalLayers":[{"id":"g","title":"Group","layerType":"GroupLayer","layers":[
            {"id":"t","title":"Trees","layerType":"ArcGISFeatureLayer","url":"\#(service.url.absoluteString)",
            "popupInfo":{"title":"{Address}"},"mine":1,
            "layerDefinition":{"definitionExpression":"Condition < 4","minScale":5000}}]}],
            "tables":[{"id":"i","title":"Inspections","layerType":"ArcGISFeatureLayer",
            "url":"\#(service.url.deletingLastPathComponent().appending(path: "1").absoluteString)"}],
            "baseMap":{"title":"Streets","baseMapLayers":[]},"own":true,"version":"2.31"}
            """#
        return try Map.fromJSON(Data(text.utf8), environment: service.environment())
    }

    @Test("A map's copy is not loaded, says the same, and leaves the original as it is")
    func copy() async throws {
        try await TestService.withTrees(3) { service in
            let map = try Self.map(service)
            try await map.load()
            let copy = map.clone()
            #expect(copy.loadStatus == .notLoaded && copy.operationalLayers.first !== map.operationalLayers.first)
            #expect(copy.webMap == map.webMap && copy.basemap !== map.basemap && copy.basemap?.name == "Streets")
            let group = try #require(copy.operationalLayers.first as? GroupLayer)
            let trees = try #require(group.layers.first as? FeatureLayer)
            trees.popupDefinition?.title = "changed"
            trees.definitionExpression = ""
            copy.removeAllBookmarks()
            let original = try #require((map.operationalLayers.first as? GroupLayer)?.layers.first as? FeatureLayer)
            #expect(original.popupDefinition?.title == "{Address}" && original.definitionExpression == "Condition < 4")
            #expect(original.featureTable?.layer === original)
            try await copy.load()
            #expect(trees.loadStatus == .loaded && trees.minScale == 5_000)
            // Tables of one service share it, as they do in the original, and not with the original.
            let table = try #require(trees.featureTable as? ServiceFeatureTable)
            let beside = try #require(copy.tables.first as? ServiceFeatureTable)
            #expect(table.serviceGeodatabase === beside.serviceGeodatabase && table.serviceGeodatabase != nil)
            let first = try #require(original.featureTable as? ServiceFeatureTable)
            #expect(first.serviceGeodatabase !== table.serviceGeodatabase)
            #expect(first.serviceGeodatabase?.table(withLayerID: 0) === first)
        }
    }

    @Test("An edit that one of two copies makes is the other's as well, and is sent once")
    func sharedEdits() async throws {
        try await TestService.withTrees(1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let layer = FeatureLayer(featureTable: table)
            try await layer.load()
            let copy = layer.clone()
            try await copy.load()
            let other = try #require(copy.featureTable as? ServiceFeatureTable)
            let tree = try #require(
                try await other.queryFeatures(using: QueryParameters()).features().first { _ in true })
            tree.setAttributeValue("7 New St", forKey: "Address")
            try await other.update(tree)
            try await other.add(other.makeFeature(attributes: ["Kind": "park"], geometry: TreeService.place))
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 2)
            #expect(try await table.hasLocalEdits())
            _ = try await table.applyEdits()
            _ = try await other.applyEdits()
            let rows = try await service.rows()
            #expect(rows.count == 2 && rows.first?.attributes["Address"] == .text("7 New St"))
        }
    }

    @Test("A layer of a geodatabase is copied over the same rows")
    func geodatabase() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-copy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let geodatabase = try await Geodatabase.createEmpty(fileURL: folder.appending(path: "own.gpkg"))
        let table = try await geodatabase.makeTable(
            description: TableDescription(name: "Places", spatialReference: .webMercator, geometryType: Point.self))
        let layer = FeatureLayer(featureTable: table)
        let copy = layer.clone()
        let other = try #require(copy.featureTable as? GeodatabaseFeatureTable)
        #expect(other !== table && other.geodatabase === geodatabase)
        try await other.add(other.makeFeature(geometry: TreeService.place))
        #expect(try await table.queryFeatureCount(using: QueryParameters()) == 1)
        #expect(geodatabase.featureTable(named: "Places") === table)
        geodatabase.close()
    }
}
