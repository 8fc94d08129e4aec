import FieldworkGeometry
import FieldworkLocator
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// A locator over HTTP, as clients of the protocol ask it.
@Suite("Locators over the protocol", .fewAtATime)
struct GeocodeServiceTests {
    private static let zone = AddressZone(city: "Alderton", region: "OR", postal: "97001", country: "US")

    /// Runs a test against a server with a locator of one street with two houses, a crossing and a town.
    private func serve(_ test: (TestClient) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "locators-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await GeoPackageStore.open(at: folder)
        try Self.make(at: LocatorFile.url(name: "Town", in: folder))
        try await TestServer.with(
            store: store,
            configuration: ServerConfiguration(port: 0, definitionLifetime: .zero, dataFolder: folder)
        ) { server in
            try await test(server.client)
        }
    }

    /// Makes a locator of one street with two houses, a crossing and a town.
    static func make(at url: URL) throws {
        let builder = try LocatorBuilder(name: "Town", at: url)
        try builder.add(
            StreetRecord(
                name: "Main St", zone: zone, left: NumberRange(from: 101, to: 199),
                right: NumberRange(from: 100, to: 198),
                line: [-122.5, 45.5, -122.5, 45.502]))
        try builder.add(StreetRecord(name: "Oak Ave", zone: zone, line: [-122.5, 45.502, -122.498, 45.502]))
        for (number, x) in [("121", -122.5001), ("150", -122.4999)] {
            try builder.add(AddressRecord(number: number, street: "Main St", zone: zone, x: x, y: 45.501))
        }
        try builder.add(
            PlaceRecord(
                kind: .locality, type: "town", name: "Alderton", zone: AddressZone(region: "OR", country: "US"),
                weight: 5_000,
                x: -122.5, y: 45.5, reach: 3_000))
        try builder.finish()
    }

    @Test("The catalogue lists the locator, and its root has what clients read when they open it")
    func root() async throws {
        try await serve { client in
            let catalogue = try await client.get("", ["f": "json"]).json
            let services = catalogue["services"]?.arrayValue ?? []
            #expect(services.contains { $0["name"] == .string("Town") && $0["type"] == .string("GeocodeServer") })
            let root = try await client.get("town/GeocodeServer", ["f": "json"]).json
            #expect(root["singleLineAddressField"]?["name"] == .string("SingleLine"))
            #expect(root["locatorProperties"]?["MaxBatchSize"] == .integer(1_000))
            #expect(root["locatorProperties"]?["SuggestedBatchSize"] == .integer(150))
            #expect(root["capabilities"] == .string("Geocode,ReverseGeocode,Suggest"))
            #expect(root["spatialReference"]?["wkid"] == .integer(4_326))
            let names = (root["candidateFields"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
            #expect(names.contains("Match_addr") && names.contains("Shape"))
            let page = try await client.get("Town/GeocodeServer", headers: [("Accept", "text/html")])
            #expect(page.text.contains("findAddressCandidates"))
            #expect(try await client.get("Nowhere/GeocodeServer", ["f": "json"]).errorCode == 404)
            #expect(try await client.get("Town/GeocodeServer/export", ["f": "json"]).errorCode == 400)
        }
    }

    @Test("An address is found in one line and in parts, by GET and by POST, in the reference that is wanted")
    func candidates() async throws {
        try await serve { client in
            let path = "Town/GeocodeServer/findAddressCandidates"
            let one = try await client.get(
                path, ["f": "json", "singleLine": "121 main street, Alderton", "outFields": "*"]
            ).json
            let first = try #require(one["candidates"]?.arrayValue?.first)
            #expect(
                first["address"] == .string("121 Main St, Alderton, OR, 97001") && first["score"]?.doubleValue == 100)
            #expect(first["location"]?["x"]?.doubleValue == -122.5001 && first["location"]?["y"]?.doubleValue == 45.501)
            #expect(first["attributes"]?["Addr_type"] == .string("PointAddress"))
            #expect(
                first["attributes"]?["StName"] == .string("Main") && first["attributes"]?["Country"] == .string("US"))
            let parts = try await client.post(
                path, ["f": "json", "Address": "121 Main St", "City": "Alderton", "Region": "OR", "outSR": "3857"]
            ).json
            let other = try #require(parts["candidates"]?.arrayValue?.first)
            #expect(parts["spatialReference"]?["latestWkid"] == .integer(3_857))
            #expect(abs((other["location"]?["x"]?.doubleValue ?? 0) + 13_636_648.7) < 1)
            #expect(other["attributes"]?.objectValue?.isEmpty == true, "without outFields there are no attributes")
            let none = try await client.get(path, ["f": "json", "SingleLine": "Zyxwvut Qqqq"]).json
            #expect(none["candidates"]?.arrayValue?.isEmpty == true)
            let cross = try await client.get(
                path, ["f": "json", "SingleLine": "Main & Oak, Alderton", "outFields": "Addr_type"]
            ).json
            #expect(cross["candidates"]?.arrayValue?.first?["attributes"]?["Addr_type"] == .string("StreetInt"))
            #expect(try await client.get(path, ["f": "json"]).errorCode == 400)
            let outside = try await client.get(
                path, ["f": "json", "SingleLine": "121 Main St", "searchExtent": "0,0,1,1"]
            ).json
            #expect(outside["candidates"]?.arrayValue?.isEmpty == true)
        }
    }

