/// A piece of a street with the numbers of its sides.
struct StreetPiece {
    /// From the middle of the street to the houses.
    private static let sideOffset = 6.096
    /// The share of the piece, and the metres, that stay free of houses at each end: the lesser counts.
    private static let endShare = 0.03
    private static let endMetres = 5.0

    var road: Int64
    var left: NumberRange?
    var right: NumberRange?
    var line: [Double]

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
