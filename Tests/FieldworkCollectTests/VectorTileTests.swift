import Foundation
import FieldworkTiles
import Testing

@testable import FieldworkCollect

@Suite struct VectorTileTests {
    @Test func tilesCoverThePlaneAndNothingElse() throws {
        let world = try #require(TileAddress(level: 0, column: 0, row: 0))
        #expect(world.xMin == -WebMercator.halfSide)
        #expect(world.yMax == WebMercator.halfSide)
        #expect(TileAddress(level: 0, column: 1, row: 0) == nil)
        #expect(TileAddress(level: 2, column: 3, row: 3) != nil)
        #expect(TileAddress(level: 2, column: -1, row: 0) == nil)
        #expect(TileAddress(level: FieldworkTiles.Limits.tileLevel + 1, column: 0, row: 0) == nil)
    }

    @Test func crowdedLevelsAreThinnedAndOthersAreNot() {
        let wide = 2 * WebMercator.halfSide
        #expect(TileMaker.share(total: 5_000, width: 1e6, height: 1e6, side: wide) == 1)
        let far = TileMaker.share(total: 60_000, width: 3e4, height: 3e4, side: 1e5)
        #expect(far < 0.06 && far > 0.02)
        let near = TileMaker.share(total: 60_000, width: 3e4, height: 3e4, side: 600)
        #expect(near == 1)
    }

    @Test func placesGoThereAndBack() throws {
        let place = try #require(Place(longitude: -97.02, latitude: 37.41))
        let back = try #require(Place(x: place.x, y: place.y))
        #expect(abs(back.longitude - place.longitude) < 1e-9)
        #expect(abs(back.latitude - place.latitude) < 1e-9)
        #expect(Place(longitude: .nan, latitude: 0) == nil)
        #expect(Place(longitude: 0, latitude: 89) == nil)
        #expect(Place(longitude: 263, latitude: 0)?.longitude == -97)
    }

    @Test(arguments: [
        ("TreesOfPortland", "Trees of Portland"), ("DamageAssessment", "Damage Assessment"), ("GPSTracks", "GPSTracks"),
        ("street_trees", "street trees"), ("Street trees", "Street trees"), ("", ""),
    ])
    func namesOfServicesReadAsTitles(name: String, title: String) {
        #expect(OpenMap.title(of: name) == title)
    }

    @Test func distancesSayHowFarAndWhichWay() throws {
        let here = try #require(Place(longitude: -122.63, latitude: 45.56))
        let north = try #require(Place(longitude: -122.63, latitude: 45.561))
        #expect(here.distance(to: north).direction == "N")
        #expect(abs(here.distance(to: north).metres - 111.3) < 0.2)
        #expect(FieldText.distance(27.4) == "27 m")
        #expect(FieldText.distance(4_619) == "4.6 km")
    }

    @Test func aClockOfAnotherZoneThanTheDevicesIsNamed() throws {
        let date = Date(timeIntervalSince1970: 1_767_970_800)  // 2026-01-09 15:00 UTC
        let utc = try #require(TimeZone(identifier: "UTC"))
        let portland = try #require(TimeZone(identifier: "America/Los_Angeles"))
        func text(_ zone: TimeZone, daysLater days: Double = 0) -> String {
            FieldText.date(date, now: date.addingTimeInterval(days * 86_400), timeZone: zone, device: utc)
        }
        #expect(text(utc) == "today 15:00")
        #expect(text(portland) == "today 07:00 UTC-8")
        #expect(text(portland, daysLater: 5) == "9 Jan, 07:00 UTC-8")
        #expect(text(portland, daysLater: 400) == "9 Jan 2026")
        #expect(text(try #require(TimeZone(identifier: "Asia/Kolkata"))) == "today 20:30 UTC+5:30")
    }
}
