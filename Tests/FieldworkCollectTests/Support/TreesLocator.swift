import FieldworkLocator
import Foundation

/// The addresses of a street through the trees of the tests.
enum TreesLocator {
    static let zone = AddressZone(
        neighborhood: "Concordia", city: "Portland", region: "OR", postal: "97211", country: "US")
    static let latitude = 45.5661

    /// A house each thousandth of a degree, numbered from west to east.
    static func make(in folder: URL) throws {
        let builder = try LocatorBuilder(name: "Portland", at: LocatorFile.url(name: "Portland", in: folder))
        for index in 0..<20 {
            let x = -122.640 + Double(index) * 0.001
            try builder.add(
                AddressRecord(
                    number: "\(3200 + 10 * index)", street: "NE Holman St", zone: zone, x: x, y: latitude))
        }
        try builder.add(
            StreetRecord(
                name: "NE Holman St", zone: zone, line: [-122.641, latitude - 0.0001, -122.619, latitude - 0.0001]))
        try builder.add(
            PlaceRecord(
                kind: .locality, type: "city", name: "Portland", zone: AddressZone(region: "OR", country: "US"),
                weight: 600_000, x: -122.65, y: 45.52, reach: 9_000))
        try builder.finish()
    }
}
