/// Where a line or a ring is cut, in units of a tile. Sides that don't cut are infinite.
package struct ClipBox: Sendable {
    package var xLow = -Double.infinity
    package var yLow = -Double.infinity
    package var xHigh = Double.infinity
    package var yHigh = Double.infinity

    package init(
        xLow: Double = -.infinity, yLow: Double = -.infinity, xHigh: Double = .infinity, yHigh: Double = .infinity
    ) {
        (self.xLow, self.yLow, self.xHigh, self.yHigh) = (xLow, yLow, xHigh, yHigh)
    }

    package func contains(_ place: (x: Double, y: Double)) -> Bool {
        place.x >= xLow && place.x <= xHigh && place.y >= yLow && place.y <= yHigh
    }
}

/// What remains of a line or a ring within a box.
package struct ClipBuffer: Sendable {
    package private(set) var xs: [Double] = []
    package private(set) var ys: [Double] = []
    /// The first vertex of each part of a line.
    package private(set) var starts: [Int] = []

    package init() {}

    package func part(_ index: Int) -> Range<Int> {
        starts[index]..<(index + 1 < starts.count ? starts[index + 1] : xs.count)
    }

    private mutating func clear() {
        xs.removeAll(keepingCapacity: true)
        ys.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ x: Double, _ y: Double) {
        xs.append(x)
        ys.append(y)
    }

    /// Liang and Barsky's rule for each side of the line; where it leaves and comes back a new part begins.
    package mutating func clipLine(_ line: [(x: Double, y: Double)], in box: ClipBox) {
        clear()
        var isOpen = false
        for index in line.indices.dropFirst() {
            let (from, to) = (line[index - 1], line[index])
            guard let (start, end) = Self.inside(from, to, box) else {
                isOpen = false
                continue
            }
            let (dx, dy) = (to.x - from.x, to.y - from.y)
            if !isOpen || start > 0 {
                starts.append(xs.count)
                append(from.x + start * dx, from.y + start * dy)
            }
            append(end < 1 ? from.x + end * dx : to.x, end < 1 ? from.y + end * dy : to.y)
            isOpen = end == 1
        }
    }

    /// Which stretch of a line between two places lies inside, from 0 to 1.
    private static func inside(
        _ from: (x: Double, y: Double), _ to: (x: Double, y: Double), _ box: ClipBox
    ) -> (Double, Double)? {
        var (start, end) = (0.0, 1.0)
        func cut(_ change: Double, _ room: Double) -> Bool {
            if change == 0 { return room >= 0 }
            let place = room / change
            if change < 0 {
                if place > end { return false }
                start = max(start, place)
            } else {
                if place < start { return false }
                end = min(end, place)
            }
            return true
        }
        let (dx, dy) = (to.x - from.x, to.y - from.y)
        guard cut(-dx, from.x - box.xLow), cut(dx, box.xHigh - from.x), cut(-dy, from.y - box.yLow),
            cut(dy, box.yHigh - from.y)
        else { return nil }
        return (start, end)
    }

    /// Sutherland and Hodgman's rule: side after side of the box.
    package mutating func clipRing(_ ring: [(x: Double, y: Double)], in box: ClipBox) {
        clear()
        if ring.allSatisfy(box.contains) {
            for place in ring { append(place.x, place.y) }
            return
        }
        var ring = ring
        if let first = ring.first, let last = ring.last, first == last { ring.removeLast() }
        for (side, limit) in [box.xLow, box.yLow, box.xHigh, box.yHigh].enumerated() where limit.isFinite {
            ring = Self.cut(ring, side: side, limit: limit)
            if ring.isEmpty { return }
        }
        for place in ring { append(place.x, place.y) }
    }

    /// Sides 0 and 1 are the least x and y, 2 and 3 the greatest.
    private static func cut(
        _ ring: [(x: Double, y: Double)], side: Int, limit: Double
    ) -> [(x: Double, y: Double)] {
        guard var previous = ring.last else { return [] }
        var result: [(x: Double, y: Double)] = []
        result.reserveCapacity(ring.count + 4)
        let isX = side == 0 || side == 2
        func depth(_ place: (x: Double, y: Double)) -> Double {
            let value = isX ? place.x : place.y
            return side < 2 ? value - limit : limit - value
        }
        var before = depth(previous)
        for place in ring {
            let now = depth(place)
            if (now >= 0) != (before >= 0) {
                let share = before / (before - now)
                result.append(
                    isX
                        ? (limit, previous.y + share * (place.y - previous.y))
                        : (previous.x + share * (place.x - previous.x), limit))
            }
            if now >= 0 { result.append(place) }
            (previous, before) = (place, now)
        }
        return result
    }
}
