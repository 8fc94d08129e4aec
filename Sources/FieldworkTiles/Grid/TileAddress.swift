/// A square of the grid that web maps share: the Web Mercator plane, halved at each level, rows counted from the top.
package struct TileAddress: Hashable, Sendable {
    package let level: Int
    package let column: Int
    package let row: Int

    /// nil where there is no such tile.
    package init?(level: Int, column: Int, row: Int) {
        guard (0...Limits.tileLevel).contains(level) else { return nil }
        let count = 1 << level
        guard (0..<count).contains(column), (0..<count).contains(row) else { return nil }
        self.level = level
        self.column = column
        self.row = row
    }

    /// Metres of the plane along one side.
    package var side: Double { 2 * WebMercator.halfSide / Double(1 << level) }
    package var xMin: Double { -WebMercator.halfSide + Double(column) * side }
    package var yMax: Double { WebMercator.halfSide - Double(row) * side }

    /// The tile of a level above that this one is a part of; itself at its own level.
    package func ancestor(level wanted: Int) -> TileAddress {
        let shift = max(0, level - max(0, wanted))
        return TileAddress(level: level - shift, column: column >> shift, row: row >> shift) ?? self
    }
}

/// A box of the plane.
package struct PlaneBox: Sendable, Hashable {
    package var xMin: Double
    package var yMin: Double
    package var xMax: Double
    package var yMax: Double

    package init(xMin: Double, yMin: Double, xMax: Double, yMax: Double) {
        (self.xMin, self.yMin, self.xMax, self.yMax) = (xMin, yMin, xMax, yMax)
    }

    /// The box with so many metres more on each side.
    package func grown(by margin: Double) -> PlaneBox {
        PlaneBox(xMin: xMin - margin, yMin: yMin - margin, xMax: xMax + margin, yMax: yMax + margin)
    }

    /// The columns and rows of a level that the box touches.
    package func tiles(level: Int) -> (columns: ClosedRange<Int>, rows: ClosedRange<Int>) {
        let count = 1 << min(max(level, 0), Limits.tileLevel)
        let side = 2 * WebMercator.halfSide / Double(count)
        func index(_ metres: Double) -> Int {
            let place = (metres / side).rounded(.down)
            return place.isNaN ? 0 : Int(min(max(place, 0), Double(count - 1)))
        }
        let columns = (index(xMin + WebMercator.halfSide), index(xMax + WebMercator.halfSide))
        let rows = (index(WebMercator.halfSide - yMax), index(WebMercator.halfSide - yMin))
        return (columns.0...max(columns.0, columns.1), rows.0...max(rows.0, rows.1))
    }
}

extension TileAddress {
    package var box: PlaneBox { PlaneBox(xMin: xMin, yMin: yMax - side, xMax: xMin + side, yMax: yMax) }
}
