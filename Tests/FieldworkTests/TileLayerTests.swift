import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Layers of tiles", .fewAtATime)
struct TileLayerTests {
    private static let there = TileKey(level: 2, row: 3, column: 1)
    private static let elsewhere = TileKey(level: 2, row: 0, column: 0)

    @Test("Vector tiles of a service come with their style and whom to name")
    func vectorService() async throws {
        try await BasemapServer.with { server in
            let layer = ArcGISVectorTiledLayer(url: try server.url("City/VectorTileServer"))
            try await layer.load()
            #expect(layer.attribution == "© City")
            #expect(layer.name == "The city")
            #expect(layer.levels == 2...2)
            #expect(try await layer.tile(at: Self.there) == Data(BasemapServer.vectorTile()))
            #expect(try await layer.tile(at: Self.elsewhere) == nil)
            #expect(try await layer.tile(at: TileKey(level: 2, row: 9, column: 0)) == nil)
            let style = try #require(try await layer.style())
            #expect(try JSONParser.parse(style)["version"] == 8)
            #expect(try await layer.style(variant: "dark") != nil)
            #expect(try await layer.resource("../../secret") == nil)
        }
    }

    @Test("The address of a style leads to its service")
    func styleAddress() async throws {
        try await BasemapServer.with { server in
            let layer = ArcGISVectorTiledLayer(
                url: try server.url("City/VectorTileServer/resources/styles/root.json"))
            try await layer.load()
            #expect(layer.attribution == "© City")
            #expect(try await layer.tile(at: Self.there) != nil)
            #expect(try await layer.style() != nil)
        }
    }

    @Test("Images of a service and of templates of addresses are the server's bytes")
    func images() async throws {
        try await BasemapServer.with { server in
            let service = ArcGISTiledLayer(url: try server.url("Air/MapServer"))
            try await service.load()
            #expect(service.tileSize == 256)
            #expect(try await service.tile(at: Self.there) == Data(BasemapServer.png))
            #expect(try await service.tile(at: Self.elsewhere) == nil)
            let template = try server.url("Air/MapServer/tile").absoluteString + "/{level}/{row}/{col}"
            let web = WebTiledLayer(urlTemplate: template)
            try await web.load()
            #expect(try await web.tile(at: Self.there) == Data(BasemapServer.png))
        }
    }

    @Test("Files give the same tiles, and a file of the other kind is refused by its name")
    func files() async throws {
        try await BasemapServer.with { server in
            let layer = ArcGISVectorTiledLayer(vectorTileCache: VectorTileCache(fileURL: server.file("City")))
            try await layer.load()
            #expect(layer.attribution == "© City")
            #expect(try await layer.tile(at: Self.there) == Data(BasemapServer.vectorTile()))
            let images = ArcGISTiledLayer(tileCache: TileCache(fileURL: server.file("Air")))
            try await images.load()
            #expect(try await images.tile(at: Self.there) == Data(BasemapServer.png))
            let wrong = ArcGISTiledLayer(tileCache: TileCache(fileURL: server.file("City")))
            await #expect(throws: CommonError.self) { try await wrong.load() }
            #expect(images.clone().tileCache?.fileURL == server.file("Air"))
        }
    }

