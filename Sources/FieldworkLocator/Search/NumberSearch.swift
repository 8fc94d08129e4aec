import FieldworkStore

/// Finds a house number on a street: the house itself, or where it would stand.
struct NumberSearch {
    let data: LocatorData

    /// The house number that some tokens of a text may say.
    struct Reading {
        var value: Int
        var suffix: String
        var tokens: [Int]
    }

    /// A house, or a place on the street, with the tokens that it accounts for.
    struct Found {
        var kind: LocatorResult.Kind
        var number: String
        var unit = ""
        var zoneID: Int64?
        var x: Double
        var y: Double
        var side = ""
        var range: NumberRange?
        var tokens: [Int]
        var cost = 0.0
        var addressID: Int64 = 0
    }

    /// The numbers among tokens that no name has used: the nearest to the name first.
    static func readings(_ tokens: [TextToken], unused: [Int], name: [Int]) -> [Reading] {
        let open = Set(unused)
        var readings: [Reading] = []
        for index in unused where tokens[index].startsWithDigit {
            guard let head = HouseNumber.head(tokens[index].text) else { continue }
            // A fraction belongs to the number before it.
            if HouseNumber.isSuffix(tokens[index].text), open.contains(index - 1), tokens[index - 1].startsWithDigit {
                continue
            }
            if head.suffix.isEmpty, open.contains(index + 1), HouseNumber.isSuffix(tokens[index + 1].text) {
                readings.append(Reading(value: head.value, suffix: tokens[index + 1].text, tokens: [index, index + 1]))
            }
            readings.append(Reading(value: head.value, suffix: head.suffix, tokens: [index]))
        }
        func distance(_ reading: Reading) -> Int { name.map { abs($0 - reading.tokens[0]) }.min() ?? 0 }
        return readings.enumerated().sorted {
            (distance($0.element), $0.offset) < (distance($1.element), $1.offset)
        }.map(\.element)
    }

    /// The best answer to any of the readings: a house goes before a guess.
    func find(_ readings: [Reading], _ tokens: [TextToken], unused: [Int], road: Int64, outOfRange: Bool) throws
        -> Found?
    {
        var guess: Found?
        for reading in readings {
            if let house = try house(reading, tokens, unused: unused, road: road) {
                if house.cost == 0 { return house }
                if guess.map({ $0.cost > house.cost || $0.kind == .streetAddressExtended }) ?? true { guess = house }
            } else if guess == nil {
                guess = try interpolated(reading, road: road, outOfRange: outOfRange)
            }
        }
        return guess
    }

    // MARK: Houses

    private func house(
        _ reading: Reading, _ tokens: [TextToken], unused: [Int], road: Int64
    ) throws -> Found? {
        var best: (found: Found, rank: Int)?
        try data.connection.run(
            "SELECT id, suffix, unit, zone_id, geom FROM gc_address WHERE road_id = ? AND number = ?"
        ) {
            try $0.bind(road, at: 1)
            try $0.bind(Int64(reading.value), at: 2)
        } row: { row in
            guard let place = GeometryBytes.readPoint(row.blob(4)) else { return }
            let suffix = row.optionalText(1) ?? ""
            let unit = row.optionalText(2) ?? ""
            let isSame = suffix.lowercased() == reading.suffix
            // 12 asked, and only 12A stands there: it is the house next door at worst.
            if !isSame, reading.tokens.count > 1 { return }
            var found = Found(
                kind: .pointAddress, number: "\(reading.value)\(Self.separator(suffix))\(suffix)", unit: unit,
                zoneID: row.integer(3), x: place.x, y: place.y, tokens: reading.tokens, cost: isSame ? 0 : 5,
                addressID: row.integer(0))
            let units = Self.tokens(of: unit, tokens, unused.filter { !reading.tokens.contains($0) })
            if !unit.isEmpty, units.isEmpty { found.unit = "" }
            found.tokens += units
            found.kind = found.unit.isEmpty ? .pointAddress : .subaddress
            let zone = try data.zone(row.integer(3)).words
            let inZone = unused.filter { zone.contains(tokens[$0].text) }.count
            // A postal code that is a house number as well is the postal code, unless nothing else is the number.
            if reading.tokens.contains(where: { zone.contains(tokens[$0].text) }) { found.cost += 3 }
            let rank = 100 * units.count + 10 * inZone - Int(found.cost) - (unit.isEmpty ? 0 : 1)
            if rank > best?.rank ?? .min { best = (found, rank) }
        }
        return best?.found
    }

    /// A fraction or a word stands apart, a letter or the end of a range doesn't.
    private static func separator(_ suffix: String) -> String { suffix.contains("/") ? " " : "" }

