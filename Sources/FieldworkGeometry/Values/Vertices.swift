/// The vertices of a geometry in one array: x and y, then z and m where the geometry has them. One allocation a
/// geometry, whatever its size.
package struct Vertices: Sendable, Hashable {
    package var coordinates: [Double]
    package let hasZ: Bool
    package let hasM: Bool
    /// The number of the first vertex of each part, beginning with 0; one part for kinds without parts.
    package var partStarts: [Int]

    package init(coordinates: [Double] = [], hasZ: Bool = false, hasM: Bool = false, partStarts: [Int] = [0]) {
        self.coordinates = coordinates
        self.hasZ = hasZ
        self.hasM = hasM
        self.partStarts = partStarts
    }

    /// Doubles a vertex.
    package var stride: Int { 2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0) }
    package var count: Int { coordinates.count / stride }

    package func x(_ index: Int) -> Double { coordinates[index * stride] }
    package func y(_ index: Int) -> Double { coordinates[index * stride + 1] }
    package func z(_ index: Int) -> Double? { hasZ ? coordinates[index * stride + 2] : nil }
    package func m(_ index: Int) -> Double? { hasM ? coordinates[index * stride + (hasZ ? 3 : 2)] : nil }

    /// The vertex numbers of each part.
    package var parts: [Range<Int>] {
        partStarts.indices.map { index in
            partStarts[index]..<(index + 1 < partStarts.count ? partStarts[index + 1] : count)
        }
    }

    package mutating func append(x: Double, y: Double, z: Double?, m: Double?) {
        coordinates.append(x)
        coordinates.append(y)
        if hasZ { coordinates.append(z ?? 0) }
        if hasM { coordinates.append(m ?? .nan) }
    }

    /// The same vertices with x and y replaced: same order, same count.
    package func replacingPositions(xs: [Double], ys: [Double], zs: [Double]? = nil) -> Vertices {
        var result = self
        for index in 0..<count {
            result.coordinates[index * stride] = xs[index]
            result.coordinates[index * stride + 1] = ys[index]
            if hasZ, let zs { result.coordinates[index * stride + 2] = zs[index] }
        }
        return result
    }

    func isEqual(to other: Vertices, tolerance: Double) -> Bool {
        hasZ == other.hasZ && hasM == other.hasM && partStarts == other.partStarts
            && coordinates.count == other.coordinates.count
            && zip(coordinates, other.coordinates).allSatisfy { one, other in
                one == other || abs(one - other) <= tolerance || (one.isNaN && other.isNaN)
            }
    }

    // A missing measure is NaN; two of them are the same here, so that a geometry equals itself.
    package static func == (one: Vertices, other: Vertices) -> Bool { one.isEqual(to: other, tolerance: 0) }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(partStarts)
        for coordinate in coordinates where !coordinate.isNaN { hasher.combine(coordinate) }
    }

    /// The vertices of points; a height or measure that any point has is given to all.
    init(points: [Point], partStarts: [Int] = [0]) {
        self.init(
            hasZ: points.contains(where: \.hasZ), hasM: points.contains(where: \.hasM), partStarts: partStarts)
        coordinates.reserveCapacity(points.count * stride)
        for point in points { append(x: point.x, y: point.y, z: point.z, m: point.m) }
    }

    /// Whether every x, y and height is a number; a measure may be missing.
    package var isFinite: Bool {
        let (stride, positions) = (stride, hasZ ? 3 : 2)
        return coordinates.indices.allSatisfy { $0 % stride >= positions || coordinates[$0].isFinite }
    }

    func point(_ index: Int, spatialReference: SpatialReference?) -> Point {
        Point(x: x(index), y: y(index), z: z(index), m: m(index), spatialReference: spatialReference)
    }
}

extension Vertices {
    /// Without the last vertex of each part that repeats its first: rings as polygons keep them.
    package var withOpenRings: Vertices {
        var result = Vertices(hasZ: hasZ, hasM: hasM, partStarts: [])
        for part in parts {
            RingWinding.append(self, RingWinding.opened(self, part), clockwise: nil, to: &result)
        }
        if result.partStarts.isEmpty { result.partStarts = [0] }
        return result
    }
}
