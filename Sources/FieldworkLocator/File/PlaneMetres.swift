import Foundation

/// Distances about a place in metres: degrees of the ellipsoid of WGS 84 taken as a plane, which is exact to a thousandth within
/// ten kilometres.
package struct PlaneMetres: Sendable {
    package let perDegreeX: Double
    package let perDegreeY: Double

    /// - Parameter latitude: where.
    package init(latitude: Double) {
        let phi = max(-89.9, min(89.9, latitude)) * .pi / 180
        let squared = 0.006_694_379_990_14
        let curvature = 1 - squared * sin(phi) * sin(phi)
        perDegreeX = .pi / 180 * 6_378_137 * cos(phi) / curvature.squareRoot()
        perDegreeY = .pi / 180 * 6_378_137 * (1 - squared) / (curvature * curvature.squareRoot())
    }

    package func distance(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> Double {
        var dx = abs(x2 - x1)
        if dx > 180 { dx = 360 - dx }
        dx *= perDegreeX
        let dy = (y2 - y1) * perDegreeY
        return (dx * dx + dy * dy).squareRoot()
    }

    /// Metres over the ground between places that may be far apart, on a sphere.
    package static func far(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> Double {
        let radians = Double.pi / 180
        let a =
            pow(sin((y2 - y1) * radians / 2), 2) + cos(y1 * radians) * cos(y2 * radians)
            * pow(sin((x2 - x1) * radians / 2), 2)
        return 2 * 6_371_008.8 * asin(min(1, a.squareRoot()))
    }
}

/// The nearest place of a line to a point.
package struct LineFoot: Sendable {
    package var x: Double
    package var y: Double
    package var distance: Double
    /// Metres along the line to it, and of the whole line.
    package var along: Double
    package var length: Double
    /// Whether the point lies to the left of the line's direction.
    package var isLeft: Bool

    /// - Parameter line: degrees, x and y in turn, at least two points.
    package init?(of x: Double, _ y: Double, on line: [Double]) {
        guard line.count >= 4 else { return nil }
        let plane = PlaneMetres(latitude: y)
        var best: (distance: Double, along: Double, x: Double, y: Double, isLeft: Bool)?
        var walked = 0.0
        for index in stride(from: 0, through: line.count - 4, by: 2) {
            let (ax, ay) = ((line[index] - x) * plane.perDegreeX, (line[index + 1] - y) * plane.perDegreeY)
            let (bx, by) = ((line[index + 2] - x) * plane.perDegreeX, (line[index + 3] - y) * plane.perDegreeY)
            let (dx, dy) = (bx - ax, by - ay)
            let squared = dx * dx + dy * dy
            let share = squared > 0 ? max(0, min(1, -(ax * dx + ay * dy) / squared)) : 0
            let (px, py) = (ax + share * dx, ay + share * dy)
            let distance = (px * px + py * py).squareRoot()
            let length = squared.squareRoot()
            if distance < best?.distance ?? .infinity {
                best = (
                    distance, walked + share * length, x + px / plane.perDegreeX, y + py / plane.perDegreeY,
                    dx * -ay - dy * -ax > 0
                )
            }
            walked += length
        }
        guard let best else { return nil }
        (distance, along, self.x, self.y, isLeft) = best
        length = walked
    }

    /// The place so many metres along a line, moved to its side.
    package static func place(
        on line: [Double], at metres: Double, toLeft side: Double = 0
    ) -> (x: Double, y: Double)? {
        guard line.count >= 4 else { return nil }
        let plane = PlaneMetres(latitude: line[1])
        var left = max(0, metres)
        for index in stride(from: 0, through: line.count - 4, by: 2) {
            let dx = (line[index + 2] - line[index]) * plane.perDegreeX
            let dy = (line[index + 3] - line[index + 1]) * plane.perDegreeY
            let length = (dx * dx + dy * dy).squareRoot()
            let isLast = index + 4 >= line.count
            if left > length && !isLast {
                left -= length
                continue
            }
            guard length > 0 else { return (line[index], line[index + 1]) }
            let share = min(1, left / length)
            return (
                line[index] + (share * dx - side * dy / length) / plane.perDegreeX,
                line[index + 1] + (share * dy + side * dx / length) / plane.perDegreeY
            )
        }
        return nil
    }

    /// The length of a line in metres.
    package static func length(_ line: [Double]) -> Double {
        guard line.count >= 4 else { return 0 }
        let plane = PlaneMetres(latitude: line[1])
        var sum = 0.0
        for index in stride(from: 0, through: line.count - 4, by: 2) {
            sum += plane.distance(line[index], line[index + 1], line[index + 2], line[index + 3])
        }
        return sum
    }
}
