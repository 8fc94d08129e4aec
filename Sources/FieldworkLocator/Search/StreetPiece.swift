import FieldworkStore

/// A piece of a street with the numbers of its sides.
struct StreetPiece {
    static let columns = "road_id, left_from, left_to, left_parity, right_from, right_to, right_parity, geom"

    /// From the middle of the street to the houses.
    private static let sideOffset = 6.096
    /// The share of the piece, and the metres, that stay free of houses at each end: the lesser counts.
    private static let endShare = 0.03
    private static let endMetres = 5.0

    var road: Int64
    var left: NumberRange?
    var right: NumberRange?
    var line: [Double]

    init(_ row: StoreStatement) {
        road = row.integer(0)
        left = Self.range(row, 1)
        right = Self.range(row, 4)
        line = GeometryBytes.readLine(row.blob(7))
    }

    /// The range in three columns: its ends and its parity; nil where there is none.
    static func range(_ row: StoreStatement, _ column: Int) -> NumberRange? {
        guard !row.isNull(column), !row.isNull(column + 1) else { return nil }
        // What another program wrote may be any number.
        func number(_ column: Int) -> Int { Int(max(0, min(row.integer(column), 1_000_000_000))) }
        return NumberRange(
            from: number(column), to: number(column + 1),
            parity: NumberRange.Parity(rawValue: row.optionalText(column + 2) ?? ""))
    }

    /// Where a number stands on its side.
    func place(of number: Int, _ range: NumberRange, isLeft: Bool) -> (x: Double, y: Double)? {
        let span = Double(range.to) - Double(range.from)
        let share = span == 0 ? 0.5 : max(0, min(1, (Double(number) - Double(range.from)) / span))
        let length = LineFoot.length(line)
        let margin = min(Self.endShare * length, Self.endMetres)
        return LineFoot.place(
            on: line, at: margin + share * max(0, length - 2 * margin),
            toLeft: isLeft ? Self.sideOffset : -Self.sideOffset)
    }

    /// The number of a side at a place of the line.
    func number(at foot: LineFoot, isLeft: Bool) -> Int? {
        guard let range = isLeft ? left : right else { return nil }
        guard range.from != range.to else { return range.from }
        let margin = min(Self.endShare * foot.length, Self.endMetres)
        let free = max(foot.length - 2 * margin, 0.001)
        let share = max(0, min(1, (foot.along - margin) / free))
        let exact = Double(range.from) + share * (Double(range.to) - Double(range.from))
        let (low, high) = (min(range.from, range.to), max(range.from, range.to))
        var number = Int(exact.rounded())
        let isWanted = range.parity == .both || (number % 2 == 0) == (range.parity == .even)
        if !isWanted { number += Double(number) < exact ? 1 : -1 }
        if number < low { number += 2 }
        if number > high { number -= 2 }
        return max(low, min(high, number))
    }
}
