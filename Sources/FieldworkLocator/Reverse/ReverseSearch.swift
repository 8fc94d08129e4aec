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

    private func rows(within metres: Double, _ body: (ClosedRange<Int64>) throws -> Void) throws {
        let (dx, dy) = (metres / plane.perDegreeX, metres / plane.perDegreeY)
        for range in PlaceCell.ranges(xMin: x - dx, yMin: y - dy, xMax: x + dx, yMax: y + dy) { try body(range) }
    }

    private func crossings() throws -> [LocatorResult] {
        let most = tolerance(Tolerance.crossing)
        var best: (distance: Double, a: Int64, b: Int64, zone: Int64, x: Double, y: Double)?
        try rows(within: most) { range in
            try data.connection.run("SELECT name_a, name_b, zone_id, geom FROM gc_cross WHERE id BETWEEN ? AND ?") {
                try $0.bind(range.lowerBound, at: 1)
                try $0.bind(range.upperBound, at: 2)
            } row: { row in
                guard let place = GeometryBytes.readPoint(row.blob(3)) else { return }
                let distance = plane.distance(x, y, place.x, place.y)
                if distance <= most, distance < best?.distance ?? .infinity {
                    best = (distance, row.integer(0), row.integer(1), row.integer(2), place.x, place.y)
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
        var id: Int64
        var road: Int64
        var distance: Double
        var x: Double
        var y: Double
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
        try rows(within: most) { range in
            try data.connection.run("SELECT id, road_id, geom FROM gc_address WHERE id BETWEEN ? AND ?") {
                try $0.bind(range.lowerBound, at: 1)
                try $0.bind(range.upperBound, at: 2)
            } row: { row in
                guard let place = GeometryBytes.readPoint(row.blob(2)) else { return }
                let distance = plane.distance(x, y, place.x, place.y)
                guard distance <= most else { return }
                houses.append(
                    House(id: row.integer(0), road: row.integer(1), distance: distance, x: place.x, y: place.y))
            }
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
        var result = LocatorResult(kind: .pointAddress, zone: AddressZone(), x: house.x, y: house.y)
        try data.connection.run(
            """
            SELECT a.number, a.suffix, a.unit, a.zone_id, r.name_id FROM gc_address AS a JOIN gc_road AS r ON r.id = a.road_id
            WHERE a.id = ?
            """
        ) {
            try $0.bind(house.id, at: 1)
        } row: { row in
            let suffix = row.optionalText(1) ?? ""
            result.number = "\(row.integer(0))\(suffix.contains("/") ? " " : "")\(suffix)"
            result.unit = row.optionalText(2) ?? ""
            result.zone = try data.zone(row.integer(3)).zone
            result.street = try data.name(row.integer(4)).full
        }
        if !result.unit.isEmpty { result.kind = .subaddress }
        result.distance = house.distance
        result.addressID = house.id
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
