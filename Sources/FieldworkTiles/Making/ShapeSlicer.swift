import FieldworkREST

/// Cuts a shape into the tiles of one level. It is generalised as a whole before, so that both sides of a tile's edge see the
/// same vertices; a large one is halved until each part lies in one tile, so that the work grows with its vertices and its
/// tiles, not with their product.
struct ShapeSlicer {
    typealias Line = [(x: Double, y: Double)]

    private struct Piece {
        var line: Line
        var isShell: Bool
    }

    /// A part of a shape within a tile.
    struct Slice {
        var part: TilePart
        var isShell: Bool
    }

    /// Units around a tile that lines and areas reach into: four pixels.
    private static let margin = 32.0
    private static let extent = Double(VectorLayer.extent)
    private static let unitsPerPixel = extent / 512

    let level: Int
    private let scale: Double
    /// Metres.
    private let tolerance: Double
    private let columns: ClosedRange<Int>
    private let rows: ClosedRange<Int>
    private var clipped = ClipBuffer()

    /// - Parameter tiles: the only tiles that are made.
    init(level: Int, isDeepest: Bool, tiles: (columns: ClosedRange<Int>, rows: ClosedRange<Int>)) {
        self.level = level
        (columns, rows) = tiles
        scale = Self.extent * Double(1 << level) / (2 * WebMercator.halfSide)
        // The deepest level is enlarged: there only what lies on a straight line goes.
        tolerance = (isDeepest ? 0.5 : Self.unitsPerPixel / 2) / scale
    }

    private func units(_ shape: TileShape, _ indices: some Sequence<Int>) -> Line {
        indices.map {
            ((shape.xs[$0] + WebMercator.halfSide) * scale, (WebMercator.halfSide - shape.ys[$0]) * scale)
        }
    }

    func point(x: Double, y: Double) -> (column: Int, row: Int, place: (x: Int32, y: Int32))? {
        guard x.isFinite, y.isFinite, abs(x) <= WebMercator.halfSide, abs(y) <= WebMercator.halfSide else { return nil }
        let place = (x: (x + WebMercator.halfSide) * scale, y: (WebMercator.halfSide - y) * scale)
        let (column, row) = (Int(place.x / Self.extent), Int(place.y / Self.extent))
        guard columns.contains(column), rows.contains(row) else { return nil }
        let (left, top) = (Double(column) * Self.extent, Double(row) * Self.extent)
        return (column, row, (Int32((place.x - left).rounded()), Int32((place.y - top).rounded())))
    }

    mutating func lines(_ shape: TileShape, _ body: (Int, Int, [Slice]) throws -> Void) rethrows {
        var pieces: [Piece] = []
        for part in shape.parts {
            let kept = Generalization.keptVertices(xs: shape.xs, ys: shape.ys, in: part, tolerance: tolerance)
            let line = units(shape, kept)
            if line.count >= 2 { pieces.append(Piece(line: line, isShell: true)) }
        }
        guard let box = Self.box(pieces),
            max(box.xHigh - box.xLow, box.yHigh - box.yLow) >= (tolerance * scale < 1 ? 1 : Self.unitsPerPixel)
        else { return }
        try divide(pieces, columns, rows, areas: false, body)
    }

    mutating func areas(
        _ shape: TileShape, leastPixels: Double, _ body: (Int, Int, [Slice]) throws -> Void
    ) rethrows {
        var pieces: [Piece] = []
        var hasShell = false
        let least = leastPixels * Self.unitsPerPixel * Self.unitsPerPixel
        for (index, part) in shape.parts.enumerated() {
            let isShell = shape.areShells.indices.contains(index) ? shape.areShells[index] : true
            if !isShell, !hasShell { continue }
            let kept = Generalization.keptVertices(xs: shape.xs, ys: shape.ys, in: part, tolerance: tolerance)
            let ring = kept.count < 4 ? [] : units(shape, kept)
            // Holes of a pixel are not seen.
            let isLarge = ring.count >= 4 && Self.area(ring) >= (isShell ? least : min(least, Self.unitsPerPixel))
            if isShell { hasShell = isLarge }
            if isLarge { pieces.append(Piece(line: ring, isShell: isShell)) }
        }
        try divide(pieces, columns, rows, areas: true, body)
    }

    /// Square units.
    private static func area(_ ring: Line) -> Double {
        var sum = 0.0
        guard var previous = ring.last, let origin = ring.first else { return 0 }
        for place in ring {
            sum += (previous.x - origin.x) * (place.y - origin.y) - (place.x - origin.x) * (previous.y - origin.y)
            previous = place
        }
        return abs(sum / 2)
    }

