import FieldworkGeometry
package import FieldworkREST

/// The order along a Hilbert curve: neighbours on the map become neighbours in the file, so that an extent reads few
/// pages.
package enum HilbertOrder {
    /// Cells along a side: 2^16, so that a position fits 32 bits.
    private static let order: UInt32 = 1 << 16
    /// More features than memory holds.
    private static let placeBits: UInt64 = 31

    /// The position of a point of `extent` along the curve. Points outside count as on its edge.
    package static func position(x: Double, y: Double, xMin: Double, yMin: Double, xMax: Double, yMax: Double) -> UInt32
    {
        func cell(_ value: Double, _ low: Double, _ high: Double) -> UInt32 {
            guard high > low, value > low else { return 0 }
            let part = (value - low) / (high - low)
            // Of extreme numbers both differences may be infinite.
            return part < 1 ? UInt32(part * Double(order - 1)) : order - 1
        }
        return position(cellX: cell(x, xMin, xMax), cellY: cell(y, yMin, yMax))
    }

    /// The position of a cell: at each level the quadrant is read, then turned as the curve turns in it.
    static func position(cellX: UInt32, cellY: UInt32) -> UInt32 {
        var (x, y, position) = (cellX, cellY, UInt32(0))
        var side = order / 2
        while side > 0 {
            let right: UInt32 = x & side > 0 ? 1 : 0
            let upper: UInt32 = y & side > 0 ? 1 : 0
            position &+= side &* side &* ((3 &* right) ^ upper)
            if upper == 0 {
                if right == 1 {
                    x = order - 1 &- x
                    y = order - 1 &- y
                }
                swap(&x, &y)
            }
            side /= 2
        }
        return position
    }

    /// The order in which to insert new features: along the curve through the centres of their boxes, those without
    /// geometry last, equals as they came.
    package static func order(of edits: [FeatureEdit]) -> [Int] {
        var bounds = GeometryBlob.Box.nothing
        let centres = edits.map { edit -> (x: Double, y: Double)? in
            guard case .geometry(let geometry) = edit.geometry, !geometry.isEmpty else { return nil }
            if let point = geometry as? Point, point.x.isFinite, point.y.isFinite {
                bounds.include(x: point.x, y: point.y)
                return (point.x, point.y)
            }
            let extent = geometry.extent
            let centre = (x: (extent.xMin + extent.xMax) / 2, y: (extent.yMin + extent.yMax) / 2)
            guard centre.x.isFinite, centre.y.isFinite else { return nil }
            bounds.include(x: centre.x, y: centre.y)
            return centre
        }
        // A position and the place in the request in one number, which is sorted faster than a pair.
        let keys = centres.enumerated().map { place, centre -> UInt64 in
            guard let centre else { return 1 << 63 | UInt64(place) }
            let position = position(
                x: centre.x, y: centre.y, xMin: bounds.xMin, yMin: bounds.yMin, xMax: bounds.xMax, yMax: bounds.yMax)
            return UInt64(position) << placeBits | UInt64(place)
        }
        return keys.sorted().map { Int($0 & (1 << placeBits - 1)) }
    }
}
