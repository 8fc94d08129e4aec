import BrowserSupport
import Foundation
import Testing

@testable import FieldworkCollect

/// One search for features, addresses, places and coordinates, as a visitor without script uses it.
@Suite struct SearchTests {
    private static func link(_ page: String, _ pattern: Regex<(Substring, Substring)>) throws -> String {
        try #require(page.firstMatch(of: pattern)?.output.1, "\(page)").replacingOccurrences(of: "&amp;", with: "&")
    }

    @Test func featuresAddressesPlacesAndCoordinatesAreFoundByOneText() async throws {
        try await TreesField.with(hasLocator: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let address = try await visitor.get("/search?q=3210%20holman").text
            #expect(address.contains("Addresses and places") && address.contains("3210 NE Holman St"))
            #expect(address.contains("Portland, OR, 97211") && address.contains("From Portland"))
            let tree = try await visitor.get("/search?q=3254").text
            #expect(tree.contains("Features") && tree.contains("3254 NE Ainsworth St"))
            let city = try await visitor.get("/search?q=portland").text
            #expect(city.contains("&amp;z=11"), "a city is looked at from farther away")
            let place = try await visitor.get("/search?q=45.5661,%20-122.63").text
            #expect(place.contains("/map/at?lat=45.5661&amp;lon=-122.63&amp;name=45%2E566100"))
            let nothing = try await visitor.get("/search?q=zzyzxqq").text
            #expect(nothing.contains("Nothing found for") && nothing.contains("zzyzxqq"))
            let quoted = try await visitor.get("/search?q=%3Cb%3E%27%20OR%201%3D1").text
            #expect(!quoted.contains("<b>'") && quoted.contains("&lt;b&gt;"))
            #expect(try await visitor.get("/search?q=a").text.contains("Type 2 letters or more."))
        }
    }

    @Test func aChosenPlaceIsShownWithAWayToAddThereAndIsRememberedOnTheDevice() async throws {
        try await TreesField.with(hasLocator: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let found = try await visitor.get("/search?q=3220%20NE%20Holman%20St").text
            let page = try await visitor.get(try Self.link(found, /href="(\/map\/at[^"]*)"/)).text
            #expect(page.contains("3220 NE Holman St") && page.contains("data-found-place"))
            #expect(page.contains(#"action="/add/0""#) && page.contains(#"value="45.5661""#))
            let recent = try await visitor.get("/search").text
            #expect(recent.contains("Recent") && recent.contains("3220 NE Holman St, Portland, OR, 97211"))
            _ = try await visitor.post("/search/forget", [:])
            #expect(!(try await visitor.get("/search").text.contains("3220 NE Holman St")))
            #expect(try await visitor.get("/map/at?lat=95&lon=1").status >= 400)
        }
    }

    @Test func suggestionsComeWhileOneTypesAndLeadToTheirPlaces() async throws {
        try await TreesField.with(hasLocator: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let typed = try await visitor.get("/data/search/places?q=3230%20hol").text
            let chosen = try await visitor.get(try Self.link(typed, /href="(\/search\/place[^"]*)"/))
            #expect(
                chosen["Location"]?.hasPrefix("/map/at?lat=45.5661&lon=-122.637") == true,
                "\(chosen["Location"] ?? "")")
            #expect(try await visitor.get("/data/search/features?q=3254").text.contains("3254 NE Ainsworth St"))
            #expect(try await visitor.get("/data/search/places?q=3").text.contains("data-found=\"0\""))
            let key = try await visitor.get("/search/place?text=3240%20NE%20Holman%20St&key=f1.other.1.2")
            #expect(key["Location"]?.contains("lon=-122.636") == true, "a key that means nothing: the text is searched")
        }
    }

    @Test func withoutALocatorOrAServerTheSearchSaysSo() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            #expect(try await visitor.get("/search?q=holman").text.contains("This map has no locator."))
            let here = try await visitor.get("/data/address?lat=45.5661&lon=-122.63").text
            #expect(here.contains("This map has no locator."))
        }
        try await TreesField.with(hasLocator: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let here = try await visitor.get("/data/address?lat=45.5661&lon=-122.63").text
            #expect(here.contains(#""address":"3300 NE Holman St""#), "\(here)")
            await field.services.stop()
            let page = try await visitor.get("/search?q=3254").text
            #expect(page.contains("The locator doesn") && page.contains("its features were not searched"), "\(page)")
        }
    }
}
