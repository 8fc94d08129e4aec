/// Which vertex of a sketch.
struct SketchSpot: Sendable, Codable, Hashable {
    var part: Int
    var index: Int

    init(part: Int, index: Int) { (self.part, self.index) = (part, index) }

    /// "0.4", as forms write it.
    init?(_ text: String) {
        let numbers = text.split(separator: ".").compactMap { Int($0) }
        guard numbers.count == 2 else { return nil }
        self.init(part: numbers[0], index: numbers[1])
    }

    var text: String { "\(part).\(index)" }
}
