import Foundation
import TestSupport

@testable import FieldworkLocator

/// A town that is made from a seed, with streets and houses whose truth is known: a grid, a bent street, numbers that fall, odd and
/// even sides, gaps, half numbers, flats, names with accents and apostrophes.
struct GeneratedTown {
    struct Style {
        var zone: AddressZone
        var x: Double
        var y: Double
        var avenues: [String]
        var streets: [String]
        /// A street that bends: its pieces are parts of a half circle south of the others.
        var bend: String?
    }

    var addresses: [AddressRecord] = []
    var streets: [StreetRecord] = []
    private var generator: SeededGenerator

    /// 0.001 degrees from one street to the next: about 100 metres.
    private static let block = 0.001
    private static let blocks = 6

    init(_ style: Style, seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        for (index, name) in style.avenues.enumerated() {
            let x = style.x + Double(index) * Self.block
            for step in 0..<Self.blocks {
                let y = style.y + Double(step) * Self.block
                addBlock(name, style.zone, [x, y, x, y + Self.block], hundred: step + 1, falls: index % 3 == 2)
            }
        }
        for (index, name) in style.streets.enumerated() {
            let y = style.y + Double(index) * Self.block
            for step in 0..<(style.avenues.count - 1) {
                let x = style.x + Double(step) * Self.block
                addBlock(name, style.zone, [x, y, x + Self.block, y], hundred: step + 1, falls: false)
            }
        }
        if let name = style.bend {
            for step in 0..<Self.blocks {
                let line = (0...4).flatMap { part -> [Double] in
                    let angle = .pi * (1 + (Double(step) + Double(part) / 4) / Double(Self.blocks))
                    return [style.x + 2 * Self.block * (1 + cos(angle)), style.y - Self.block * (1 - 2 * sin(angle))]
                }
                addBlock(name, style.zone, line, hundred: step + 1, falls: step % 2 == 1)
            }
        }
    }

    /// Both sides of a piece of street: odd on the left, even on the right.
    private mutating func addBlock(
        _ name: String, _ zone: AddressZone, _ line: [Double], hundred: Int, falls: Bool
    ) {
        let length = LineFoot.length(line)
        let low = hundred * 100
        let range = { (first: Int) in
            falls ? NumberRange(from: first + 98, to: first) : NumberRange(from: first, to: first + 98)
        }
        streets.append(StreetRecord(name: name, zone: zone, left: range(low + 1), right: range(low), line: line))
        for step in 0..<12 where generator.next(below: 5) > 0 {
            let isLeft = step % 2 == 1
            let number = low + step * 8 + (isLeft ? 1 : 0)
            let share = Double(number - low) / 100
            let along = (falls ? 1 - share : share) * (length - 10) + 5
            guard let place = LineFoot.place(on: line, at: along, toLeft: isLeft ? 8 : -8) else { continue }
            var text = "\(number)"
            switch generator.next(below: 14) {
            case 0: text += " 1/2"
            case 1: text += "A"
            default: break
            }
            let hasFlats = generator.next(below: 15) == 0
            for flat in hasFlats ? ["Apt 1", "Apt 2"] : [""] {
                addresses.append(
                    AddressRecord(number: text, street: name, unit: flat, zone: zone, x: place.x, y: place.y))
            }
        }
    }

