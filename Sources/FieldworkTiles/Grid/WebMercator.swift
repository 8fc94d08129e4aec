import Foundation

/// The spherical Mercator plane of web maps (wkid 3857 and 102100), in metres, and its degrees (WGS 84).
package enum WebMercator {
    package static let radius = 6_378_137.0
    package static let halfSide = 20_037_508.342787
    /// Beyond it the plane ends.
    package static let greatestLatitude = 85.05112878
    /// What one pixel of a tile of 512 pixels stands for at level 0, in metres.
    package static let resolution = 2 * halfSide / 512
    /// The scale of level 0, for tiles of 512 pixels of which 96 are an inch.
    package static let scale = 295_828_763.7957775

    package static func x(longitude: Double) -> Double { longitude * halfSide / 180 }

    package static func y(latitude: Double) -> Double {
        let bounded = min(max(latitude, -greatestLatitude), greatestLatitude)
        return asinh(tan(bounded * .pi / 180)) * radius
    }

    package static func longitude(x: Double) -> Double { x * 180 / halfSide }

    package static func latitude(y: Double) -> Double { atan(sinh(y / radius)) * 180 / .pi }

    /// How many metres of the plane a metre on the ground takes at a height of the plane.
    package static func stretch(y: Double) -> Double { cosh(y / radius) }

    /// The level at which a map of 512-pixel tiles has a scale; nil for no scale, which the protocol writes as 0.
    package static func level(scale wanted: Double) -> Double? {
        guard wanted > 0, wanted.isFinite else { return nil }
        return min(max((log2(scale / wanted) * 1e6).rounded() / 1e6, 0), 24)
    }
}