    /// The open tokens that say this unit: all of its words, or none.
    private static func tokens(of unit: String, _ tokens: [TextToken], _ unused: [Int]) -> [Int] {
        guard !unit.isEmpty else { return [] }
        var open = unused
        var taken: [Int] = []
        for word in TokenizedText(unit).tokens {
            guard let place = open.firstIndex(where: { tokens[$0].text == word.text }) else {
                // `#3` and `Unit 3` say the same.
                if Abbreviations.unitMarkers.contains(word.text) { continue }
                return []
            }
            taken.append(open.remove(at: place))
        }
        return taken
    }

    // MARK: Between houses

    /// Where the number stands between others.
    func interpolated(_ reading: Reading, road: Int64, outOfRange: Bool) throws -> Found? {
        if let found = try inRange(reading, road: road) { return found }
        guard let low = try neighbour(of: reading.value, road: road, above: false, sameSide: true),
            let high = try neighbour(of: reading.value, road: road, above: true, sameSide: true)
        else { return outOfRange ? try beyond(reading, road: road) : nil }
        let share = (Double(reading.value) - Double(low.number)) / max(1, Double(high.number) - Double(low.number))
        return Found(
            kind: .streetAddress, number: "\(reading.value)", zoneID: low.zoneID, x: low.x + share * (high.x - low.x),
            y: low.y + share * (high.y - low.y), range: NumberRange(from: low.number, to: high.number),
            tokens: reading.tokens)
    }

    /// The piece of the street whose numbers hold it.
    private func inRange(_ reading: Reading, road: Int64) throws -> Found? {
        var found: Found?
        try data.connection.run("SELECT \(StreetPiece.columns) FROM gc_street WHERE road_id = ?") {
            try $0.bind(road, at: 1)
        } row: { row in
            guard found == nil else { return }
            let piece = StreetPiece(row)
            for (range, isLeft) in [(piece.left, true), (piece.right, false)] {
                guard let range, range.contains(reading.value), range.from != range.to || range.from == reading.value,
                    let place = piece.place(of: reading.value, range, isLeft: isLeft)
                else { continue }
                found = Found(
                    kind: .streetAddress, number: "\(reading.value)", x: place.x, y: place.y, side: isLeft ? "L" : "R",
                    range: range, tokens: reading.tokens)
                return
            }
        }
        return found
    }

    private struct Neighbour {
        var number: Int
        var zoneID: Int64
        var x: Double
        var y: Double
    }

    private func neighbour(of number: Int, road: Int64, above: Bool, sameSide: Bool) throws -> Neighbour? {
        var found: Neighbour?
        let side = sameSide ? "AND number % 2 = ?3" : "AND ?3 = ?3"
        try data.connection.run(
            above
                ? """
                SELECT number, zone_id, geom FROM gc_address WHERE road_id = ?1 AND number > ?2 \(side) ORDER BY number LIMIT 1
                """
                : """
                SELECT number, zone_id, geom FROM gc_address WHERE road_id = ?1 AND number < ?2 \(side)
                ORDER BY number DESC LIMIT 1
                """
        ) {
            try $0.bind(road, at: 1)
            try $0.bind(Int64(number), at: 2)
            try $0.bind(Int64(number % 2), at: 3)
        } row: { row in
            guard let place = GeometryBytes.readPoint(row.blob(2)) else { return }
            found = Neighbour(number: Int(row.integer(0)), zoneID: row.integer(1), x: place.x, y: place.y)
        }
        return found
    }

    /// The end of the street's numbers that is nearest to it.
    private func beyond(_ reading: Reading, road: Int64) throws -> Found? {
        let ends = [
            try neighbour(of: reading.value, road: road, above: false, sameSide: false),
            try neighbour(of: reading.value, road: road, above: true, sameSide: false),
        ].compactMap { $0 }
        func distance(_ end: Neighbour) -> Double { abs(Double(end.number) - Double(reading.value)) }
        if let end = ends.min(by: { distance($0) < distance($1) }) {
            return Found(
                kind: .streetAddressExtended, number: "\(reading.value)", zoneID: end.zoneID, x: end.x, y: end.y,
                tokens: reading.tokens, cost: 10)
        }
        return try beyondRanges(reading, road: road)
    }

    private func beyondRanges(_ reading: Reading, road: Int64) throws -> Found? {
        var best: (found: Found, distance: Double)?
        try data.connection.run("SELECT \(StreetPiece.columns) FROM gc_street WHERE road_id = ?") {
            try $0.bind(road, at: 1)
        } row: { row in
            let piece = StreetPiece(row)
            for (range, isLeft) in [(piece.left, true), (piece.right, false)] {
                guard let range else { continue }
                for end in [range.from, range.to] {
                    let distance = abs(Double(end) - Double(reading.value))
                    guard distance < best?.distance ?? .infinity,
                        let place = piece.place(of: end, range, isLeft: isLeft)
                    else { continue }
                    let found = Found(
                        kind: .streetAddressExtended, number: "\(reading.value)", x: place.x, y: place.y,
                        side: isLeft ? "L" : "R", range: range, tokens: reading.tokens, cost: 10)
                    best = (found, distance)
                }
            }
        }
        return best?.found
    }
}
