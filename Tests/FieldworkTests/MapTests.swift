import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Maps and layers", .fewAtATime)
struct MapTests {
    @Test("Identify finds visible features within metres of a place, the nearest first, local edits included")
    func identify() async throws {
        try await TestService.with(damages: 5) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let layer = FeatureLayer(featureTable: table)
            let map = Map(basemapStyle: .arcGISStreets)
            map.addOperationalLayer(layer)
            try await map.load()
            #expect(layer.loadStatus == .loaded)
            #expect(table.layer === layer)
            let place = Point(x: DamageService.place.x + 120, y: DamageService.place.y, spatialReference: .webMercator)
            // A metre on the ground is about 1.26 units of the projection here.
            let found = try await layer.identify(at: place, tolerance: 80)
            #expect(found.geoElements.compactMap { $0.attributeValue(forKey: "numoccup") as? Int16 } == [1, 2])
            let nearest = try #require(found.geoElements.first as? Feature)
            try await table.delete(nearest)
            let geographic = try #require(GeometryEngine.project(place, into: .wgs84))
            let after = try #require(try await map.identify(at: geographic, tolerance: 80).first)
            #expect(after.layerContent === layer)
            #expect(after.geoElements.compactMap { $0.attributeValue(forKey: "numoccup") as? Int16 } == [2])
            let hidden = try #require(after.geoElements.first as? Feature)
            layer.setVisible(false, for: hidden)
            #expect(try await map.identify(at: place, tolerance: 80).isEmpty)
            layer.resetFeaturesVisible()
            layer.isVisible = false
            #expect(try await map.identify(at: place, tolerance: 80).isEmpty)
        }
    }

    @Test("Queries add to the selection, replace it and take from it")
    func selection() async throws {
        try await TestService.with(damages: 6) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let layer = FeatureLayer(featureTable: table)
            layer.definitionExpression = "numoccup < 4"
            func selected() async throws -> [Int16] {
                try await layer.selectedFeatures.features().compactMap {
                    $0.attributeValue(forKey: "numoccup") as? Int16
                }
            }
            let major = QueryParameters()
            major.whereClause = "typdamage = 'Major'"
            try await layer.selectFeatures(withQuery: major, mode: .add)
            #expect(try await selected() == [1, 3])
            try await layer.selectFeatures(withQuery: QueryParameters(), mode: .add)
            #expect(try await selected().sorted() == [0, 1, 2, 3])
            try await layer.selectFeatures(withQuery: major, mode: .subtract)
            #expect(try await selected().sorted() == [0, 2])
            try await layer.selectFeatures(withQuery: major, mode: .new)
            #expect(try await selected() == [1, 3])
            layer.clearSelection()
            #expect(try await selected().isEmpty)
        }
    }

    @Test("The service's renderer gives each feature its symbol")
    func renderer() async throws {
        try await TestService.with(damages: 2) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let layer = FeatureLayer(featureTable: table)
            try await layer.load()
            let renderer = try #require(layer.renderer as? UniqueValueRenderer)
            #expect(renderer.fieldNames == ["typdamage"])
            let features = Array(try await table.queryFeatures(using: QueryParameters()).features())
            #expect(features.map { (renderer.symbol(for: $0) as? SimpleMarkerSymbol)?.style } == [.circle, .diamond])
            let first = renderer.uniqueValues.first?.symbol as? SimpleMarkerSymbol
            #expect(first?.color == SymbolColor(red: 200, green: 40, blue: 20))
        }
    }

    @Test("Templates, types and fields of a table make new features")
    func makingFeatures() async throws {
        try await TestService.with { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let template = try #require(table.featureTemplates.first)
            let feature = table.makeFeature(template: template, geometry: DamageService.place)
            #expect(feature.attributeValue(forKey: "TYPDAMAGE") as? String == "Minor")
            #expect(table.canAdd && table.canUpdate(feature) && table.canDelete(feature))
            #expect(table.field(named: "numoccup")?.type == .int16)
            #expect(table.layerInfo?.displayFieldName == "typdamage")
        }
    }

    @Test("A viewpoint is written as JSON and read back")
    func viewpoint() throws {
        let center = Viewpoint(center: DamageService.place, scale: 25_000, rotation: 12)
        #expect(try Viewpoint.fromJSON(center.toJSON()) == center)
        let extent = Viewpoint(
            boundingGeometry: Envelope(xMin: 1, yMin: 2, xMax: 3, yMax: 4, spatialReference: .wgs84))
        #expect(extent.kind == .boundingGeometry)
        #expect(try Viewpoint.fromJSON(extent.toJSON()) == extent)
        #expect(throws: CommonError.self) { try Viewpoint.fromJSON(Data("{}".utf8)) }
    }

    @Test("A map's layers are kept in order")
    func layers() {
        let map = Map(spatialReference: .webMercator)
        let layers = (0..<3).map { _ in
            FeatureLayer(featureTable: ServiceFeatureTable(url: URL(filePath: "/none/FeatureServer/0")))
        }
        map.addOperationalLayers([layers[0], layers[2]])
        map.insertOperationalLayer(layers[1], at: 1)
        #expect(map.operationalLayers.elementsEqual(layers) { $0 === $1 })
        map.removeOperationalLayer(layers[0])
        #expect(map.operationalLayers.count == 2)
        map.addBookmark(Bookmark(name: "Home", viewpoint: Viewpoint(latitude: 1, longitude: 2, scale: 3)))
        #expect(map.bookmarks.map(\.name) == ["Home"])
    }
}