    @Test("A house is answered with its place on the street where that is wanted, and in the countries that are wanted")
    func streetPlacesAndCountries() async throws {
        try await serve { client in
            let text = ["f": "json", "SingleLine": "121 Main St, Alderton"]
            let path = "Town/GeocodeServer/findAddressCandidates"
            func first(_ more: (String, String)...) async throws -> JSONValue? {
                var pairs: [String: String] = text
                for (name, value) in more { pairs[name] = value }
                let query = pairs.map {
                    "\($0.key)=\($0.value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
                }
                return try await client.get("\(path)?\(query.joined(separator: "&"))").json["candidates"]?.arrayValue?
                    .first
            }
            #expect(try await first(("locationType", "rooftop"))?["location"]?["x"]?.doubleValue == -122.5001)
            #expect(try await first(("locationType", "street"))?["location"]?["x"]?.doubleValue == -122.5)
            #expect(try await first(("locationType", "roof")) == nil)
            #expect(try await first(("sourceCountry", "USA")) != nil)
            #expect(try await first(("sourceCountry", "DE")) == nil)
            let street = try await client.get(
                "Town/GeocodeServer/reverseGeocode",
                ["f": "json", "location": "-122.50012,45.501", "locationType": "street"]
            ).json
            #expect(street["location"]?["x"]?.doubleValue == -122.5 && street["address"]?["AddNum"] == .string("121"))
            for (country, count) in [("US,CA", 1), ("FR", 0)] {
                let suggested = try await client.get(
                    "Town/GeocodeServer/suggest", ["f": "json", "text": "121 mai", "countryCode": country]
                ).json
                #expect(suggested["suggestions"]?.arrayValue?.count == count, "\(country)")
            }
        }
    }

