/// A rectangle along the axes of its spatial reference.
public final class Envelope: Geometry, @unchecked Sendable {
    /// The lowest and highest height, when there are any.
    public let zMin: Double?, zMax: Double?
    /// The lowest and highest measure, when there are any.
    public let mMin: Double?, mMax: Double?

    init(
        xMin: Double, yMin: Double, xMax: Double, yMax: Double, zRange: ClosedRange<Double>?,
        mRange: ClosedRange<Double>?, spatialReference: SpatialReference?
    ) {
        zMin = zRange?.lowerBound
        zMax = zRange?.upperBound
        mMin = mRange?.lowerBound
        mMax = mRange?.upperBound
        super.init(vertices: Vertices(coordinates: [xMin, yMin, xMax, yMax]), spatialReference: spatialReference)
    }

    /// By its sides, in units of the spatial reference. Sides given the wrong way round are exchanged.
    public convenience init(
        xMin: Double, yMin: Double, xMax: Double, yMax: Double, spatialReference: SpatialReference? = nil
    ) {
        self.init(
            xMin: min(xMin, xMax), yMin: min(yMin, yMax), xMax: max(xMin, xMax), yMax: max(yMin, yMax), zRange: nil,
            mRange: nil, spatialReference: spatialReference)
    }

    /// By ranges, in units of the spatial reference.
    public convenience init(
        xRange: ClosedRange<Double>, yRange: ClosedRange<Double>, zRange: ClosedRange<Double>? = nil,
        mRange: ClosedRange<Double>? = nil, spatialReference: SpatialReference? = nil
    ) {
        self.init(
            xMin: xRange.lowerBound, yMin: yRange.lowerBound, xMax: xRange.upperBound, yMax: yRange.upperBound,
            zRange: zRange, mRange: mRange, spatialReference: spatialReference)
    }

    /// Between two corners.
    public convenience init(min: Point, max: Point) {
        self.init(xMin: min.x, yMin: min.y, xMax: max.x, yMax: max.y, spatialReference: min.spatialReference)
    }

    /// Around a centre, with sizes in units of the spatial reference.
    public convenience init(center: Point, width: Double, height: Double, depth: Double? = nil) {
        let zRange = depth.flatMap { depth in center.z.map { ($0 - abs(depth) / 2)...($0 + abs(depth) / 2) } }
        self.init(
            xMin: center.x - abs(width) / 2, yMin: center.y - abs(height) / 2, xMax: center.x + abs(width) / 2,
            yMax: center.y + abs(height) / 2, zRange: zRange, mRange: nil, spatialReference: center.spatialReference)
    }

    convenience init(around vertices: Vertices, spatialReference: SpatialReference?) {
        var bounds = [Double](repeating: .infinity, count: 4) + [Double](repeating: -.infinity, count: 4)
        for index in 0..<vertices.count {
            let position = [vertices.x(index), vertices.y(index), vertices.z(index) ?? .nan, vertices.m(index) ?? .nan]
            for (axis, value) in position.enumerated() where !value.isNaN {
                bounds[axis] = min(bounds[axis], value)
                bounds[axis + 4] = max(bounds[axis + 4], value)
            }
        }
        func range(_ axis: Int) -> ClosedRange<Double>? {
            bounds[axis] <= bounds[axis + 4] ? bounds[axis]...bounds[axis + 4] : nil
        }
        let isEmpty = bounds[0] > bounds[4]
        self.init(
            xMin: isEmpty ? .nan : bounds[0], yMin: isEmpty ? .nan : bounds[1], xMax: isEmpty ? .nan : bounds[4],
            yMax: isEmpty ? .nan : bounds[5], zRange: range(2), mRange: range(3), spatialReference: spatialReference)
    }

    /// The west side.
    public var xMin: Double { vertices.coordinates[0] }
    /// The south side.
    public var yMin: Double { vertices.coordinates[1] }
    /// The east side.
    public var xMax: Double { vertices.coordinates[2] }
    /// The north side.
    public var yMax: Double { vertices.coordinates[3] }
    /// From west to east, in units of the spatial reference.
    public var width: Double { isEmpty ? 0 : xMax - xMin }
    /// From south to north, in units of the spatial reference.
    public var height: Double { isEmpty ? 0 : yMax - yMin }
    /// The middle.
    public var center: Point { Point(x: (xMin + xMax) / 2, y: (yMin + yMax) / 2, spatialReference: spatialReference) }

    public override var isEmpty: Bool { xMin.isNaN || yMin.isNaN || xMax.isNaN || yMax.isNaN }
    public override var hasZ: Bool { zMin != nil }
    public override var hasM: Bool { mMin != nil }
    public override var extent: Envelope { self }
    public override var dimension: Dimension { .area }

    override func hasSameContent(as other: Geometry) -> Bool {
        guard let other = other as? Envelope else { return false }
        return super.hasSameContent(as: other) && zMin == other.zMin && zMax == other.zMax && mMin == other.mMin
            && mMax == other.mMax
    }

    /// The four corners as a polygon, clockwise from the south-west.
    package func toPolygon() -> Polygon {
        Polygon(
            vertices: Vertices(coordinates: [xMin, yMin, xMin, yMax, xMax, yMax, xMax, yMin]),
            spatialReference: spatialReference)
    }
}
