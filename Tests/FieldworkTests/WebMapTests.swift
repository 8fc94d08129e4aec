import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Web maps", .fewAtATime)
struct WebMapTests {
    private static let sample = SharedData.url("webmap/trees-webmap.json")

    /// A map of the test service's layers: inspections as a table, trees in a group.
    private static func document(_ service: TestService) throws -> JSONObject {
        let root = service.url.deletingLastPathComponent().absoluteString
        let text = """
            {"operationalLayers":[
              {"id":"x","title":"Tomorrow's","layerType":"LayerOfTomorrow","url":"https://example.org/x","own":[1]},
              {"id":"g","title":"Group","layerType":"GroupLayer","layers":[
                {"id":"trees","title":"Our trees","url":"\(root)0","opacity":0.5,"own":{"a":[1,null]},
                 "layerDefinition":{"definitionExpression":"DBH > 0","minScale":0,"maxScale":500,
                  "drawingInfo":{"renderer":{"type":"simple","symbol":{"type":"esriSMS","style":"esriSMSCross"}}},
                  "displayFilterInfo":{"filterMode":"manual","activeFilterId":"f",
                   "filters":[{"id":"f","title":"First","where":"Address <> '1 Main St'"}]}},
                 "popupInfo":{"title":"{Address}","own":true},
                 "formInfo":{"title":"Tree","formElements":[{"type":"field","fieldName":"Condition"}]}}]}],
             "tables":[{"id":"i","url":"\(root)1","capabilities":"Query","popupInfo":{"title":"{DBH}"}},
              {"id":"nowhere","title":"No address"}],
             "baseMap":{"title":"Base","baseMapLayers":[{"id":"b","layerType":"WebTiledLayer","templateUrl":"t"},
              {"id":"r","layerType":"VectorTileLayer","isReference":true}]},
             "spatialReference":{"wkid":102100,"latestWkid":3857},"timeZone":"America/Los_Angeles","version":"2.31",
             "initialState":{"viewpoint":{"scale":1000,"rotation":10,"targetGeometry":
              {"xmin":0,"ymin":0,"xmax":2,"ymax":4,"spatialReference":{"wkid":102100}}}},
             "bookmarks":[{"name":"Old","own":1,
              "extent":{"xmin":0,"ymin":0,"xmax":1,"ymax":1,"spatialReference":{"wkid":4326}}}],"vendors":{"own":1}}
            """
        return try #require(try JSONParser.parse(text).objectValue)
    }

    private static func map(_ document: JSONObject, _ service: TestService) throws -> Map {
        try Map.fromJSON(Data(JSONValue.object(document).text.utf8), environment: service.environment())
    }

    private static func trees(_ map: Map) throws -> FeatureLayer {
        try #require((map.operationalLayers.last as? GroupLayer)?.layers.first as? FeatureLayer)
    }

    @Test(
        "The sample is written as it was read, layers of all kinds and unknown members included",
        .enabled(if: sample != nil, "the shared test data is not beside this clone"))
    func sampleRoundTrip() throws {
        let data = try Data(contentsOf: try #require(Self.sample))
        let map = try Map.fromJSON(data)
        #expect(map.webMap == (try JSONParser.parse(data)))
        #expect(map.operationalLayers.map(\.name) == ["Neighborhoods", "Field work", "A kind nobody reads"])
        #expect(map.operationalLayers.first is FeatureLayer && map.operationalLayers.last is UnknownLayer)
        let trees = try #require((map.operationalLayers[1] as? GroupLayer)?.layers.first as? FeatureLayer)
        #expect(trees.definitionExpression == "condition IS NOT NULL" && trees.minScale == 50_000)
        #expect(
            (trees.renderer as? UniqueValueRenderer)?.uniqueValues.map(\.values) == [
                ["Good"], ["Fair"], ["Poor"], ["Dead"],
            ])
        #expect(trees.popupDefinition?.elements.isEmpty == false && trees.featureFormDefinition != nil)
        #expect(map.tables.count == 2 && map.bookmarks.map(\.name) == ["Concordia", "Old style"])
        #expect(map.initialViewpoint?.targetScale == 20_000)
    }