    static let styles: [Style] = [
        Style(
            zone: AddressZone(city: "Alderton", region: "OR", postal: "97001", country: "US"), x: -122.5, y: 45.5,
            avenues: [
                "N Alpha Ave", "Bravo Ave", "Saint Charlie Ave", "O'Delta Ave", "Avenue Rd",
                "Martin Luther King Jr Blvd",
            ],
            streets: ["1st St", "2nd St", "SW 3rd St", "Court St", "Maple Street", "Elm Ct", "Spruce Hill Ln"],
            bend: "Riverside Dr"),
        // Another town with streets of the same names.
        Style(
            zone: AddressZone(city: "Beechville", region: "OR", postal: "97002", country: "US"), x: -122.3, y: 45.4,
            avenues: ["N Alpha Ave", "Bravo Ave", "Oak Ave", "Hawthorn Ave"],
            streets: ["1st St", "2nd St", "Maple Street"]),
        Style(
            zone: AddressZone(city: "Köllenbach", region: "Hessen", postal: "60001", country: "DE"), x: 8.5, y: 50.1,
            avenues: ["Lindenstraße", "Große Gasse", "Am Mühlbach", "Goetheplatz"],
            streets: ["Schillerweg", "Bahnhofstr.", "Straße des 17. Juni", "Ahornallee"],
            bend: "Am Stadtgraben"),
        Style(
            zone: AddressZone(city: "Sääskylä", postal: "00100", country: "FI"), x: 24.9, y: 60.1,
            avenues: ["Mäntytie", "Koivukatu", "Pähkinäpolku"], streets: ["Kuusikuja", "Tammitie"]),
        Style(
            zone: AddressZone(city: "Saint-Érable", postal: "75000", country: "FR"), x: 2.3, y: 48.8,
            avenues: ["Rue de l'Érable", "Avenue du Chêne", "Boulevard des Tilleuls"],
            streets: ["Place d'Aulne", "Impasse du Frêne", "Chemin Vert"], bend: "Quai de l'Orme"),
        Style(
            zone: AddressZone(city: "Ashbury", region: "England", postal: "AB1 2CD", country: "GB"), x: -1.2, y: 52.2,
            avenues: ["Church Lane", "The Avenue", "St Juniper's Road"], streets: ["High Street", "Hazel Close"],
            bend: "Rowan Crescent"),
        Style(
            zone: AddressZone(city: "Jarzębinów", postal: "12-345", country: "PL"), x: 19.5, y: 52.1,
            avenues: ["ul. Łąkowa", "Dębowa", "al. Świerkowa"], streets: ["Żytnia", "os. Brzozowe"], bend: "Sosnowa"),
        Style(
            zone: AddressZone(city: "Берёзовск", postal: "612345", country: "RU"), x: 60.2, y: 57.1,
            avenues: ["улица Кедровая", "Ясеневый переулок", "проспект Клёнов"], streets: ["Липовая улица"],
            bend: "Ольховая улица"),
    ]

    /// All towns in one locator.
    static func all(seed: UInt64 = 17) -> (addresses: [AddressRecord], streets: [StreetRecord]) {
        let towns = styles.enumerated().map { GeneratedTown($0.element, seed: seed &+ UInt64($0.offset)) }
        return (towns.flatMap(\.addresses), towns.flatMap(\.streets))
    }
}

/// A locator file in a folder of its own, which goes with it.
final class TemporaryLocator: Sendable {
    let folder: URL
    let url: URL
    let locator: Locator
    /// How many places it was made of.
    let placeCount: Int

    private init(folder: URL, url: URL, locator: Locator, placeCount: Int) {
        self.placeCount = placeCount
        self.folder = folder
        self.url = url
        self.locator = locator
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static func make(_ fill: (LocatorBuilder) throws -> Void) async throws -> TemporaryLocator {
        let folder = FileManager.default.temporaryDirectory.appending(path: "locator-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appending(path: "Town.locator", directoryHint: .notDirectory)
        let builder = try LocatorBuilder(name: "Town", at: url)
        try fill(builder)
        try builder.finish()
        return TemporaryLocator(
            folder: folder, url: url, locator: try await Locator.open(url, readers: 1), placeCount: builder.placeCount)
    }

    /// The generated towns, made once for all tests.
    private static let made = Task { try await makeTowns() }

    static func towns() async throws -> TemporaryLocator { try await made.value }

    private static func makeTowns() async throws -> TemporaryLocator {
        try await make { builder in
            let all = GeneratedTown.all()
            for street in all.streets { try builder.add(street) }
            for address in all.addresses { try builder.add(address) }
            for style in GeneratedTown.styles {
                var zone = style.zone
                (zone.postal, zone.city) = ("", "")
                try builder.add(
                    PlaceRecord(
                        kind: .locality, type: "town", name: style.zone.city, zone: zone, weight: 10_000, x: style.x,
                        y: style.y,
                        reach: 4_000))
            }
        }
    }
}
