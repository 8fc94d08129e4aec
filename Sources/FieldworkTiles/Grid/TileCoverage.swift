package import FieldworkGeometry

/// The tiles of an area: those of its box, and of a polygon only those that meet it.
package struct TileCoverage: Sendable {
    /// In metres of the plane.
    package let box: PlaneBox
    private let polygon: Geometry?

    /// The tiles of a box.
    package init(box: PlaneBox) {
        self.box = box
        polygon = nil
    }

    /// The tiles that a geometry of the plane meets; nil for one without an extent.
    package init?(_ geometry: Geometry) {
        let extent = geometry.extent
        guard [extent.xMin, extent.yMin, extent.xMax, extent.yMax].allSatisfy(\.isFinite) else { return nil }
        box = PlaneBox(xMin: extent.xMin, yMin: extent.yMin, xMax: extent.xMax, yMax: extent.yMax)
        polygon = geometry is Envelope ? nil : geometry
    }

    /// The same within another box; nil where nothing is left.
    package func within(_ other: PlaneBox) -> TileCoverage? {
        let common = PlaneBox(
            xMin: max(box.xMin, other.xMin), yMin: max(box.yMin, other.yMin), xMax: min(box.xMax, other.xMax),
            yMax: min(box.yMax, other.yMax))
        guard common.xMin <= common.xMax, common.yMin <= common.yMax else { return nil }
        return TileCoverage(box: common, polygon: polygon)
    }

    private init(box: PlaneBox, polygon: Geometry?) {
        self.box = box
        self.polygon = polygon
    }

    /// How many tiles of some levels there are; nil for more than a greatest number.
    package func count(levels: some Sequence<Int>, most: Int) -> Int? {
        var count = 0
        for level in levels {
            guard polygon != nil else {
                let (columns, rows) = box.tiles(level: level)
                count += columns.count * rows.count
                if count > most { return nil }
                continue
            }
            let isWhole = forEach(level: level) { _ in
                count += 1
                return count <= most
            }
            guard isWhole else { return nil }
        }
        return count
    }

    /// Gives the tiles of a level, quarter by quarter: those of a square of tiles come together, whatever its size.
    /// - Parameter body: says whether to go on.
    /// - Returns: false when `body` ended it.
    @discardableResult
    package func forEach<Failure: Error>(
        level: Int, _ body: (TileAddress) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        guard (0...Limits.tileLevel).contains(level), let root = TileAddress(level: 0, column: 0, row: 0) else {
            return true
        }
        let area = polygon.flatMap { try? PreparedArea($0) }
        // What GEOS can't read has no tiles.
        if polygon != nil, area == nil { return true }
        return try descend(root, to: level, box.tiles(level: level), within: area, body)
    }

    /// - Parameter area: nil for a tile that is wholly inside.
    private func descend<Failure: Error>(
        _ tile: TileAddress, to level: Int, _ range: (columns: ClosedRange<Int>, rows: ClosedRange<Int>),
        within area: PreparedArea?, _ body: (TileAddress) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        let shift = level - tile.level
        let (columns, rows) = (
            (tile.column << shift)...(((tile.column + 1) << shift) - 1),
            (tile.row << shift)...(((tile.row + 1) << shift) - 1)
        )
        guard columns.overlaps(range.columns), rows.overlaps(range.rows) else { return true }
        var area = area
        switch area?.position(of: tile.square) {
        case .outside: return true
        case .inside: area = nil
        case .partlyInside, nil: break
        }
        guard shift > 0 else { return try body(tile) }
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            guard
                let child = TileAddress(
                    level: tile.level + 1, column: 2 * tile.column + column, row: 2 * tile.row + row)
            else { continue }
            guard try descend(child, to: level, range, within: area, body) else { return false }
        }
        return true
    }
}

extension TileAddress {
    /// The tile's square in the plane.
    fileprivate var square: Envelope {
        Envelope(xMin: xMin, yMin: yMax - side, xMax: xMin + side, yMax: yMax, spatialReference: .webMercator)
    }
}
