import Foundation
import Testing

@testable import FieldworkCollect

/// Under which name a device keeps what belongs to a map.
@Suite struct MapAddressTests {
    private func root(_ port: Int) throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(port)/arcgis/rest/services"))
    }

    @Test func aServiceOfOnesOwnIsTheSameOnAnotherPort() throws {
        let first = MapAddress(try root(8_080).appending(path: "Trees/FeatureServer"), ownRoot: try root(8_080))
        let later = try #require(MapAddress(key: first.key, ownRoot: try root(9_090)))
        #expect(later.url.absoluteString == "http://127.0.0.1:9090/arcgis/rest/services/Trees/FeatureServer")
        #expect(later.key == first.key)
        #expect(later.folderName == first.folderName)
        #expect(MapAddress(key: first.key, ownRoot: nil) == nil)
    }

    @Test func aServiceElsewhereIsItsAddress() throws {
        let url = try #require(URL(string: "https://example.org/arcgis/rest/services/Trees/FeatureServer"))
        let address = MapAddress(url, ownRoot: try root(8_080))
        #expect(address.key == url.absoluteString)
        #expect(MapAddress(key: address.key, ownRoot: nil)?.url == url)
        let other = MapAddress(try root(8_081).appending(path: "Trees/FeatureServer"), ownRoot: try root(8_080))
        #expect(other.key != MapAddress(other.url, ownRoot: try root(8_081)).key)
        #expect(!other.folderName.contains("/"))
    }
}
