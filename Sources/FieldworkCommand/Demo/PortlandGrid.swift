import FieldworkGeometry
import FieldworkREST
import Foundation

/// A made-up city on Portland's ground: blocks of about 80 by 60 metres, trees along the streets, neighbourhoods as
/// rectangles of blocks. About 60,000 trees, all from one seed.
struct PortlandGrid {
    private(set) var neighborhoods: [FeatureEdit] = []
    private(set) var species: [FeatureEdit] = []
    private(set) var trees: [FeatureEdit] = []
    private(set) var inspections: [FeatureEdit] = []

    /// Web Mercator metres; at this latitude a metre on the ground is 1.43 of them.
    static let west = -13_662_000.0
    static let south = 5_695_000.0
    static let blockWidth = 114.0
    static let blockHeight = 86.0
    static let columns = 90
    static let rows = 78
    /// Blocks of a neighbourhood.
    static let hoodColumns = 15
    static let hoodRows = 13

    static let names = [
        "Alameda", "Arbor Lodge", "Boise", "Brentwood", "Buckman", "Concordia", "Creston", "Cully", "Eliot", "Foster",
        "Grant Park", "Hazelwood", "Hollywood", "Humboldt", "Irvington", "Kenton", "Kerns", "King", "Laurelhurst",
        "Lents",
        "Lloyd", "Madison", "Montavilla", "Mt Tabor", "Overlook", "Piedmont", "Richmond", "Roseway", "Sabin",
        "Sellwood",
        "Sunnyside", "Sunderland", "Vernon", "Wilkes", "Woodlawn", "Woodstock",
    ]

    private static let kinds: [(code: String, common: String, scientific: String, family: String, share: Double)] = [
        ("ACPL", "Norway maple", "Acer platanoides", "Sapindaceae", 12),
        ("ACRU", "Red maple", "Acer rubrum", "Sapindaceae", 9),
        ("ACMA", "Bigleaf maple", "Acer macrophyllum", "Sapindaceae", 3),
        ("ACPA", "Japanese maple", "Acer palmatum", "Sapindaceae", 4),
        ("BEPE", "Silver birch", "Betula pendula", "Betulaceae", 4),
        ("CABE", "European hornbeam", "Carpinus betulus", "Betulaceae", 3),
        ("CEJA", "Katsura", "Cercidiphyllum japonicum", "Cercidiphyllaceae", 2),
        ("COKO", "Kousa dogwood", "Cornus kousa", "Cornaceae", 4),
        ("CRLA", "Lavalle hawthorn", "Crataegus × lavalleei", "Rosaceae", 4),
        ("FRAM", "White ash", "Fraxinus americana", "Oleaceae", 3),
        ("FRPE", "Green ash", "Fraxinus pennsylvanica", "Oleaceae", 3),
        ("GIBI", "Ginkgo", "Ginkgo biloba", "Ginkgoaceae", 2),
        ("LIST", "Sweetgum", "Liquidambar styraciflua", "Altingiaceae", 4),
        ("MAFL", "Flowering crabapple", "Malus floribunda", "Rosaceae", 5),
        ("PRCE", "Cherry plum", "Prunus cerasifera", "Rosaceae", 9),
        ("PRSE", "Japanese cherry", "Prunus serrulata", "Rosaceae", 8),
        ("PYCA", "Callery pear", "Pyrus calleryana", "Rosaceae", 6),
        ("PSME", "Douglas fir", "Pseudotsuga menziesii", "Pinaceae", 2),
        ("QUPA", "Pin oak", "Quercus palustris", "Fagaceae", 3),
        ("QURU", "Northern red oak", "Quercus rubra", "Fagaceae", 4),
        ("TICO", "Small-leaved lime", "Tilia cordata", "Malvaceae", 4),
        ("ULAM", "American elm", "Ulmus americana", "Ulmaceae", 2),
    ]

    init() {
        var generator = SeededGenerator(seed: 0x0011_EE50)
        let firstDay = generator.moment(fromDay: 16_800, toDay: 16_801)
        for kind in Self.kinds {
            species.append(
                .generated(
                    generator.uuid(),
                    [
                        ("Code", .text(kind.code)), ("CommonName", .text(kind.common)),
                        ("ScientificName", .text(kind.scientific)), ("Family", .text(kind.family)),
                    ], at: firstDay, by: "demo"))
        }
        for (index, name) in Self.names.enumerated() {
            let column = index % (Self.columns / Self.hoodColumns)
            let row = index / (Self.columns / Self.hoodColumns)
            neighborhoods.append(Self.neighborhood(name, column: column, row: row, at: firstDay, &generator))
        }
        for row in 0..<Self.rows {
            for column in 0..<Self.columns { plantBlock(column: column, row: row, &generator) }
        }
    }

