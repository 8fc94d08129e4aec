import FieldworkGeometry
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Maps by address", .fewAtATime)
struct MapAddressTests {
    /// A portal with two items, and a plain server with one document.
    private struct Portal: ServiceClient {
        static let document = #"""
            {"operationalLayers":[{"id":"a","title":"A","layerType":"ArcGISFeatureLayer",
            "url":"http://portal.test/server/A/FeatureServer/0"}],"baseMap":{"title":"Streets","baseMapLayers":[]},
            "own":1,"version":"2.31"}
            """#
        private static let texts = [
            "/portal/sharing/rest/content/items/abc":
                #"{"id":"abc","type":"Web Map","title":"Trees","tags":["a","b"]}"#,
            "/portal/sharing/rest/content/items/abc/data": document,
            "/portal/sharing/rest/content/items/svc":
                #"{"id":"svc","type":"Feature Service","title":"Svc","url":"http://portal.test/server/A/FeatureServer"}"#,
            "/portal/sharing/rest/content/items/shut": #"{"error":{"code":403,"message":"No access."}}"#,
            "/maps/trees.json": document,
            "/maps/page.html": "<html>",
        ]

        func answer(to request: ServiceRequest) async throws -> ServiceAnswer {
            guard let text = Self.texts[request.url.path] else {
                throw ServiceError.serverFailure(details: "There is nothing at \(request.url.path).")
            }
            return ServiceAnswer(bytes: Array(text.utf8))
        }
    }

    private static let environment = ServiceEnvironment(
        directory: FileManager.default.temporaryDirectory.appending(path: "fieldwork-maps-\(UUID().uuidString)"),
        client: Portal())

    private static func map(_ address: String) throws -> Map {
        let url = try #require(URL(string: address))
        return try #require(Map(url: url, environment: environment))
    }

    @Test(
        "Pages of items, viewers, descriptions and plain documents name a map",
        arguments: [
            "http://portal.test/portal/home/item.html?id=abc",
            "http://portal.test/portal/home/webmap/viewer.html?webmap=abc",
            "http://portal.test/portal/apps/mapviewer/index.html?webmap=abc",
            "http://portal.test/portal/sharing/rest/content/items/abc",
            "http://portal.test/portal/sharing/rest/content/items/abc/data",
            "http://portal.test/maps/trees.json",
        ])
    func addresses(_ address: String) async throws {
        let map = try Self.map(address)
        let own = GroupLayer()
        map.addOperationalLayer(own)
        #expect(map.operationalLayers.count == 1)
        try await map.load()
        #expect(map.operationalLayers.first?.name == "A" && map.operationalLayers.last === own)
        #expect(map.basemap?.name == "Streets")
        let item = map.item as? PortalItem
        #expect((item == nil) == address.contains("/maps/"))
        if let item { #expect(item.title == "Trees" && item.tags == ["a", "b"]) }
        map.removeOperationalLayer(own)
        #expect(map.webMap == (try JSONParser.parse(Portal.document)), "what the document says survives")
    }

    @Test("What is no web map says so by its error, and can be tried again")
    func failures() async throws {
        await #expect(throws: CommonError.self) {
            try await Self.map("http://portal.test/portal/home/item.html?id=svc").load()
        }
        await #expect(throws: CommonError.self) { try await Self.map("http://portal.test/maps/page.html").load() }
        await #expect(throws: CommonError.self) { try await Self.map("file:///nowhere/at/all.json").load() }
        let shut = try Self.map("http://portal.test/portal/home/item.html?id=shut")
        await #expect(throws: ServiceError.serverFailure(details: "No access. (code 403)", code: 403)) {
            try await shut.load()
        }
        await #expect(throws: ServiceError.self) { try await shut.retryLoad() }
        #expect(shut.loadStatus == .failed && shut.operationalLayers.isEmpty)
        // An id is no way to another place of the server.
        let bent = "http://portal.test/portal/home/item.html?id=../../admin"
        let place = try #require(URL(string: bent))
        #expect(PortalItem(url: place) == nil)
    }

    @Test("A file is a map's address as well")
    func file() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-map-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(Portal.document.utf8).write(to: file)
        let map = try Self.map(file.absoluteString)
        try await map.load()
        #expect(map.operationalLayers.count == 1 && map.item == nil)
    }

    @Test("The table of an item has the service's address")
    func items() async throws {
        let page = try #require(URL(string: "http://portal.test/portal/home/item.html?id=svc"))
        let item = try #require(PortalItem(url: page, environment: Self.environment))
        let table = ServiceFeatureTable(item: item, layerID: 2, environment: Self.environment)
        #expect(table.url == nil && table.layerID == 2)
        // The service behind it is not there; its address has been found.
        await #expect(throws: ServiceError.self) { try await table.load() }
        #expect(table.url?.absoluteString == "http://portal.test/server/A/FeatureServer/2")
        #expect(FeatureLayer(featureTable: table).item === item)
    }
}
