import FieldworkGeometry
import FieldworkLocator
import Foundation

/// The addresses of the demo's city: houses on both sides of its streets, numbered as its trees are, and its neighbourhoods.
struct PortlandAddresses {
    static let locatorName = "Portland"

    /// Makes the locator where it is missing.
    static func prepare(in folder: URL) async throws {
        let target = LocatorFile.url(name: locatorName, in: folder)
        guard !FileManager.default.fileExists(atPath: target.path) else { return }
        let made = try await LocatorMaker(name: locatorName, target: target).make { builder in
            try PortlandAddresses(transform: ProjectionTransform.between(.webMercator, .wgs84)).add(to: builder)
        }
        Terminal.error(made)
    }

    private let transform: ProjectionTransform

    /// A house stands so far from the middle of its street, in Web Mercator metres.
    private static let setback = 18.0
    /// Numbers within the hundred of a block that have a house.
    private static let streetHouses = [18]
    private static let avenueHouses = [54]

    private func add(to builder: LocatorBuilder) throws {
        try addPlaces(to: builder)
        for row in 0..<PortlandGrid.rows {
            for column in 0..<PortlandGrid.columns { try addBlock(column, row, to: builder) }
        }
    }

    // MARK: Streets and houses

    /// The street along the south of a block and the avenue along its west.
    private func addBlock(_ column: Int, _ row: Int, to builder: LocatorBuilder) throws {
        let left = PortlandGrid.west + Double(column) * PortlandGrid.blockWidth
        let bottom = PortlandGrid.south + Double(row) * PortlandGrid.blockHeight
        let street = "NE \(PortlandGrid.ordinal(row + 1)) St"
        let avenue = "NE \(PortlandGrid.ordinal(column + 1)) Ave"
        let zone = Self.zone(column, row)
        let (first, second) = (100 * (column + 1), 100 * (row + 1))
        try builder.add(
            StreetRecord(
                name: street, zone: zone, left: NumberRange(from: first, to: first + 40),
                right: NumberRange(from: first + 1, to: first + 41),
                line: degrees([left, bottom, left + PortlandGrid.blockWidth, bottom])))
        try builder.add(
            StreetRecord(
                name: avenue, zone: zone, left: NumberRange(from: second + 37, to: second + 69),
                right: NumberRange(from: second + 36, to: second + 68),
                line: degrees([left, bottom, left, bottom + PortlandGrid.blockHeight])))
        for number in Self.streetHouses {
            // Trees have six numbers every 15 metres, from 12 metres on.
            let x = left + 12 + 15 * Double(number) / 6
            try addHouse(first + number, street, zone, x, bottom + Self.setback, to: builder)
            try addHouse(first + number + 1, street, zone, x, bottom - Self.setback, to: builder)
        }
        for number in Self.avenueHouses {
            let y = bottom + 14 + 15 * Double(number - 42) / 6
            try addHouse(second + number, avenue, zone, left + Self.setback, y, to: builder)
            try addHouse(second + number + 1, avenue, zone, left - Self.setback, y, to: builder)
        }
    }

    private func addHouse(
        _ number: Int, _ street: String, _ zone: AddressZone, _ x: Double, _ y: Double, to builder: LocatorBuilder
    ) throws {
        let place = degrees([x, y])
        try builder.add(AddressRecord(number: "\(number)", street: street, zone: zone, x: place[0], y: place[1]))
    }

    // MARK: Places

    private static var hoodsAcross: Int { PortlandGrid.columns / PortlandGrid.hoodColumns }

    private static func hood(_ column: Int, _ row: Int) -> Int {
        min(row / PortlandGrid.hoodRows, 5) * hoodsAcross + min(column / PortlandGrid.hoodColumns, 5)
    }

    private static func zone(_ column: Int, _ row: Int) -> AddressZone {
        let hood = hood(column, row)
        return AddressZone(
            neighborhood: PortlandGrid.names[hood], city: "Portland", region: "OR", postal: "\(97_201 + hood)",
            country: "US")
    }

    private func addPlaces(to builder: LocatorBuilder) throws {
        let width = Double(PortlandGrid.hoodColumns) * PortlandGrid.blockWidth
        let height = Double(PortlandGrid.hoodRows) * PortlandGrid.blockHeight
        for (index, name) in PortlandGrid.names.enumerated() {
            let left = PortlandGrid.west + Double(index % Self.hoodsAcross) * width
            let bottom = PortlandGrid.south + Double(index / Self.hoodsAcross) * height
            let middle = degrees([left + width / 2, bottom + height / 2])
            let ring = degrees([
                left, bottom, left, bottom + height, left + width, bottom + height, left + width, bottom, left, bottom,
            ])
            try builder.add(
                PlaceRecord(
                    kind: .locality, type: "neighbourhood", name: name,
                    zone: AddressZone(city: "Portland", region: "OR", country: "US"), weight: 900, x: middle[0],
                    y: middle[1],
                    rings: [ring]))
        }
        let middle = degrees([PortlandGrid.west + 3 * width, PortlandGrid.south + 3 * height])
        try builder.add(
            PlaceRecord(
                kind: .locality, type: "city", name: "Portland", zone: AddressZone(region: "OR", country: "US"),
                weight: 650_000, x: middle[0], y: middle[1], reach: 10_000))
    }

    /// From Web Mercator; x and y in turn.
    private func degrees(_ coordinates: [Double]) -> [Double] {
        var xs = stride(from: 0, to: coordinates.count, by: 2).map { coordinates[$0] }
        var ys = stride(from: 1, to: coordinates.count, by: 2).map { coordinates[$0] }
        transform.apply(xs: &xs, ys: &ys)
        return zip(xs, ys).flatMap { [$0, $1] }
    }
}
