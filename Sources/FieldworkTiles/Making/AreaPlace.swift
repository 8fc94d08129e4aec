/// Where the name of an area stands: within it.
enum AreaPlace {
    /// - Parameter shape: its first part is the shell.
    static func place(in shape: TileShape) -> (x: Double, y: Double)? {
        guard let shell = shape.parts.first, shell.count >= 4 else { return nil }
        let middle = centroid(shape, shell)
        if contains(shape, x: middle.x, y: middle.y) { return middle }
        return widest(shape, y: middle.y) ?? (shape.xs[shell.lowerBound], shape.ys[shell.lowerBound])
    }

    /// Square metres of the plane; positive when the ring runs against the clock.
    static func signedArea(_ shape: TileShape, _ ring: Range<Int>) -> Double {
        var sum = 0.0
        guard var before = ring.last else { return 0 }
        let (originX, originY) = (shape.xs[before], shape.ys[before])
        for index in ring {
            sum += (shape.xs[before] - originX) * (shape.ys[index] - originY)
            sum -= (shape.xs[index] - originX) * (shape.ys[before] - originY)
            before = index
        }
        return sum / 2
    }

    private static func centroid(_ shape: TileShape, _ ring: Range<Int>) -> (x: Double, y: Double) {
        let (originX, originY) = (shape.xs[ring.lowerBound], shape.ys[ring.lowerBound])
        var (x, y, area) = (0.0, 0.0, 0.0)
        for index in ring.dropLast() {
            let (ax, ay) = (shape.xs[index] - originX, shape.ys[index] - originY)
            let (bx, by) = (shape.xs[index + 1] - originX, shape.ys[index + 1] - originY)
            let cross = ax * by - bx * ay
            x += (ax + bx) * cross
            y += (ay + by) * cross
            area += cross
        }
        guard area != 0 else { return (originX, originY) }
        return (originX + x / (3 * area), originY + y / (3 * area))
    }

    /// Whether a place lies in a shape: an odd number of its rings' sides stand to the right of it.
    static func contains(_ shape: TileShape, x: Double, y: Double) -> Bool {
        crossings(shape, y: y).count { $0 > x } % 2 == 1
    }

    /// Where the sides of all rings cross a line of latitude.
    private static func crossings(_ shape: TileShape, y: Double) -> [Double] {
        var found: [Double] = []
        for ring in shape.parts {
            for index in ring.dropLast() {
                let (ay, by) = (shape.ys[index], shape.ys[index + 1])
                guard (ay > y) != (by > y) else { continue }
                found.append(shape.xs[index] + (y - ay) / (by - ay) * (shape.xs[index + 1] - shape.xs[index]))
            }
        }
        return found
    }

    /// The middle of the longest stretch of a line of latitude within the shape.
    private static func widest(_ shape: TileShape, y: Double) -> (x: Double, y: Double)? {
        let found = crossings(shape, y: y).sorted()
        var best: (width: Double, x: Double)?
        for index in stride(from: 0, to: found.count - 1, by: 2) {
            let width = found[index + 1] - found[index]
            if width > best?.width ?? 0 { best = (width, (found[index] + found[index + 1]) / 2) }
        }
        return best.map { ($0.x, y) }
    }
}
