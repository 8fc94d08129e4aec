import FieldworkTiles
import Foundation

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
