/// Where coordinates of a spatial reference can be: what is outside was read in the wrong order, or belongs to another
/// reference.
package struct CoordinateRange: Sendable, Hashable {
    /// Metres from the middle of Web Mercator to its edge.
    private static let halfWebMercator = 20_037_508.342_789_244

    private let xMax: Double
    private let yMax: Double

    /// nil for references whose numbers may be any.
    package init?(_ reference: SpatialReference) {
        if reference.isGeographic {
            // Longitudes beyond 180 are written by data that goes over the date line.
            (xMax, yMax) = (360, 90)
        } else if [3_857, 102_100, 102_113, 900_913].contains(reference.wkid?.rawValue ?? 0) {
            // Two worlds wide; north and south it ends nowhere near.
            (xMax, yMax) = (2 * Self.halfWebMercator, 4 * Self.halfWebMercator)
        } else {
            return nil
        }
    }

    package func contains(x: Double, y: Double) -> Bool {
        let slack = 1e-9
        return abs(x) <= xMax * (1 + slack) && abs(y) <= yMax * (1 + slack)
    }

    /// Whether a position that is outside would be inside with its coordinates the other way round.
    package func looksSwapped(x: Double, y: Double) -> Bool { !contains(x: x, y: y) && contains(x: y, y: x) }
}
