import FieldworkREST

/// Turns the vertices of one feature, metres of the Web Mercator plane, into the commands of a vector tile: generalised,
/// clipped, rounded, without repeats, rings wound as the format wants them. Its arrays keep their memory for the next.
///
/// Lines and rings are generalised as wholes, before they are clipped: both sides of a tile's edge see the same vertices.
package struct TileGeometry: Sendable {
    let address: TileAddress
    /// Units that are kept around the tile.
    let margin: Double
    /// Metres that a generalised line may be away; 0 keeps all vertices.
    let tolerance: Double
    private let scale: Double
    private var written = TileCommands()
    package var commands: [UInt32] { written.list }
    /// Whether a feature had more vertices than a renderer can number.
    package private(set) var isCut = false
    private var clipped = ClipBuffer()
    private var part = TilePart()
    private var vertices = 0
    /// The area of polygons too small to be drawn, until it is enough for a pixel.
    private var smallArea = 0.0

    /// Half a pixel of a map whose tiles measure 512.
    static let unitsPerPixel = Double(VectorLayer.extent) / 512

    /// - Parameter simplifies: below the deepest level; what is enlarged keeps all its vertices.
    package init(address: TileAddress, margin: Double, simplifies: Bool) {
        self.address = address
        self.margin = margin
        scale = Double(VectorLayer.extent) / address.side
        tolerance = simplifies ? Self.unitsPerPixel / 2 / scale : 0
    }

    private mutating func begin() {
        written.begin()
        vertices = 0
    }

    private var low: Double { -margin }
    private var high: Double { Double(VectorLayer.extent) + margin }
    private var box: ClipBox { ClipBox(xLow: low, yLow: low, xHigh: high, yHigh: high) }

    @inline(__always) private func unitX(_ x: Double) -> Double { (x - address.xMin) * scale }
    @inline(__always) private func unitY(_ y: Double) -> Double { (address.yMax - y) * scale }

    // MARK: Points

    private static let cellSide = unitsPerPixel * 4
    private var cellsAcross: Int { Int((high - low) / Self.cellSide) + 1 }
    /// Numbers of cells are smaller.
    package var cellCount: Int { cellsAcross * cellsAcross }

    /// The cell of four pixels that a point lies in; nil outside of the tile and its margin.
    package func cell(x: Double, y: Double) -> Int? {
        let (column, row) = (unitX(x), unitY(y))
        guard column >= low, column < high, row >= low, row < high else { return nil }
        return Int((row - low) / Self.cellSide) * cellsAcross + Int((column - low) / Self.cellSide)
    }

    package mutating func points(_ xs: [Double], _ ys: [Double]) {
        begin()
        var places: [(x: Int32, y: Int32)] = []
        for (x, y) in zip(xs, ys) {
            let (column, row) = (unitX(x), unitY(y))
            guard column >= low, column < high, row >= low, row < high, places.count < Limits.featureVertices else {
                continue
            }
            places.append((Int32(column.rounded()), Int32(row.rounded())))
        }
        written.points(places)
    }

    package mutating func point(_ x: Double, _ y: Double) {
        begin()
        let (column, row) = (unitX(x), unitY(y))
        guard column >= low, column < high, row >= low, row < high else { return }
        written.point((Int32(column.rounded()), Int32(row.rounded())))
    }

    // MARK: Lines

    package mutating func lines(_ shape: TileShape) {
        begin()
        guard touches(shape), !isTooSmall(shape) else { return }
        for part in shape.parts {
            let kept = chosen(shape, part)
            clipped.clipLine(kept, in: box)
            for index in clipped.starts.indices { appendLine(clipped.part(index)) }
        }
    }

    private mutating func appendLine(_ range: Range<Int>) {
        part.round(clipped, range)
        guard part.places.count >= 2, fits(part.places.count) else { return }
        written.line(part.places)
    }

    // MARK: Polygons

    package mutating func polygons(_ shape: TileShape) {
        begin()
        guard touches(shape) else { return }
        var hasShell = false
        for (index, part) in shape.parts.enumerated() {
            let isShell = shape.areShells.indices.contains(index) ? shape.areShells[index] : true
            if !isShell, !hasShell { continue }
            var ring = chosen(shape, part)
            // A small ring keeps its area, which is counted: see `diffuse`.
            if ring.count < 4 { ring = part.map { (unitX(shape.xs[$0]), unitY(shape.ys[$0])) } }
            clipped.clipRing(ring, in: box)
            let isDrawn = appendRing(isShell: isShell)
            if isShell { hasShell = isDrawn }
        }
    }

    /// - Returns: whether there is something of the ring.
    private mutating func appendRing(isShell: Bool) -> Bool {
        part.round(clipped, clipped.xs.indices)
        part.open()
        let area = part.signedArea
        if isShell, tolerance > 0, abs(area) < Self.unitsPerPixel * Self.unitsPerPixel { return diffuse(abs(area)) }
        guard part.places.count >= 3, area != 0, fits(part.places.count) else { return false }
        // With y downwards shells have a positive area, holes a negative one.
        if (area > 0) != isShell { part.places.reverse() }
        written.ring(part.places)
        return true
    }

    /// Polygons smaller than a pixel are drawn as one of a pixel each time they make so much together, so that a quarter of
    /// small houses doesn't vanish from the map.
    private mutating func diffuse(_ area: Double) -> Bool {
        let side = Self.unitsPerPixel
        guard let first = part.places.first else { return false }
        smallArea += area
        guard smallArea >= side * side else { return false }
        smallArea -= side * side
        let step = Int32(side)
        written.ring([first, (first.x + step, first.y), (first.x + step, first.y + step), (first.x, first.y + step)])
        // Its holes are not drawn.
        return false
    }

    // MARK: Steps

    private mutating func fits(_ count: Int) -> Bool {
        vertices += count
        if vertices > Limits.featureVertices { isCut = true }
        return vertices <= Limits.featureVertices
    }

    /// The vertices of a part that remain of it at this level, in units of the tile.
    private func chosen(_ shape: TileShape, _ part: Range<Int>) -> [(x: Double, y: Double)] {
        guard tolerance > 0, part.count > 2 else { return part.map { (unitX(shape.xs[$0]), unitY(shape.ys[$0])) } }
        return Generalization.keptVertices(xs: shape.xs, ys: shape.ys, in: part, tolerance: tolerance)
            .map { (unitX(shape.xs[$0]), unitY(shape.ys[$0])) }
    }

    private func touches(_ shape: TileShape) -> Bool {
        guard let box = shape.box else { return false }
        return unitX(box.xMax) >= low && unitX(box.xMin) <= high && unitY(box.yMin) >= low && unitY(box.yMax) <= high
    }

    /// Shorter than a pixel either way.
    private func isTooSmall(_ shape: TileShape) -> Bool {
        guard tolerance > 0, let box = shape.box else { return false }
        return max(box.xMax - box.xMin, box.yMax - box.yMin) * scale < Self.unitsPerPixel
    }
}
