import FieldworkStore

/// What is asked of a place.
package struct ReverseOptions: Sendable, Hashable {
    /// The kinds that are looked for; nil for those that are looked for by default. One alone is looked for farther.
    package var kinds: Set<LocatorResult.Kind>?
    /// Metres beyond which nothing is an answer; nil for the tolerances of the kinds.
    package var maximumDistance: Double?
    package var maximumCount = 1
    /// Whether the place on the street from which a house is reached is looked for as well.
    package var findsRoutePlaces = false

    package init() {}
}

/// Finds the address of a place. The kinds have an order, each with its tolerance: the first that is near enough is the answer.
struct ReverseSearch {
    let data: LocatorData
    let x: Double
    let y: Double
    let options: ReverseOptions
    let plane: PlaneMetres

    /// The tolerances, in metres, that clients of the protocol are used to.
    enum Tolerance {
        static let crossing = 10.0
        static let nearStreet = 3.0
        static let pointOfInterest = 25.0
        static let address = 50.0
        static let farStreet = 100.0
        /// When one kind alone is asked for.
        static let single = 500.0
    }

    init(_ data: LocatorData, x: Double, y: Double, _ options: ReverseOptions) {
        self.data = data
        self.x = x
        self.y = y
        self.options = options
        plane = PlaneMetres(latitude: y)
    }

    private var isSingle: Bool { options.kinds?.count == 1 }

    private func wants(_ kind: LocatorResult.Kind) -> Bool {
        guard let kinds = options.kinds else { return kind != .intersection && kind != .streetName }
        return kinds.contains(kind)
    }

    private func tolerance(_ metres: Double) -> Double {
        let own = isSingle ? Tolerance.single : metres
        return min(own, options.maximumDistance ?? own)
    }

    func results() throws -> [LocatorResult] {
        var results: [LocatorResult] = []
        func enough() -> Bool { results.count >= max(1, options.maximumCount) }
        if wants(.intersection) { results += try crossings() }
        if enough() { return results }
        let streets = try StreetFinder(self).nearest(within: tolerance(Tolerance.farStreet))
        if let first = streets.first, first.foot.distance <= Tolerance.nearStreet { results += try onStreet(streets) }
        if enough() { return results }
        if wants(.pointOfInterest) { results += try places(.pointOfInterest, isArea: false) }
        if enough() { return results }
        if wants(.pointAddress) || wants(.subaddress) { results += try addresses(streets) }
        if enough() { return results }
        if results.first?.kind != .streetAddress { results += try onStreet(streets) }
        if enough() { return results }
        if wants(.pointOfInterest) { results += try places(.pointOfInterest, isArea: true) }
        if enough() { return results }
        results += try areas()
        return results
    }

    // MARK: Crossings and houses

    /// The box about the point that holds everything within a distance.
    func box(within metres: Double) -> PlaceExtent {
        let (dx, dy) = (metres / plane.perDegreeX, metres / plane.perDegreeY)
        return PlaceExtent(xMin: x - dx, yMin: y - dy, xMax: x + dx, yMax: y + dy)
    }

    /// The nearest crossing: two streets meet there, so that both are near.
    private func crossings() throws -> [LocatorResult] {
        let most = tolerance(Tolerance.crossing)
        var best: (distance: Double, a: Int64, b: Int64, zone: Int64, x: Double, y: Double)?
        for name in try StreetFinder(self).names(within: most) {
            try data.connection.run("SELECT name_a, name_b, zone_id, x, y FROM gc_cross WHERE name_a = ?") {
                try $0.bind(name, at: 1)
            } row: { row in
                let place = (PackedDegrees.degrees(row.integer(3)), PackedDegrees.degrees(row.integer(4)))
                let distance = plane.distance(x, y, place.0, place.1)
                if distance <= most, distance < best?.distance ?? .infinity {
                    best = (distance, row.integer(0), row.integer(1), row.integer(2), place.0, place.1)
                }
            }
        }
        guard let best else { return [] }
        var result = LocatorResult(kind: .intersection, zone: try data.zone(best.zone).zone, x: best.x, y: best.y)
        let (first, second) = (try data.name(best.a).full, try data.name(best.b).full)
        result.street = "\(first) & \(second)"
        result.distance = best.distance
        return [result]
    }

    private struct House {
        var known: KnownHouse
        var distance: Double

        var id: Int64 { known.id }
        var road: Int64 { known.road }
        var x: Double { known.x }
        var y: Double { known.y }
    }

    /// The nearest house that is not across its own street.
    private func addresses(_ streets: [StreetFinder.Near]) throws -> [LocatorResult] {
        let most = tolerance(Tolerance.address)
        // A small look first: in a town it finds the house.
        for metres in [min(most, 20), most] {
            let houses = try houses(within: metres)
            for house in houses where !isAcross(house, streets) { return [try result(house)] }
            if metres >= most { break }
        }
        return []
    }

    private func houses(within most: Double) throws -> [House] {
        var houses: [House] = []
        try data.houses(near: box(within: most)) { house in
            let distance = plane.distance(x, y, house.x, house.y)
            if distance <= most { houses.append(House(known: house, distance: distance)) }
        }
        return houses.sorted { ($0.distance, $0.id) < ($1.distance, $1.id) }
    }

    /// Whether the way to the house crosses the middle of its street.
    private func isAcross(_ house: House, _ streets: [StreetFinder.Near]) -> Bool {
        guard house.distance > 1,
            let street = streets.first(where: { $0.piece.road == house.road }),
            let other = LineFoot(of: house.x, house.y, on: street.piece.line)
        else { return false }
        // In the middle of the street either side will do.
        return street.foot.isLeft != other.isLeft && street.foot.distance > 2 && other.distance > 2
    }

    private func result(_ house: House) throws -> LocatorResult {
        var result = try LocatorResult.of(house.known, data)
        result.distance = house.distance
        return result
    }

    // MARK: Streets

    private func onStreet(_ streets: [StreetFinder.Near]) throws -> [LocatorResult] {
        if wants(.streetAddress) {
            for near in streets {
                guard let number = near.piece.number(at: near.foot, isLeft: near.foot.isLeft),
                    let road = try DocumentIndex(data: data).road(near.piece.road)
                else { continue }
                var result = LocatorResult(
                    kind: .streetAddress, zone: try data.zone(road.zoneID).zone, x: near.foot.x, y: near.foot.y)
                result.number = "\(number)"
                result.street = try data.name(road.nameID).full
                result.side = near.foot.isLeft ? "L" : "R"
                result.range = near.foot.isLeft ? near.piece.left : near.piece.right
                result.distance = near.foot.distance
                return [result]
            }
        }
        guard wants(.streetName), let near = streets.first,
            let road = try DocumentIndex(data: data).road(near.piece.road)
        else { return [] }
        var result = LocatorResult(
            kind: .streetName, zone: try data.zone(road.zoneID).zone, x: near.foot.x, y: near.foot.y)
        result.street = try data.name(road.nameID).full
        result.distance = near.foot.distance
        return [result]
    }
}
