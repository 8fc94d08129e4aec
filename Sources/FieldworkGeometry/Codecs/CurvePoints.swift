import Foundation

/// Positions along curves, without the start and with the end.
enum CurvePoints {
    typealias Position = (x: Double, y: Double)

    static func bezier(_ start: Position, _ first: Position, _ second: Position, _ end: Position) -> [Position] {
        let segment = CubicBezierSegment(
            startPoint: Point(x: start.x, y: start.y), controlPoint1: Point(x: first.x, y: first.y),
            controlPoint2: Point(x: second.x, y: second.y), endPoint: Point(x: end.x, y: end.y))
        return (1...GeometryLimits.curvePieces).map {
            segment.position(at: Double($0) / Double(GeometryLimits.curvePieces))
        }
    }

    /// The arc through three positions; a straight line when they lie on one, a full circle when it ends where it starts.
    static func circular(_ start: Position, through middle: Position, _ end: Position) -> [Position] {
        if start == end {
            guard start != middle else { return [end] }
            let center = (x: (start.x + middle.x) / 2, y: (start.y + middle.y) / 2)
            return arc(start, end, center: center, sweep: -2 * .pi, rotation: 0, ratio: 1)
        }
        guard let circle = circle(start, through: middle, end) else { return [middle, end] }
        return arc(start, end, center: circle.center, sweep: circle.sweep, rotation: 0, ratio: 1)
    }

    /// The centre of the circle through three positions and the turn from the first to the last, in radians; nil when
    /// they lie on a line.
    static func circle(
        _ start: Position, through middle: Position, _ end: Position
    ) -> (center: Position, sweep: Double)? {
        let (ax, ay) = (middle.x - start.x, middle.y - start.y)
        let (bx, by) = (end.x - start.x, end.y - start.y)
        let cross = 2 * (ax * by - ay * bx)
        guard abs(cross) > 1e-12 * max(abs(ax * by), abs(ay * bx), 1e-300) else { return nil }
        let (aa, bb) = (ax * ax + ay * ay, bx * bx + by * by)
        let center = (x: start.x + (by * aa - ay * bb) / cross, y: start.y + (ax * bb - bx * aa) / cross)
        let from = atan2(start.y - center.y, start.x - center.x)
        var sweep = atan2(end.y - center.y, end.x - center.x) - from
        // Three positions turn to the left when the cross product is positive.
        if cross > 0, sweep < 0 { sweep += 2 * .pi }
        if cross < 0, sweep > 0 { sweep -= 2 * .pi }
        return (center, sweep)
    }

    /// `parameters`: minor, clockwise, then for ellipses rotation, semi-major axis and ratio.
    static func elliptic(_ start: Position, _ end: Position, center: Position, parameters: [Double]) -> [Position] {
        let isMinor = parameters.first ?? 1 != 0
        let isClockwise = parameters.count > 1 && parameters[1] != 0
        let rotation = parameters.count > 2 ? parameters[2] : 0
        let ratio = parameters.count > 4 && parameters[4] > 0 ? parameters[4] : 1
        func angle(_ position: Position) -> Double {
            let (dx, dy) = (position.x - center.x, position.y - center.y)
            let (u, v) = (dx * cos(rotation) + dy * sin(rotation), -dx * sin(rotation) + dy * cos(rotation))
            return atan2(v / ratio, u)
        }
        var sweep = start == end ? 0 : angle(end) - angle(start)
        if isClockwise { while sweep > 0 { sweep -= 2 * .pi } } else { while sweep < 0 { sweep += 2 * .pi } }
        if start == end { sweep = isClockwise ? -2 * .pi : 2 * .pi }
        // The direction decides; the flag for the minor arc only where the direction left both ways open.
        if parameters.count == 1, isMinor, abs(sweep) > .pi { sweep -= 2 * .pi }
        return arc(start, end, center: center, sweep: sweep, rotation: rotation, ratio: ratio)
    }

    private static func arc(
        _ start: Position, _ end: Position, center: Position, sweep: Double, rotation: Double, ratio: Double
    ) -> [Position] {
        let (dx, dy) = (start.x - center.x, start.y - center.y)
        let (u, v) = (dx * cos(rotation) + dy * sin(rotation), (-dx * sin(rotation) + dy * cos(rotation)) / ratio)
        let (axis, from) = (hypot(u, v), atan2(v, u))
        guard axis.isFinite, axis > 0, sweep.isFinite else { return [end] }
        let place = Point(x: center.x, y: center.y)
        var positions: [Position] = (1..<GeometryLimits.curvePieces).map { step in
            EllipticArcSegment.position(
                at: from + sweep * Double(step) / Double(GeometryLimits.curvePieces), center: place, rotation: rotation,
                axis: axis, ratio: ratio)
        }
        positions.append(end)
        return positions
    }
}