    @Test(
        "A change of one layer is written there and nowhere else",
        .enabled(if: sample != nil, "the shared test data is not beside this clone"))
    func oneChange() throws {
        let data = try Data(contentsOf: try #require(Self.sample))
        let map = try Map.fromJSON(data)
        let first = try #require(map.operationalLayers.first as? FeatureLayer)
        first.definitionExpression = "NAME = 'x'"
        var expected = try #require(try JSONParser.parse(data).objectValue)
        var layers = expected["operationalLayers"]?.arrayValue ?? []
        var entry = try #require(layers[0].objectValue)
        var definition = try #require(entry["layerDefinition"]?.objectValue)
        definition["definitionExpression"] = "NAME = 'x'"
        entry["layerDefinition"] = .object(definition)
        layers[0] = .object(entry)
        expected["operationalLayers"] = .array(layers)
        expected["authoringApp"] = "Fieldwork"
        expected["authoringAppVersion"] = nil
        #expect(map.webMap == .object(expected))
    }

    @Test("A map's layers and tables load, know each other, and keep what the map says of them")
    func loading() async throws {
        try await TestService.withTrees(3) { service in
            let document = try Self.document(service)
            let map = try Self.map(document, service)
            try await map.load()
            let layer = try Self.trees(map)
            let table = try #require(layer.featureTable as? ServiceFeatureTable)
            #expect(layer.name == "Our trees" && layer.opacity == 0.5 && layer.id == "trees")
            #expect(layer.minScale == nil && layer.maxScale == 500 && layer.renderer is SimpleRenderer)
            #expect(layer.displayFilterDefinition is ManualDisplayFilterDefinition)
            #expect(table.popupDefinition?.title == "{Address}")
            let inspections = try #require(map.tables.first as? ServiceFeatureTable)
            #expect(table.relatedTables().first === inspections && table.canAdd && !inspections.canAdd)
            #expect(map.basemap?.baseLayers.count == 1 && map.basemap?.referenceLayers.count == 1)
            #expect(
                map.initialViewpoint
                    == Viewpoint(
                        center: Point(x: 1, y: 2, spatialReference: .webMercator), scale: 1_000, rotation: 10))
            #expect(map.webMap == .object(document))
            let features = try await table.queryFeatures(using: QueryParameters()).features()
            let form = FeatureForm(feature: try #require(features.first { _ in true } as? ArcGISFeature))
            #expect(form.title == "Tree" && form.elements.count == 1)
        }
    }

    @Test("Identify looks into groups, at the scale that is shown, and for what is drawn")
    func identify() async throws {
        try await TestService.withTrees(3) { service in
            let map = try Self.map(try Self.document(service), service)
            func titles(scale: Double?) async throws -> [String] {
                let place = Point(x: TreeService.place.x + 100, y: TreeService.place.y, spatialReference: .webMercator)
                return try await map.identify(at: place, tolerance: 500, returnPopupsOnly: true, scale: scale)
                    .flatMap(\.popups).map(\.title).sorted()
            }
            #expect(try await titles(scale: nil) == ["0 Main St", "2 Main St"])
            #expect(try await titles(scale: 400).isEmpty)
            try Self.trees(map).displayFilterDefinition = nil
            #expect(try await titles(scale: 600).count == 3)
            map.operationalLayers.last?.isVisible = false
            #expect(try await titles(scale: nil).isEmpty)
        }
    }

    @Test("Places, pop-ups, looks and new layers are written; what was not touched stays as it was")
    func changes() async throws {
        try await TestService.withTrees(1) { service in
            let document = try Self.document(service)
            let map = try Self.map(document, service)
            try await map.load()
            let layer = try Self.trees(map)
            layer.popupDefinition?.title = "Tree"
            layer.maxScale = nil
            layer.resetRenderer()
            map.addBookmark(Bookmark(name: "New", viewpoint: Viewpoint(latitude: 1, longitude: 2, scale: 3)))
            let url = try #require(URL(string: service.url.absoluteString + "?token=secret"))
            map.addOperationalLayer(FeatureLayer(featureTable: ServiceFeatureTable(url: url)))
            let written = map.webMap
            let group = written["operationalLayers"]?.arrayValue?[1]
            let entry = group?["layers"]?.arrayValue?.first
            #expect(entry?["popupInfo"] == ["title": "Tree", "own": true])
            #expect(entry?["layerDefinition"]?["maxScale"]?.doubleValue == 0)
            #expect(entry?["layerDefinition"]?["drawingInfo"] == [:])
            #expect(entry?["own"] == ["a": [1, nil]])
            #expect(written["bookmarks"]?.arrayValue?.first == document["bookmarks"]?.arrayValue?.first)
            #expect(written["bookmarks"]?.arrayValue?.last?["extent"] != nil)
            #expect(written["operationalLayers"]?.arrayValue?.last?["url"]?.stringValue == service.url.absoluteString)
            #expect(!written.text.contains("secret"))
            #expect(written["tables"] == document["tables"] && written["baseMap"] == document["baseMap"])
            #expect(written["initialState"] == document["initialState"] && written["vendors"] == document["vendors"])
            #expect(try Map.fromJSON(map.toJSON()).bookmarks.count == 2)
        }
    }

    @Test("What is no web map, or one of a later kind, is refused")
    func refused() {
        #expect(throws: CommonError.self) { try Map.fromJSON(Data("[]".utf8)) }
        #expect(throws: CommonError.self) { try Map.fromJSON(Data(#"{"version":"3.0"}"#.utf8)) }
        #expect(throws: Never.self) { try Map.fromJSON(Data(#"{"version":"2.100"}"#.utf8)) }
    }

    @Test("In an exclusive group only the first visible layer is seen")
    func exclusive() {
        let layers = (0..<3).map { FeatureLayer(featureTable: ServiceFeatureTable(url: URL(filePath: "/x/\($0)"))) }
        layers[0].isVisible = false
        let group = GroupLayer(childLayers: layers)
        let map = Map()
        map.addOperationalLayer(group)
        #expect(map.visibleFeatureLayers().count == 2 && map.visibleFeatureLayers().first === layers[2])
        group.visibilityMode = .exclusive
        #expect(map.visibleFeatureLayers().first === layers[1] && map.visibleFeatureLayers().count == 1)
        group.visibilityMode = .inherited
        #expect(map.visibleFeatureLayers().count == 3)
    }
}
