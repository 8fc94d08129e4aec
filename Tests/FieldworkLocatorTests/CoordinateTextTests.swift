import Foundation
import Testing

@testable import FieldworkLocator

@Suite("Coordinates as text")
struct CoordinateTextTests {
    @Test(
        "Degrees in all their spellings are read as the same place",
        arguments: [
            "37.7749, -122.4194", "37.7749 -122.4194", "37.7749N 122.4194W", "N37.7749 W122.4194",
            "37.7749° N, 122.4194° W",
            "-122.4194E, 37.7749N", "122.4194W 37.7749N", "37°46'29.64\"N 122°25'9.84\"W",
            "37° 46′ 29.64″ N, 122° 25′ 9.84″ W",
            "37 46.494 N, 122 25.164 W", "37 46 29.64 N 122 25 9.84 W", "37,7749; -122,4194",
            "37°46'29.64'' -122°25'9.84''",
        ])
    func spellings(_ text: String) throws {
        if text.hasPrefix("-122.4194E") {
            #expect(CoordinateText.read(text) == nil, "a sign and a letter contradict one another")
            return
        }
        let place = try #require(CoordinateText.read(text))
        #expect(abs(place.y - 37.7749) < 1e-6 && abs(place.x + 122.4194) < 1e-6, "\(place)")
    }

    @Test("UTM and MGRS name the same place")
    func grids() throws {
        // Computed by PROJ.
        let utm = try #require(CoordinateText.read("10N 551130.77 4180998.88"))
        #expect(abs(utm.y - 37.7749) < 1e-6 && abs(utm.x + 122.4194) < 1e-6, "\(utm)")
        let grid = try #require(CoordinateText.read("10SEG 51130 80998"))
        #expect(abs(grid.y - 37.7749) < 1e-5 && abs(grid.x + 122.4194) < 1e-5, "\(grid)")
        let south = try #require(CoordinateText.read("56H 334900.57 6252288.75"))
        #expect(abs(south.y + 33.8568) < 1e-6 && abs(south.x - 151.2153) < 1e-6, "\(south)")
    }

    @Test(
        "What is no pair of coordinates is not read as one",
        arguments: [
            "", "12 34", "120 Main St", "91.0, 10.0", "10.0, 181.0", "37.7749", "1,2,3,4", "N37", "37.5N 12.5S",
            "10A 1 2",
            "5th Ave & 10th St", "12, 13 Main", "٣٧", "1e400, 2",
        ])
    func others(_ text: String) { #expect(CoordinateText.read(text) == nil) }
}