    @Test("A template names level, column and row, and takes its subdomains in turns")
    func templates() throws {
        let layer = WebTiledLayer(
            urlTemplate: "https://{subDomain}.example.org/{z}/{x}/{y}.png", subDomains: ["a", "b"])
        #expect(layer.address(of: Self.there)?.absoluteString == "https://a.example.org/2/1/3.png")
        #expect(
            layer.address(of: TileKey(level: 2, row: 3, column: 2))?.absoluteString
                == "https://b.example.org/2/2/3.png")
        #expect(WebTiledLayer(urlTemplate: "https://example.org/{z}/{x}.png").address(of: Self.there) == nil)
        #expect(WebTiledLayer(urlTemplate: "file:///{z}/{x}/{y}").address(of: Self.there) == nil)
    }

    // MARK: Web maps

    private static let document = """
        {"operationalLayers":[
          {"id":"parcels","title":"Parcels","layerType":"ArcGISMapServiceLayer","url":"https://e.org/arcgis/rest/services/P/MapServer",
           "layers":[{"id":3,"name":"Lots","visibility":false,"popupInfo":{"title":"x"}}],"unknown":1}],
         "baseMap":{"title":"Streets","elevationLayers":[],"baseMapLayers":[
          {"id":"v","layerType":"VectorTileLayer","styleUrl":"https://e.org/arcgis/rest/services/S/VectorTileServer/resources/styles/root.json","itemId":"a"},
          {"id":"t","layerType":"ArcGISTiledMapServiceLayer","url":"https://e.org/arcgis/rest/services/T/MapServer","opacity":0.5},
          {"id":"w","layerType":"WebTiledLayer","templateUrl":"https://{subDomain}.e.org/{level}/{col}/{row}.png","subDomains":["a"],"copyright":"me"},
          {"id":"o","layerType":"OpenStreetMap"},
          {"id":"n","layerType":"ArcGISImageServiceLayer","url":"https://e.org/i/ImageServer"},
          {"id":"r","layerType":"VectorTileLayer","url":"https://e.org/arcgis/rest/services/L/VectorTileServer","isReference":true}]},
         "version":"2.31"}
        """

    @Test("A web map's basemap is read as layers, and written back equal")
    func webMap() throws {
        let map = try Map.fromJSON(Data(Self.document.utf8))
        let basemap = try #require(map.basemap)
        #expect(basemap.name == "Streets")
        #expect(
            basemap.baseLayers.map { String(describing: type(of: $0)) } == [
                "ArcGISVectorTiledLayer", "ArcGISTiledLayer", "WebTiledLayer", "OpenStreetMapLayer", "UnknownLayer",
            ])
        #expect(basemap.baseLayers[1].opacity == 0.5)
        #expect(basemap.baseLayers[2].attribution == "me")
        #expect(
            (basemap.referenceLayers.first as? ArcGISVectorTiledLayer)?.url?.lastPathComponent == "VectorTileServer")
        #expect(map.operationalLayers.first is ArcGISMapImageLayer)
        #expect(try JSONParser.parse(map.toJSON()) == JSONParser.parse(Self.document))
        #expect(try JSONParser.parse(map.clone().toJSON()) == JSONParser.parse(Self.document))
    }

    @Test("A basemap of layers that an app makes is written so that it can be read again")
    func written() throws {
        let map = Map()
        let style = try #require(
            URL(string: "https://e.org/arcgis/rest/services/S/VectorTileServer/resources/styles/root.json?token=secret")
        )
        let web = WebTiledLayer(urlTemplate: "https://{s}.e.org/{z}/{x}/{y}.png", subDomains: ["a", "b"])
        web.setAttribution("© e")
        map.basemap = Basemap(
            baseLayers: [ArcGISVectorTiledLayer(url: style), web], referenceLayers: [OpenStreetMapLayer()])
        let read = try Map.fromJSON(map.toJSON())
        let layers = try #require(read.basemap).baseLayers
        #expect((layers[0] as? ArcGISVectorTiledLayer)?.url?.query() == nil)
        #expect((layers[0] as? ArcGISVectorTiledLayer)?.url?.lastPathComponent == "root.json")
        #expect((layers[1] as? WebTiledLayer)?.subDomains == ["a", "b"])
        #expect(layers[1].attribution == "© e")
        #expect(read.basemap?.referenceLayers.first is OpenStreetMapLayer)
    }

    @Test("Sublayers of a map service are shown as the web map says, and only what is changed is written")
    func sublayers() throws {
        let service: [JSONValue] = [
            ["id": 1, "name": "Land", "parentLayerId": -1, "subLayerIds": [2, 3], "defaultVisibility": true],
            ["id": 2, "name": "Streets", "parentLayerId": 1, "defaultVisibility": true],
            ["id": 3, "name": "Lots", "parentLayerId": 1, "defaultVisibility": true],
            ["id": 4, "name": "Round", "parentLayerId": 4],
        ]
        let said: [JSONValue] = [["id": 3, "visibility": false, "layerDefinition": ["definitionExpression": "A = 1"]]]
        let tree = ArcGISMapImageSublayer.tree(service, webMap: said)
        #expect(tree.map(\.name) == ["Land"])
        #expect(tree.flatMap(\.shownLeaves).map(\.name) == ["Streets"])
        let lots = try #require(tree[0].sublayers.last)
        #expect(lots.definitionExpression == "A = 1")
        #expect(!lots.isChanged)
        lots.isVisible = true
        #expect(lots.isChanged)
        var entry = JSONObject(["id": 3, "popupInfo": ["title": "x"]])
        lots.write(into: &entry)
        #expect(entry["visibility"] == true)
        #expect(entry["popupInfo"] != nil)
        tree[0].isVisible = false
        #expect(tree.flatMap(\.shownLeaves).isEmpty)
    }
}