    private static func box(_ pieces: [Piece]) -> ClipBox? {
        var box = ClipBox(xLow: .infinity, yLow: .infinity, xHigh: -.infinity, yHigh: -.infinity)
        for place in pieces.lazy.flatMap(\.line) {
            (box.xLow, box.xHigh) = (min(box.xLow, place.x), max(box.xHigh, place.x))
            (box.yLow, box.yHigh) = (min(box.yLow, place.y), max(box.yHigh, place.y))
        }
        // Far beyond the plane nothing is drawn.
        let isNear = max(abs(box.xLow), abs(box.xHigh), abs(box.yLow), abs(box.yHigh)) < 1e13
        return isNear ? box : nil
    }

    // MARK: Dividing

    private static func touched(_ low: Double, _ high: Double, _ wanted: ClosedRange<Int>) -> ClosedRange<Int>? {
        let first = max(((low - margin) / extent).rounded(.down), Double(wanted.lowerBound))
        let last = min(((high + margin) / extent).rounded(.down), Double(wanted.upperBound))
        return first <= last ? Int(first)...Int(last) : nil
    }

    private mutating func divide(
        _ pieces: [Piece], _ columns: ClosedRange<Int>, _ rows: ClosedRange<Int>, areas: Bool,
        _ body: (Int, Int, [Slice]) throws -> Void
    ) rethrows {
        guard let box = Self.box(pieces), let columns = Self.touched(box.xLow, box.xHigh, columns),
            let rows = Self.touched(box.yLow, box.yHigh, rows)
        else { return }
        if columns.count == 1, rows.count == 1 {
            return try cut(pieces, columns.lowerBound, rows.lowerBound, areas: areas, body)
        }
        var (first, second) = (ClipBox(), ClipBox())
        if columns.count >= rows.count {
            let middle = (columns.lowerBound + columns.upperBound + 1) / 2
            first.xHigh = Double(middle) * Self.extent + Self.margin
            second.xLow = Double(middle) * Self.extent - Self.margin
            let (left, right) = (columns.lowerBound...middle - 1, middle...columns.upperBound)
            try divide(clip(pieces, to: first, areas: areas), left, rows, areas: areas, body)
            try divide(clip(pieces, to: second, areas: areas), right, rows, areas: areas, body)
        } else {
            let middle = (rows.lowerBound + rows.upperBound + 1) / 2
            first.yHigh = Double(middle) * Self.extent + Self.margin
            second.yLow = Double(middle) * Self.extent - Self.margin
            let (above, below) = (rows.lowerBound...middle - 1, middle...rows.upperBound)
            try divide(clip(pieces, to: first, areas: areas), columns, above, areas: areas, body)
            try divide(clip(pieces, to: second, areas: areas), columns, below, areas: areas, body)
        }
    }

    private mutating func clip(_ pieces: [Piece], to box: ClipBox, areas: Bool) -> [Piece] {
        var rest: [Piece] = []
        var hasShell = false
        for piece in pieces {
            if areas {
                if !piece.isShell, !hasShell { continue }
                clipped.clipRing(piece.line, in: box)
                if piece.isShell { hasShell = !clipped.xs.isEmpty }
                if !clipped.xs.isEmpty {
                    rest.append(Piece(line: Array(zip(clipped.xs, clipped.ys)), isShell: piece.isShell))
                }
            } else {
                clipped.clipLine(piece.line, in: box)
                for index in clipped.starts.indices {
                    let part = clipped.part(index)
                    rest.append(Piece(line: part.map { (clipped.xs[$0], clipped.ys[$0]) }, isShell: true))
                }
            }
        }
        return rest
    }

    /// The last cut: into one tile, and to its whole units.
    private mutating func cut(
        _ pieces: [Piece], _ column: Int, _ row: Int, areas: Bool, _ body: (Int, Int, [Slice]) throws -> Void
    ) rethrows {
        let origin = (x: Double(column) * Self.extent, y: Double(row) * Self.extent)
        let box = ClipBox(
            xLow: origin.x - Self.margin, yLow: origin.y - Self.margin, xHigh: origin.x + Self.extent + Self.margin,
            yHigh: origin.y + Self.extent + Self.margin)
        var slices: [Slice] = []
        var hasShell = false
        for piece in pieces {
            var part = TilePart()
            guard areas else {
                clipped.clipLine(piece.line, in: box)
                for index in clipped.starts.indices {
                    part.round(clipped, clipped.part(index), origin: origin)
                    if part.places.count >= 2 { slices.append(Slice(part: part, isShell: true)) }
                }
                continue
            }
            if !piece.isShell, !hasShell { continue }
            clipped.clipRing(piece.line, in: box)
            part.round(clipped, clipped.xs.indices, origin: origin)
            part.open()
            let area = part.signedArea
            let isDrawn = part.places.count >= 3 && area != 0
            if piece.isShell { hasShell = isDrawn }
            guard isDrawn else { continue }
            // With y downwards shells have a positive area, holes a negative one.
            if (area > 0) != piece.isShell { part.places.reverse() }
            slices.append(Slice(part: part, isShell: piece.isShell))
        }
        if !slices.isEmpty { try body(column, row, slices) }
    }
}
