import BrowserSupport
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// The list: its pages, its order by distance, and what it shows by value.
@Suite struct ListTests {
    /// The names of the rows in their order, as the table has them.
    private static func rows(_ page: String) -> [String] {
        page.matches(of: /aria-label="Show (Cause \d+) on the map"/).map { String($0.1) }
    }

    private static func look(_ visitor: PlainClient, lon: Double = -97.8, lat: Double = 38.2) async throws {
        _ = try await visitor.post(
            "/data/view",
            [
                "lon": "\(lon)", "lat": "\(lat)", "zoom": "9", "west": "\(lon - 5)", "south": "\(lat - 5)",
                "east": "\(lon + 5)", "north": "\(lat + 5)",
            ])
    }

    private static func with(points: Int, _ test: (DamageField, PlainClient) async throws -> Void) async throws {
        try await DamageField.with(points: points) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await look(visitor)
            try await test(field, visitor)
        }
    }

    @Test func byDistanceItGoesOnPageByPageNearestFirst() async throws {
        try await Self.with(points: 120) { _, visitor in
            func distance(_ name: String) -> Double {
                let place = DamageField.place((Int(name.dropFirst(6)) ?? 1) - 1)
                return Place(longitude: -97.8, latitude: 38.2).flatMap { middle in
                    Place(longitude: place.longitude, latitude: place.latitude).map { middle.distance(to: $0).metres }
                } ?? 0
            }
            var seen: [String] = []
            for scope in ["view", "all"] {
                seen = []
                for start in [0, 50, 100] {
                    let page = try await visitor.get("/list/0?sort=distance&scope=\(scope)&start=\(start)").text
                    #expect(page.contains(">Next</a>") == (start < 100))
                    seen += Self.rows(page)
                }
                #expect(seen.count == 120)
                #expect(Set(seen).count == 120)
                let distances = seen.map(distance)
                #expect(zip(distances, distances.dropFirst()).allSatisfy { $0 <= $1 + 1e-6 }, "\(scope)")
            }
        }
    }

    /// Far more features than are fetched: those that come are the nearest of all, not the first of the table.
    @Test func theNearestOfManyAreFoundWithoutFetchingThemAll() async throws {
        try await Self.with(points: 2_000) { _, visitor in
            // The grid goes to the north: its last row is the farthest from the first one.
            for index in [1_999, 1_002, 0] {
                let place = DamageField.place(index)
                try await Self.look(visitor, lon: place.longitude, lat: place.latitude)
                let page = try await visitor.get("/list/0?sort=distance&scope=all").text
                #expect(page.contains("50 of 2,000"))
                #expect(Self.rows(page).first == "Cause \(index + 1)")
                let near = try await visitor.get("/map").text
                #expect(near.contains("Cause \(index + 1)"))
            }
        }
    }

    @Test func itShowsTheRowsOfOneValueAndOfARange() async throws {
        try await Self.with(points: 25) { field, visitor in
            let all = try await visitor.get("/list/0?scope=all&sort=primcause&choices=open").text
            #expect(all.contains(#"<optgroup label="Damage type">"#))
            #expect(all.contains(#"<option value="typdamage=Major">Major</option>"#))
            #expect(!all.contains("Show all again"))
            // The form is behind its button, which says that something is left out.
            let shut = try await visitor.get("/list/0?scope=all&sort=primcause&only=typdamage%3DMajor").text
            #expect(!shut.contains("<optgroup") && shut.contains(#"aria-label="Filter and sort, in use""#))
            let major = try await visitor.get(
                "/list/0?scope=all&sort=primcause&only=typdamage%3DMajor&choices=open"
            ).text
            #expect(Self.rows(major).count == 5)
            #expect(
                major.contains("5 features with Damage type: Major")
                    || major.contains("5 buildings with Damage type: Major"))
            #expect(major.contains(#"<option value="typdamage=Major" selected>"#))
            #expect(major.contains("Show all again"))
            let crowded = try await visitor.get("/list/0?scope=all&sort=primcause&range=occupants&low=5").text
            let want = try await field.serverFeatures().count { feature in
                if case .integer(let number)? = feature.attributes["occupants"] { number >= 5 } else { false }
            }
            #expect(Self.rows(crowded).count == want)
            let both = try await visitor.get(
                "/list/0?scope=all&sort=primcause&only=typdamage%3DMajor&range=occupants&low=5&high=120&q=cause"
            ).text
            #expect(Self.rows(both).count < 5)
            let none = try await visitor.get(
                "/list/0?scope=all&sort=primcause&only=typdamage%3DMajor&range=occupants&low=100"
            ).text
            #expect(none.contains("with Damage type: Major; Occupants at least 100."))
        }
    }

    /// A heading stands above each group, and above the first row of each page, with how many the group has in all.
    @Test func itStandsInGroupsWithTheirCounts() async throws {
        try await Self.with(points: 120) { field, visitor in
            let plain = try await visitor.get("/list/0?scope=all&sort=primcause&choices=open").text
            #expect(plain.contains(#"<option value="typdamage">Damage type</option>"#))
            #expect(!plain.contains(#"class="row-group""#))
            func headings(_ page: String) -> [String] {
                page.matches(of: /<tr class="row-group"><th[^>]*><span dir="auto">([^<]*)<\/span> <span[^>]*>([^<]*)</)
                    .map {
                        "\($0.1), \($0.2)"
                    }
            }
            let first = try await visitor.get("/list/0?scope=all&group=typdamage&choices=open").text
            #expect(first.contains(#"<option value="typdamage" selected>"#))
            #expect(
                headings(first).map { $0.prefix(24) } == [
                    "Damage type: Affected, 2", "Damage type: Destroyed, ", "Damage type: Inaccessibl",
                ])
            #expect(headings(first).allSatisfy { $0.contains(", 24 ") })
            // 24 of the first, 24 of the second, two of the third: the next page goes on with that.
            let next = try #require(first.firstMatch(of: /href="([^"]+)" data-panel>Next</)).1
            let second = try await visitor.get(String(next).replacingOccurrences(of: "&amp;", with: "&")).text
            #expect(headings(second).first?.hasPrefix("Damage type: Inaccessible, 24 ") == true)
            let rows = Self.rows(first) + Self.rows(second)
            #expect(rows.count == 100 && Set(rows).count == 100)
            // A filter holds in the groups too, and what has no value is a group.
            let one = try #require(try await field.serverFeatures().first { $0.attributes["occupants"] == .integer(6) })
            let none = FeatureEdit(objectID: one.objectID, attributes: [("typdamage", .null)])
            _ = try await field.store.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, updates: [none])], moment: Date()), to: DamageField.service)
            let few = try await visitor.get("/list/0?scope=all&group=typdamage&range=occupants&low=6").text
            #expect(headings(few).contains { $0.hasPrefix("Damage type: No value, 1 ") })
        }
    }

    @Test func aValueWithAQuoteInItIsAFilterLikeEveryOther() async throws {
        var definition = DamageField.definition()
        let owners = DomainDefinition(
            name: "Owner", kind: .codedValues(["d'Or", "d", "City"].map { .init(code: .text($0), name: $0) }))
        definition.layers[0].fields.append(
            FieldDefinition(name: "owner", alias: "Owner", type: .string, length: 40, domain: owners))
        try await DamageField.with(points: 5, definition: definition) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await Self.look(visitor)
            let updates = [(1, "d'Or"), (2, "d"), (3, "d'Or")].map { id, owner in
                FeatureEdit(objectID: Int64(id), attributes: [("owner", .text(owner))])
            }
            _ = try await field.store.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, updates: updates)], moment: Date()), to: DamageField.service)
            let page = try await visitor.get("/list/0?scope=all&sort=primcause&only=owner%3Dd%27Or")
            #expect(page.status == 200)
            #expect(Self.rows(page.text).sorted() == ["Cause 1", "Cause 3"])
        }
    }

    @Test("A value in a condition ends where it ends")
    func literals() {
        #expect(ListFilter.literal("d'Or") == "'d''Or'")
        #expect(ListFilter.literal("'") == String(repeating: "'", count: 4))
        #expect(ListFilter.literal(Int64.min) == "-9223372036854775808")
        #expect(ListFilter.literal(1e-7) == "0.0000001")
        #expect(ListFilter.literal(Data([0])) == nil)
    }

    /// What isn't a value or a field of the layer is no filter, and no part of a condition.
    @Test(arguments: ["only=typdamage%3DMajor%27%20OR%201%3D1", "range=OBJECTID%3B&low=1", "range=occupants&low=x"])
    func whatTheLayerDoesNotHaveIsNoFilter(query: String) async throws {
        try await Self.with(points: 5) { _, visitor in
            let page = try await visitor.get("/list/0?scope=all&sort=primcause&\(query)")
            #expect(page.status == 200)
            #expect(Self.rows(page.text).count == 5)
        }
    }
}
