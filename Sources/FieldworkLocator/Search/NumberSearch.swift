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
        for house in try data.houses(Int64(reading.value), on: road) {
            let isSame = house.suffix.lowercased() == reading.suffix
            // 12 asked, and only 12A stands there: it is the house next door at worst.
            if !isSame, reading.tokens.count > 1 { continue }
            var found = Found(
                kind: .pointAddress, number: house.label, unit: house.unit, zoneID: house.zoneID, x: house.x,
                y: house.y, tokens: reading.tokens, cost: isSame ? 0 : 5, addressID: house.id)
            let units = Self.tokens(of: house.unit, tokens, unused.filter { !reading.tokens.contains($0) })
            if units.isEmpty { found.unit = "" }
            found.tokens += units
            found.kind = found.unit.isEmpty ? .pointAddress : .subaddress
            let zone = try data.zone(house.zoneID).words
            let inZone = unused.filter { zone.contains(tokens[$0].text) }.count
            // A postal code that is a house number as well is the postal code, unless nothing else is the number.
            if reading.tokens.contains(where: { zone.contains(tokens[$0].text) }) { found.cost += 3 }
            let rank = 100 * units.count + 10 * inZone - Int(found.cost) - (house.unit.isEmpty ? 0 : 1)
            if rank > best?.rank ?? .min { best = (found, rank) }
        }
        return best?.found
    }

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
        let number = Int64(reading.value)
        guard let low = try data.neighbour(of: number, on: road, above: false, sameSide: true),
            let high = try data.neighbour(of: number, on: road, above: true, sameSide: true)
        else { return outOfRange ? try beyond(reading, road: road) : nil }
        let share = (Double(number) - Double(low.number)) / max(1, Double(high.number) - Double(low.number))
        return Found(
            kind: .streetAddress, number: "\(number)", zoneID: low.zoneID, x: low.x + share * (high.x - low.x),
            y: low.y + share * (high.y - low.y), range: NumberRange(from: Int(low.number), to: Int(high.number)),
            tokens: reading.tokens)
    }

    /// The piece of the street whose numbers hold it.
    private func inRange(_ reading: Reading, road: Int64) throws -> Found? {
        for piece in try data.pieces(of: road) {
            for (range, isLeft) in [(piece.left, true), (piece.right, false)] {
                guard let range, range.contains(reading.value), range.from != range.to || range.from == reading.value,
                    let place = piece.place(of: reading.value, range, isLeft: isLeft)
                else { continue }
                return Found(
                    kind: .streetAddress, number: "\(reading.value)", x: place.x, y: place.y, side: isLeft ? "L" : "R",
                    range: range, tokens: reading.tokens)
            }
        }
        return nil
    }

    /// The end of the street's numbers that is nearest to it.
    private func beyond(_ reading: Reading, road: Int64) throws -> Found? {
        let number = Int64(reading.value)
        let ends = [
            try data.neighbour(of: number, on: road, above: false, sameSide: false),
            try data.neighbour(of: number, on: road, above: true, sameSide: false),
        ].compactMap { $0 }
        func distance(_ end: KnownHouse) -> Double { abs(Double(end.number) - Double(number)) }
        if let end = ends.min(by: { distance($0) < distance($1) }) {
            return Found(
                kind: .streetAddressExtended, number: "\(reading.value)", zoneID: end.zoneID, x: end.x, y: end.y,
                tokens: reading.tokens, cost: 10)
        }
        return try beyondRanges(reading, road: road)
    }

    private func beyondRanges(_ reading: Reading, road: Int64) throws -> Found? {
        var best: (found: Found, distance: Double)?
        for piece in try data.pieces(of: road) {
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
