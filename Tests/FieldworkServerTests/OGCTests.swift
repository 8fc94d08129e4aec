import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Maps and tiles by the standards of the Open Geospatial Consortium, asked as their clients ask, and by GDAL's own.
@Suite("OGC API", .fewAtATime)
struct OGCTests {
    /// A server with red trees on the equator.
    private static func serve(
        trees: Int = 1, _ test: @Sendable (TestServer, GeoPackageStore) async throws -> Void
    ) async throws {
        try await TemporaryStore.serve(trees: trees) { server, store in
            try await store.updateService(MapImages.drawn(MapImages.square))
            try await test(server, store)
        }
    }

    /// The address of a link, without the part that every address of the server has.
    private static func path(_ rel: String, in document: JSONValue, _ server: TestServer) throws -> String {
        let link = try #require(document["links"]?.arrayValue?.first { $0["rel"] == .string(rel) }, "\(rel)")
        let href = try #require(link["href"]?.stringValue)
        let root = try #require(URL(string: server.client.base))
        let origin = "http://\(try #require(root.host)):\(try #require(root.port))"
        #expect(href.hasPrefix(origin), "\(href)")
        return String(href.dropFirst(origin.count))
    }

    @Test(
        "Every link of the landing pages, and of what they lead to, is answered",
        arguments: ["MapServer", "VectorTileServer"])
    func links(_ face: String) async throws {
        try await Self.serve(trees: 3) { server, _ in
            var waiting = ["/arcgis/rest/services/Trees/\(face)/ogc"]
            var seen: Set<String> = []
            while let path = waiting.popLast() {
                guard seen.insert(path).inserted else { continue }
                let answer = try await server.client.get(path)
                #expect(answer.status == 200 && answer.errorCode == nil, "\(path): \(answer.text.prefix(200))")
                guard answer.header("Content-Type")?.contains("json") == true else { continue }
                var values = [try answer.json]
                while let value = values.popLast() {
                    if let list = value.arrayValue { values += list }
                    guard let object = value.objectValue else { continue }
                    values += object.members.map(\.value)
                    guard value["href"] != nil, value["templated"] == nil, let rel = value["rel"]?.stringValue else {
                        continue
                    }
                    waiting.append(try Self.path(rel, in: ["links": [value]], server))
                }
            }
            #expect(seen.count >= (face == "MapServer" ? 11 : 7), "\(seen)")
        }
    }

    @Test(
        "A map shows what the Web Map Service shows of the same box, in degrees by default and in the reference asked for"
    )
    func map() async throws {
        try await Self.serve(trees: 50) { server, _ in
            let root = "/arcgis/rest/services/Trees/MapServer/ogc"
            let wms =
                "/arcgis/services/Trees/MapServer/WMSServer?SERVICE=WMS&REQUEST=GetMap&LAYERS=0&STYLES=&FORMAT=image/png"
            let size = "width=200&height=100"
            func same(_ ours: String, _ theirs: String) async throws {
                let map = try await server.client.get("\(root)/\(ours)&\(size)")
                #expect(map.header("Content-Type") == "image/png", "\(map.text.prefix(200))")
                let other = try await server.client.get("\(wms)&\(theirs)&TRANSPARENT=TRUE&\(size.uppercased())")
                #expect(map.body == other.body, "\(ours)")
            }
            try await same(
                "map?bbox=-0.002,-0.001,0.006,0.001", "VERSION=1.3.0&CRS=CRS:84&BBOX=-0.002,-0.001,0.006,0.001")
            for name in ["http://www.opengis.net/def/crs/EPSG/0/3857", "urn:ogc:def:crs:EPSG::3857", "%5BEPSG:3857%5D"]
            {
                try await same(
                    "collections/0/map?bbox=-100,-50,100,50&bbox-crs=\(name)",
                    "VERSION=1.3.0&CRS=EPSG:3857&BBOX=-100,-50,100,50")
            }
            // The register has the latitude of this reference first.
            try await same(
                "map?bbox=-0.001,-0.002,0.001,0.006&bbox-crs=http://www.opengis.net/def/crs/EPSG/0/4326",
                "VERSION=1.3.0&CRS=CRS:84&BBOX=-0.002,-0.001,0.006,0.001")
            let jpeg = try await server.client.get("\(root)/map?f=jpeg&width=64")
            #expect(jpeg.header("Content-Type") == "image/jpeg" && jpeg.body.starts(with: [0xFF, 0xD8]))
        }
    }

