import Foundation

/// The grid of the map: squares of the Web Mercator plane, rows counted from the top.
struct TileAddress: Hashable, Sendable {
    let level: Int
    let column: Int
    let row: Int

    /// nil where there is no such tile.
    init?(level: Int, column: Int, row: Int) {
        guard (0...Limits.tileLevel).contains(level) else { return nil }
        let count = 1 << level
        guard (0..<count).contains(column), (0..<count).contains(row) else { return nil }
        self.level = level
        self.column = column
        self.row = row
    }

    /// Metres of the plane along one side.
    var side: Double { 2 * WebMercator.halfSide / Double(1 << level) }
    var xMin: Double { -WebMercator.halfSide + Double(column) * side }
    var yMax: Double { WebMercator.halfSide - Double(row) * side }
}

/// The spherical Mercator plane of web maps (wkid 3857 and 102100), in metres, and its degrees (WGS 84).
enum WebMercator {
    static let radius = 6_378_137.0
    static let halfSide = 20_037_508.342787
    /// Beyond it the plane ends.
    static let greatestLatitude = 85.05112878

    static func x(longitude: Double) -> Double { longitude * halfSide / 180 }

    static func y(latitude: Double) -> Double {
        let bounded = min(max(latitude, -greatestLatitude), greatestLatitude)
        return asinh(tan(bounded * .pi / 180)) * radius
    }

    static func longitude(x: Double) -> Double { x * 180 / halfSide }

    static func latitude(y: Double) -> Double { atan(sinh(y / radius)) * 180 / .pi }

    /// How many metres of the plane a metre on the ground takes at a height of the plane.
    static func stretch(y: Double) -> Double { cosh(y / radius) }
}

/// A place in degrees, WGS 84, as pages and forms give it.
struct Place: Sendable, Hashable, Codable {
    let longitude: Double
    let latitude: Double

    /// nil for places that the map's plane doesn't hold.
    init?(longitude: Double, latitude: Double) {
        guard longitude.isFinite, latitude.isFinite, abs(longitude) <= 540,
            abs(latitude) <= WebMercator.greatestLatitude
        else { return nil }
        // A map dragged past the edge of the world counts on; the service knows each place once.
        self.longitude = longitude - 360 * (longitude / 360).rounded()
        self.latitude = latitude
    }

    var x: Double { WebMercator.x(longitude: longitude) }
    var y: Double { WebMercator.y(latitude: latitude) }

    init?(x: Double, y: Double) {
        self.init(longitude: WebMercator.longitude(x: x), latitude: WebMercator.latitude(y: y))
    }

    /// Metres on the sphere and the direction from here.
    func distance(to other: Place) -> (metres: Double, direction: String) {
        let middle = (latitude + other.latitude) / 2 * .pi / 180
        let metresPerDegree = WebMercator.radius * .pi / 180
        let north = (other.latitude - latitude) * metresPerDegree
        let east = (other.longitude - longitude) * metresPerDegree * cos(middle)
        let names = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]
        let turn = (atan2(east, north) * 180 / .pi + 360).truncatingRemainder(dividingBy: 360)
        return ((north * north + east * east).squareRoot(), names[Int((turn / 45).rounded()) % 8])
    }
}
