import Foundation

/// A small generator with a seed, so that every run measures the same features and the same extents.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// A tree as the benchmark loads it: a point in Web Mercator metres and eight attributes.
struct Tree {
    var x: Double
    var y: Double
    var species: String
    var name: String
    var condition: String
    var diameter: Double
    var height: Int
    var address: String
    var plantedYear: Int
    var inspections: Int
}

/// One million trees, evenly spread over a square of 100 km, in random order.
struct TreeData {
    static let minX = -13_700_000.0
    static let minY = 5_600_000.0
    static let side = 100_000.0
    static let fieldNames = [
        "species", "name", "condition", "diameter", "height", "address", "planted_year", "inspections",
    ]

    private static let kinds = [
        ("ACPL", "Norway maple"), ("PRSE", "Kwanzan cherry"), ("QURU", "Northern red oak"),
        ("TICO", "Littleleaf linden"),
        ("BEPE", "European white birch"), ("MALU", "Apple"), ("FRPE", "Green ash"), ("ULAM", "American elm"),
    ]
    private static let conditions = ["Good", "Fair", "Poor", "Dead"]
    private static let streets = ["NE Ainsworth St", "SE Division St", "N Lombard St", "SW Taylor St", "NW 23rd Ave"]

    private var generator = SplitMix64(seed: 20_260_101)

    mutating func next() -> Tree {
        let kind = Self.kinds[Int.random(in: 0..<Self.kinds.count, using: &generator)]
        let street = Self.streets[Int.random(in: 0..<Self.streets.count, using: &generator)]
        return Tree(
            x: Self.minX + Double(Int.random(in: 0..<10_000_000, using: &generator)) / 100,
            y: Self.minY + Double(Int.random(in: 0..<10_000_000, using: &generator)) / 100,
            species: kind.0, name: kind.1,
            condition: Self.conditions[Int.random(in: 0..<4, using: &generator)],
            diameter: Double(Int.random(in: 10...600, using: &generator)) / 10,
            height: Int.random(in: 2...40, using: &generator),
            address: "\(Int.random(in: 100...9_999, using: &generator)) \(street)",
            plantedYear: Int.random(in: 1_900...2_020, using: &generator),
            inspections: Int.random(in: 0...9, using: &generator))
    }

    /// The same trees in one order or the other.
    static func forEach(_ count: Int, in order: RowOrder, _ body: (Tree) throws -> Void) rethrows {
        var data = TreeData()
        switch order {
        case .random:
            for _ in 0..<count { try body(data.next()) }
        case .curve:
            let trees = (0..<count).map { _ in data.next() }
            for (_, index) in trees.indices.map({ (position(of: trees[$0]), $0) }).sorted(by: <) {
                try body(trees[index])
            }
        }
    }

    /// The place along a Hilbert curve through cells of 1.5 metres.
    private static func position(of tree: Tree) -> Int {
        let cells = 1 << 16
        var x = Int((tree.x - minX) / side * Double(cells - 1))
        var y = Int((tree.y - minY) / side * Double(cells - 1))
        var (position, half) = (0, cells / 2)
        while half > 0 {
            let (right, upper) = (x & half > 0, y & half > 0)
            position += half * half * (right ? (upper ? 2 : 3) : (upper ? 1 : 0))
            if !upper {
                if right { (x, y) = (cells - 1 - x, cells - 1 - y) }
                swap(&x, &y)
            }
            half /= 2
        }
        return position
    }

    /// Writes the trees as CSV, the way a user would bring them.
    static func writeCSV(count: Int, to url: URL) throws {
        try Data().write(to: url)
        let file = try FileHandle(forWritingTo: url)
        var data = TreeData()
        var text = (["x", "y"] + fieldNames).joined(separator: ",") + "\n"
        for index in 0..<count {
            let tree = data.next()
            text +=
                "\(tree.x),\(tree.y),\(tree.species),\(tree.name),\(tree.condition),\(tree.diameter),\(tree.height),"
                + "\(tree.address),\(tree.plantedYear),\(tree.inspections)\n"
            if index % 10_000 == 0 {
                try file.write(contentsOf: Data(text.utf8))
                text = ""
            }
        }
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }
}

/// A box of the size that holds about a thousand trees.
struct Box {
    var minX: Double
    var minY: Double
    var maxX: Double
    var maxY: Double

    static func random(holding features: Int, of total: Int, using generator: inout SplitMix64) -> Box {
        let side = TreeData.side * (Double(features) / Double(total)).squareRoot()
        let x = TreeData.minX + Double.random(in: 0...(TreeData.side - side), using: &generator)
        let y = TreeData.minY + Double.random(in: 0...(TreeData.side - side), using: &generator)
        return Box(minX: x, minY: y, maxX: x + side, maxY: y + side)
    }
}