    @Test("What can't be read is told with the status of HTTP and its reason, in the name of the parameter")
    func errors() async throws {
        try await Self.serve { server, _ in
            let root = "/arcgis/rest/services/Trees/MapServer/ogc"
            for (asked, status, word) in [
                ("map?bbox=1,2,3", 400, "BBOX"), ("map?bbox=0,0,1,1&crs=EPSG:999999", 400, "crs"),
                ("map?width=0", 400, "width"), ("map?height=999999", 400, "height"), ("map?f=bmp", 400, "f"),
                ("map?subset=Lat(0:1)", 400, "subset"), ("collections/7", 404, ""), ("collections/7/map", 404, ""),
                ("map/tiles/WebMercatorQuad/99/0/0", 404, ""),
            ] {
                let answer = try await server.client.get("\(root)/\(asked)")
                guard asked.contains("map?") || asked.contains("tiles") else {
                    // The layer is looked for before the operation begins, as for every other face.
                    #expect(answer.errorCode == status, "\(asked): \(answer.text)")
                    continue
                }
                #expect(answer.status == status, "\(asked): \(answer.status) \(answer.text)")
                #expect(word.isEmpty || answer.text.contains(word), "\(asked): \(answer.text)")
            }
        }
    }

    @Test("Tiles are those of the map service and of the vector tile service, with their limits and their grid")
    func tiles() async throws {
        try await Self.serve(trees: 5) { server, _ in
            for (face, below, own) in [
                ("MapServer", "map/tiles", "tile/14/8191/8192"), ("VectorTileServer", "tiles", "tile/14/8191/8192.pbf"),
            ] {
                let root = "/arcgis/rest/services/Trees/\(face)"
                let set = try await server.client.get("\(root)/ogc/\(below)/WebMercatorQuad").json
                let limits = try #require(set["tileMatrixSetLimits"]?.arrayValue?.first { $0["tileMatrix"] == "14" })
                #expect(limits["minTileCol"] == 8_192 || limits["minTileCol"] == 8_191, "\(limits)")
                let item = try Self.path("item", in: set, server)
                let address = item.replacing("{tileMatrix}", with: "14").replacing("{tileRow}", with: "8191")
                    .replacing("{tileCol}", with: "8192")
                let tile = try await server.client.get(address)
                let wanted = try await server.client.get("\(root)/\(own)")
                #expect(tile.status == 200 && tile.body == wanted.body && !tile.body.isEmpty)
            }
            let grid = try await server.client.get(
                "/arcgis/rest/services/Trees/MapServer/ogc/tileMatrixSets/WebMercatorQuad"
            ).json
            let first = try #require(grid["tileMatrices"]?.arrayValue?.first)
            let scale = try #require(first["scaleDenominator"]?.doubleValue)
            #expect(abs(scale - 559_082_264.028_717) < 1e-3)
        }
    }

    @Test(
        "GDAL reads a map of a layer by it",
        .enabled("GDAL is not installed, or built without this standard") {
            guard Tool.isInstalled("gdal_translate") else { return false }
            return try await Tool.run("gdalinfo", ["--formats"]).text.contains("OGCAPI")
        })
    func gdal() async throws {
        try await Self.serve(trees: 50) { server, _ in
            let root = try #require(URL(string: server.client.base))
            let address = "http://\(try #require(root.host)):\(try #require(root.port))"
            let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-ogc-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let image = folder.appending(path: "map.png")
            let dataset = "OGCAPI:\(address)/arcgis/rest/services/Trees/MapServer/ogc/collections/0"
            let read = try await Tool.run(
                "gdal_translate",
                [
                    "-q", "-of", "PNG", "-oo", "API=MAP", "-projwin", "-0.001", "0.001", "0.001", "-0.001", "-outsize",
                    "100", "100", dataset, image.path,
                ])
            try #require(read.status == 0, "\(read.standardError)")
            let middle = try await MapImages.pixels(Array(try Data(contentsOf: image)), bands: 4)[50 * 100 + 50]
            #expect(Array(middle.prefix(3)) == [255, 0, 0])
        }
    }
}