    @Test("A suggestion leads to what it says by its magic key")
    func suggestions() async throws {
        try await serve { client in
            let answer = try await client.get("Town/GeocodeServer/suggest", ["f": "json", "text": "121 mai"]).json
            let first = try #require(answer["suggestions"]?.arrayValue?.first)
            #expect(
                first["text"] == .string("121 Main St, Alderton, OR, 97001") && first["isCollection"] == .bool(false))
            let key = try #require(first["magicKey"]?.stringValue)
            let found = try await client.get(
                "Town/GeocodeServer/findAddressCandidates", ["f": "json", "SingleLine": "anything", "magicKey": key]
            ).json
            #expect(found["candidates"]?.arrayValue?.first?["address"] == .string("121 Main St, Alderton, OR, 97001"))
            let stale = try await client.get(
                "Town/GeocodeServer/findAddressCandidates",
                ["f": "json", "SingleLine": "150 Main St", "magicKey": "f1.deadbeef.1.2"]
            ).json
            #expect(stale["candidates"]?.arrayValue?.first?["address"] == .string("150 Main St, Alderton, OR, 97001"))
            #expect(try await client.get("Town/GeocodeServer/suggest", ["f": "json"]).errorCode == 400)
        }
    }

    @Test("A batch has one answer a record, in their order, and says which were not found")
    func batch() async throws {
        try await serve { client in
            let records = """
                {"records":[{"attributes":{"OBJECTID":0,"SingleLine":"150 Main St, Alderton"}},
                {"attributes":{"OBJECTID":7,"SingleLine":"Qqqqq"}},
                {"attributes":{"OBJECTID":3,"Address":"121 Main St","City":"Alderton"}}]}
                """
            let answer = try await client.post(
                "Town/GeocodeServer/geocodeAddresses", ["f": "json", "addresses": records, "outFields": "*"]
            ).json
            let locations = answer["locations"]?.arrayValue ?? []
            #expect(locations.count == 3)
            #expect(locations.map { $0["attributes"]?["ResultID"]?.integerValue } == [0, 7, 3])
            #expect(locations.map { $0["attributes"]?["Status"]?.stringValue } == ["M", "U", "M"])
            #expect(locations.last?["address"] == .string("121 Main St, Alderton, OR, 97001"))
            #expect(locations.dropFirst().first?["location"] == nil)
            for (count, code) in [(1_000, nil), (1_001, 400)] {
                let record = #"{"attributes":{"OBJECTID":1,"SingleLine":"1"}}"#
                let many = "{\"records\":[\(Array(repeating: record, count: count).joined(separator: ","))]}"
                let path = "Town/GeocodeServer/geocodeAddresses"
                #expect(
                    try await client.post(path, ["f": "json", "addresses": many]).errorCode == code, "\(count) records")
            }
        }
    }

    @Test("The address of a place is that of the house, of the street, or of the town")
    func reverse() async throws {
        try await serve { client in
            let path = "Town/GeocodeServer/reverseGeocode"
            let house = try await client.get(path, ["f": "json", "location": "-122.50012,45.501"]).json
            #expect(house["address"]?["Match_addr"] == .string("121 Main St, Alderton, OR, 97001"))
            #expect(house["address"]?["Address"] == .string("121 Main St"))
            #expect(house["location"]?["spatialReference"]?["wkid"] == .integer(4_326))
            let mercator = #"{"x":-13636650,"y":5700741,"spatialReference":{"wkid":102100}}"#
            let street = try await client.post(
                path, ["f": "json", "location": mercator, "featureTypes": "StreetAddress", "outSR": "102100"]
            ).json
            #expect(street["address"]?["Addr_type"] == .string("StreetAddress"), "\(street)")
            let town = try await client.get(path, ["f": "json", "location": "-122.51,45.505"]).json
            #expect(
                town["address"]?["Addr_type"] == .string("Locality") && town["address"]?["City"] == .string("Alderton"))
            let crossing = try await client.get(
                path, ["f": "json", "location": "-122.5,45.50201", "returnIntersection": "true"]
            ).json
            #expect(crossing["address"]?["Addr_type"] == .string("StreetInt"))
            let nothing = try await client.get(path, ["f": "json", "location": "10,10"])
            #expect(nothing.errorCode == 400 && nothing.text.contains("Unable to find address"))
            #expect(try await client.get(path, ["f": "json"]).errorCode == 400)
            #expect(
                try await client.get(path, ["f": "json", "location": "1,2", "featureTypes": "Nonsense"]).errorCode
                    == 400)
        }
    }

    @Test("A locator that is replaced answers from the new file at once")
    func replaced() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "locators-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await GeoPackageStore.open(at: folder)
        let url = LocatorFile.url(name: "Town", in: folder)
        try await TestServer.with(
            store: store, configuration: ServerConfiguration(port: 0, definitionLifetime: .zero, dataFolder: folder)
        ) { server in
            let path = "Town/GeocodeServer/findAddressCandidates"
            #expect(try await server.client.get(path, ["f": "json", "SingleLine": "1 Elm St"]).errorCode == 404)
            for street in ["Elm St", "Ash St"] {
                let builder = try LocatorBuilder(name: "Town", at: url)
                try builder.add(AddressRecord(number: "1", street: street, zone: Self.zone, x: 1, y: 2))
                try builder.finish()
                let found = try await server.client.get(path, ["f": "json", "SingleLine": "1 \(street)"]).json
                #expect(found["candidates"]?.arrayValue?.first?["score"]?.doubleValue == 100, "\(street)")
            }
        }
    }
}