    private static func neighborhood(
        _ name: String, column: Int, row: Int, at moment: Int64, _ generator: inout SeededGenerator
    ) -> FeatureEdit {
        let left = west + Double(column * hoodColumns) * blockWidth
        let bottom = south + Double(row * hoodRows) * blockHeight
        let (right, top) = (left + Double(hoodColumns) * blockWidth, bottom + Double(hoodRows) * blockHeight)
        let ring = [(left, bottom), (left, top), (right, top), (right, bottom)].map {
            Point(x: $0.0, y: $0.1, spatialReference: .webMercator)
        }
        let district = (row < 3 ? "South" : "North") + (column < 3 ? "west" : "east")
        return .generated(
            generator.uuid(), [("Name", .text(name)), ("District", .text(district))], at: moment, by: "demo",
            geometry: Polygon(points: ring, spatialReference: .webMercator))
    }

    /// Trees along the south and the west side of a block, some places empty.
    private mutating func plantBlock(column: Int, row: Int, _ generator: inout SeededGenerator) {
        let left = Self.west + Double(column) * Self.blockWidth
        let bottom = Self.south + Double(row) * Self.blockHeight
        let hood = Self.names[
            min(row / Self.hoodRows, 5) * (Self.columns / Self.hoodColumns) + min(column / Self.hoodColumns, 5)]
        // A street keeps to a few kinds, as streets do.
        let streetKinds = (0..<3).map { _ in generator.pick(Self.kinds.map { ($0, $0.share) }) }
        for place in 0..<12 {
            guard Double.random(in: 0..<1, using: &generator) < 0.714 else { continue }
            let alongSouth = place < 7
            let step = alongSouth ? Double(place) * 15 + 12 : Double(place - 7) * 15 + 14
            let x = alongSouth ? left + step : left + 8
            let y = alongSouth ? bottom + 8 : bottom + step
            let number = alongSouth ? 100 * (column + 1) + place * 6 : 100 * (row + 1) + place * 6
            let street = alongSouth ? "NE \(Self.ordinal(row + 1)) St" : "NE \(Self.ordinal(column + 1)) Ave"
            let kind =
                Double.random(in: 0..<1, using: &generator) < 0.8
                ? generator.pick(streetKinds) : generator.pick(Self.kinds.map { ($0, $0.share) })
            plant(kind.code, x: x, y: y, address: "\(number) \(street)", hood: hood, &generator)
        }
    }

    static func ordinal(_ number: Int) -> String {
        let suffix =
            (11...13).contains(number % 100) ? "th" : ["th", "st", "nd", "rd"][number % 10 < 4 ? number % 10 : 0]
        return "\(number)\(suffix)"
    }

    private mutating func plant(
        _ code: String, x: Double, y: Double, address: String, hood: String, _ generator: inout SeededGenerator
    ) {
        let globalID = generator.uuid()
        let moment = generator.moment(fromDay: 17_000, toDay: 19_000)
        var condition = generator.pick([("Good", 30.0), ("Fair", 55), ("Poor", 12), ("Dead", 3)])
        var diameter = (max(1, 9 + generator.normal() * 6) * 10).rounded() / 10
        // One tree in five was looked at again: the last inspection decides what the tree shows.
        if Int.random(in: 0..<5, using: &generator) == 0 {
            for visit in 1...Int.random(in: 1...3, using: &generator) {
                condition = generator.pick([(condition, 6.0), ("Good", 1), ("Fair", 2), ("Poor", 1)])
                diameter = ((diameter + Double.random(in: 0...0.6, using: &generator)) * 10).rounded() / 10
                let date = moment + Int64(visit) * 180 * 86_400_000
                inspections.append(
                    .generated(
                        generator.uuid(),
                        [
                            ("TreeID", .text(GUID.normalForm(globalID))), ("Inspected", .integer(date)),
                            ("Condition", .text(condition)), ("DBH", .real(diameter)),
                        ], at: date, by: "demo"))
            }
        }
        let wires = generator.pick([("None", 6.0), ("High voltage", 3), ("Low voltage", 1)])
        let jitter = (Double.random(in: -1...1, using: &generator), Double.random(in: -1...1, using: &generator))
        trees.append(
            .generated(
                globalID,
                [
                    ("SpeciesCode", .text(code)), ("Address", .text(address)), ("Neighborhood", .text(hood)),
                    ("Condition", .text(condition)), ("DBH", .real(diameter)), ("WiresOverhead", .text(wires)),
                    ("Inventoried", .integer(moment)),
                ], at: moment, by: "demo",
                geometry: Point(
                    x: ((x + jitter.0) * 10).rounded() / 10, y: ((y + jitter.1) * 10).rounded() / 10,
                    spatialReference: .webMercator)))
    }
}
