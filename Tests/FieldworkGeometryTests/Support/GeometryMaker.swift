import TestSupport

@testable import FieldworkGeometry

/// Geometries of every kind, with and without heights and measures.
struct GeometryMaker {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private mutating func coordinate() -> Double {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: Double(Int.random(in: -180...180, using: &generator))
        case 1: Double.random(in: -1e-9...1e-9, using: &generator)
        default: Double.random(in: -20_000_000...20_000_000, using: &generator)
        }
    }

    private mutating func point(hasZ: Bool, hasM: Bool, x: Double? = nil, y: Double? = nil) -> Point {
        Point(
            x: x ?? coordinate(), y: y ?? coordinate(), z: hasZ ? coordinate() : nil, m: hasM ? coordinate() : nil,
            spatialReference: .webMercator)
    }

    /// A ring around a centre: clockwise for a shell, counter-clockwise for a hole.
    private mutating func ring(x: Double, y: Double, radius: Double, isShell: Bool, hasZ: Bool, hasM: Bool) -> [Point] {
        let corners: [(Double, Double)] =
            isShell ? [(-1, -1), (-1, 1), (1, 1), (1, -1)] : [(-1, -1), (1, -1), (1, 1), (-1, 1)]
        return corners.map { point(hasZ: hasZ, hasM: hasM, x: x + $0.0 * radius, y: y + $0.1 * radius) }
    }

    mutating func polygon(hasZ: Bool, hasM: Bool) -> Polygon {
        var rings: [MutablePart] = []
        for number in 0..<Int.random(in: 1...4, using: &generator) {
            let x = Double(number) * 100
            rings.append(MutablePart(points: ring(x: x, y: 0, radius: 40, isShell: true, hasZ: hasZ, hasM: hasM)))
            if Bool.random(using: &generator) {
                rings.append(
                    MutablePart(points: ring(x: x, y: 0, radius: 20, isShell: false, hasZ: hasZ, hasM: hasM)))
            }
        }
        return Polygon(parts: rings)
    }

    mutating func geometry() -> Geometry {
        let (hasZ, hasM) = (Bool.random(using: &generator), Bool.random(using: &generator))
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return point(hasZ: hasZ, hasM: hasM)
        case 1:
            let count = Int.random(in: 1...9, using: &generator)
            return Multipoint(points: (0..<count).map { _ in point(hasZ: hasZ, hasM: hasM) })
        case 2:
            let parts = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                MutablePart(
                    points: (0..<Int.random(in: 2...9, using: &generator)).map { _ in point(hasZ: hasZ, hasM: hasM) })
            }
            return Polyline(parts: parts)
        default: return polygon(hasZ: hasZ, hasM: hasM)
        }
    }
}
