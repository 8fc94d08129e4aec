import Foundation

/// Finds the town of addresses and streets that don't say it: that of the nearest address that does, or the nearest town. What
/// towns lack of state and country they get from addresses that say it.
struct ZoneFiller {
    private struct Anchor {
        var x: Double
        var y: Double
        var zone: AddressZone
    }

    private struct Town {
        var x: Double
        var y: Double
        var reach: Double
        var zone: AddressZone
    }

    private struct Cell: Hashable {
        var column: Int
        var row: Int
    }

    private struct CityKnowledge {
        var region: [String: Int] = [:]
        var country: [String: Int] = [:]
        /// How its name is spelt.
        var names: [String: Int] = [:]
    }

    private static let cellDegrees = 0.005
    private static let townDegrees = 0.25
    private static let anchorsPerCell = 3

    private var anchors: [Cell: [Anchor]] = [:]
    private var towns: [Cell: [Town]] = [:]
    /// By the key of the name.
    private var cities: [String: CityKnowledge] = [:]
    private var cityKeys: [String: String] = [:]
    private var countries: [String: Int] = [:]

    private static func cell(_ x: Double, _ y: Double, _ size: Double) -> Cell {
        Cell(column: Int((x / size).rounded(.down)), row: Int((y / size).rounded(.down)))
    }

    /// Learns from an address that says its town.
    mutating func learn(_ zone: AddressZone, x: Double, y: Double) {
        guard !zone.city.isEmpty else { return }
        let zone = Self.withShortRegion(zone)
        let key = cityKeys[zone.city] ?? TokenizedText.key(zone.city)
        cityKeys[zone.city] = key
        var known = cities[key] ?? CityKnowledge()
        known.names[zone.city, default: 0] += 1
        if !zone.region.isEmpty { known.region[zone.region, default: 0] += 1 }
        if !zone.country.isEmpty {
            known.country[zone.country, default: 0] += 1
            countries[zone.country, default: 0] += 1
        }
        cities[key] = known
        let cell = Self.cell(x, y, Self.cellDegrees)
        if anchors[cell]?.count ?? 0 < Self.anchorsPerCell {
            anchors[cell, default: []].append(Anchor(x: x, y: y, zone: zone))
        }
    }

    /// Learns of a town.
    mutating func learn(town zone: AddressZone, x: Double, y: Double, reach: Double) {
        guard reach > 0, !zone.city.isEmpty else { return }
        towns[Self.cell(x, y, Self.townDegrees), default: []].append(Town(x: x, y: y, reach: reach, zone: zone))
    }

    /// The zone with what it lacks.
    func filled(_ zone: AddressZone, x: Double, y: Double) -> AddressZone {
        var zone = Self.withShortRegion(zone)
        if zone.city.isEmpty, let near = nearestAnchor(x, y) ?? nearestTown(x, y) {
            zone.city = near.city
            if zone.region.isEmpty { zone.region = near.region }
            if zone.country.isEmpty { zone.country = near.country }
        }
        if let known = cityKeys[zone.city].flatMap({ cities[$0] }) {
            // One town, however its addresses spell it.
            zone.city = Self.most(known.names)
            if zone.region.isEmpty { zone.region = Self.most(known.region) }
            if zone.country.isEmpty { zone.country = Self.most(known.country) }
        }
        // An extract within one country: where no address of the town says it, the others do.
        if zone.country.isEmpty, countries.count == 1 { zone.country = Self.most(countries) }
        return zone
    }

    /// A state by its short name, where it has one: sources have either.
    private static func withShortRegion(_ zone: AddressZone) -> AddressZone {
        var zone = zone
        zone.region = RegionNames.written(zone.region, country: zone.country)
        return zone
    }

    private static func most(_ counts: [String: Int]) -> String {
        counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? ""
    }

    private func nearestAnchor(_ x: Double, _ y: Double) -> AddressZone? {
        let middle = Self.cell(x, y, Self.cellDegrees)
        let plane = PlaneMetres(latitude: y)
        var best: (distance: Double, zone: AddressZone)?
        for column in (middle.column - 2)...(middle.column + 2) {
            for row in (middle.row - 2)...(middle.row + 2) {
                for anchor in anchors[Cell(column: column, row: row)] ?? [] {
                    let distance = plane.distance(x, y, anchor.x, anchor.y)
                    if distance < best?.distance ?? .infinity { best = (distance, anchor.zone) }
                }
            }
        }
        return best?.zone
    }

    /// The town whose reach covers the place best; up to three times its reach counts.
    private func nearestTown(_ x: Double, _ y: Double) -> AddressZone? {
        let middle = Self.cell(x, y, Self.townDegrees)
        let plane = PlaneMetres(latitude: y)
        var best: (share: Double, zone: AddressZone)?
        for column in (middle.column - 1)...(middle.column + 1) {
            for row in (middle.row - 1)...(middle.row + 1) {
                for town in towns[Cell(column: column, row: row)] ?? [] {
                    let share = plane.distance(x, y, town.x, town.y) / town.reach
                    if share < best?.share ?? 3 { best = (share, town.zone) }
                }
            }
        }
        return best?.zone
    }
}
