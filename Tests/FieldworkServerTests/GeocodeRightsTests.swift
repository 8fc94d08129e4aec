import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import TestSupport
import Testing

@testable import FieldworkServer

/// Who may use a locator: its item in the portal decides, as with any service.
@Suite("Rights to locators", .fewAtATime)
struct GeocodeRightsTests {
    private static let author = Author(name: "test", address: "")
    private static let operations: [(path: String, parameters: KeyValuePairs<String, String>)] = [
        ("findAddressCandidates", ["f": "json", "SingleLine": "121 Main St"]),
        ("suggest", ["f": "json", "text": "121 main"]),
        ("reverseGeocode", ["f": "json", "location": "-122.50012,45.501"]),
        (
            "geocodeAddresses",
            ["f": "json", "addresses": #"{"records":[{"attributes":{"OBJECTID":1,"SingleLine":"121 Main St"}}]}"#]
        ),
    ]

    /// What each operation answers a person, and the locators that the portal tells of.
    private func answers(_ people: PeopleServer, as name: String?) async throws -> (codes: [Int?], told: [String]) {
        var codes: [Int?] = []
        for operation in Self.operations {
            codes.append(
                try await people.post("Trees/GeocodeServer/\(operation.path)", operation.parameters, as: name).errorCode
            )
        }
        let portal = try await people.get("/arcgis/sharing/rest/portals/self", as: name).json
        let told = (portal["helperServices"]?["geocode"]?.arrayValue ?? []).compactMap { $0["url"]?.stringValue }
        return (codes, told)
    }

    @Test("A private locator answers its owner alone, in all operations, and the portal tells nobody else of it")
    func ofOne() async throws {
        try await PeopleServer.with { people in
            try await people.portal.addServiceItems(["Trees"], as: .geocoding)
            let item = try #require(try await people.portal.item(ofService: "Trees", as: .geocoding))
            try await people.portal.reassign(item.id, to: "owner", for: .everybody, by: Self.author)
            _ = try await people.portal.share(
                item.id, everyone: false, organisation: false, for: .everybody, by: Self.author)
            let own = try await answers(people, as: "owner")
            #expect(own.codes == [nil, nil, nil, nil])
            #expect(own.told.count == 1 && own.told[0].hasSuffix("/arcgis/rest/services/Trees/GeocodeServer"))
            let nobody = try await answers(people, as: nil)
            #expect(nobody.codes == [499, 499, 499, 499] && nobody.told.isEmpty)
            let other = try await answers(people, as: "viewer")
            #expect(other.codes == [403, 403, 403, 403] && other.told.isEmpty)
        }
    }

    @Test("A locator that is shared with everyone answers and is told to whoever asks")
    func ofAll() async throws {
        try await PeopleServer.with { people in
            try await people.portal.addServiceItems(["Trees"], as: .geocoding)
            let item = try #require(try await people.portal.item(ofService: "Trees", as: .geocoding))
            _ = try await people.portal.share(item.id, everyone: true, for: .everybody, by: Self.author)
            let nobody = try await answers(people, as: nil)
            #expect(nobody.codes == [nil, nil, nil, nil] && nobody.told.count == 1)
        }
    }
}
