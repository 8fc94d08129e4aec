/// The sea within a box, of the coastlines that cross it. A coastline has the land to its left and the sea to its right.
struct Sea {
    /// Polygons of the sea: a shell each, with the islands as holes.
    private(set) var shapes: [TileShape] = []
    /// Whether a coastline ends within the box, so that nobody can tell what is sea.
    private(set) var hasGaps = false

    private typealias Place = (x: Double, y: Double)

    /// - Parameter coasts: in metres of the plane, joined as far as they can be.
    init(_ coasts: [[(x: Double, y: Double)]], in box: PlaneBox) {
        let frame = ClipBox(xLow: box.xMin, yLow: box.yMin, xHigh: box.xMax, yHigh: box.yMax)
        var rings: [[Place]] = []
        var pieces: [[Place]] = []
        for coast in coasts {
            if coast.first.map({ first in coast.last.map { $0 == first } ?? false }) == true,
                coast.allSatisfy(frame.contains)
            {
                rings.append(coast)
                continue
            }
            for piece in Self.pieces(coast, in: frame) {
                if Self.isOnEdge(piece[0], box), Self.isOnEdge(piece[piece.count - 1], box) {
                    pieces.append(piece)
                } else {
                    hasGaps = true
                }
            }
        }
        guard !hasGaps else { return }
        var shells = Self.shells(of: pieces, in: box)
        var islands: [[Place]] = []
        for ring in rings { if Self.area(ring) < 0 { shells.append(ring) } else { islands.append(ring) } }
        // Nothing but islands: all around them is sea.
        if shells.isEmpty, pieces.isEmpty, !islands.isEmpty {
            shells = [
                [
                    (box.xMin, box.yMin), (box.xMin, box.yMax), (box.xMax, box.yMax), (box.xMax, box.yMin),
                    (box.xMin, box.yMin),
                ]
            ]
        }
        shapes = shells.map { Self.shape([$0]) }
        for island in islands {
            guard let first = island.first,
                let index = shapes.firstIndex(where: { AreaPlace.contains($0, x: first.x, y: first.y) })
            else { continue }
            shapes[index] = Self.shape(Self.rings(shapes[index]) + [island])
        }
    }

    private static func shape(_ rings: [[Place]]) -> TileShape {
        var shape = TileShape()
        for (index, ring) in rings.enumerated() {
            let start = shape.xs.count
            for place in ring {
                shape.xs.append(place.x)
                shape.ys.append(place.y)
            }
            shape.parts.append(start..<shape.xs.count)
            shape.areShells.append(index == 0)
        }
        return shape
    }

    private static func rings(_ shape: TileShape) -> [[Place]] {
        shape.parts.map { part in part.map { (shape.xs[$0], shape.ys[$0]) } }
    }

    private static func area(_ ring: [Place]) -> Double {
        let shape = shape([ring])
        return AreaPlace.signedArea(shape, shape.parts[0])
    }

    /// What of a coastline lies within the box. A ring that leaves the box begins outside of it, so that no piece is cut in two.
    private static func pieces(_ coast: [Place], in frame: ClipBox) -> [[Place]] {
        var coast = coast
        if let first = coast.first, let last = coast.last, first == last,
            let outside = coast.firstIndex(where: { !frame.contains($0) })
        {
            coast = Array(coast[outside...]) + Array(coast[1..<(outside + 1)])
        }
        var clipped = ClipBuffer()
        clipped.clipLine(coast, in: frame)
        return clipped.starts.indices.map { index in clipped.part(index).map { (clipped.xs[$0], clipped.ys[$0]) } }
            .filter { $0.count >= 2 }
    }

    // MARK: Along the edge of the box

    private static let tolerance = 1e-3

    private static func isOnEdge(_ place: Place, _ box: PlaneBox) -> Bool {
        min(
            abs(place.x - box.xMin), abs(place.x - box.xMax), abs(place.y - box.yMin), abs(place.y - box.yMax))
            < tolerance
    }

    /// How far along the edge a place lies, clockwise from the upper left corner, each side counted as 1.
    private static func way(_ place: Place, _ box: PlaneBox) -> Double {
        let (width, height) = (box.xMax - box.xMin, box.yMax - box.yMin)
        if abs(place.y - box.yMax) < tolerance { return (place.x - box.xMin) / width }
        if abs(place.x - box.xMax) < tolerance { return 1 + (box.yMax - place.y) / height }
        if abs(place.y - box.yMin) < tolerance { return 2 + (box.xMax - place.x) / width }
        return 3 + (place.y - box.yMin) / height
    }

    /// Goes along each coast, and clockwise along the edge to the next, with the sea to the right all the way.
    private static func shells(of pieces: [[Place]], in box: PlaneBox) -> [[Place]] {
        let corners = [(box.xMax, box.yMax), (box.xMax, box.yMin), (box.xMin, box.yMin), (box.xMin, box.yMax)]
        let starts = pieces.map { way($0[0], box) }
        var isFree = [Bool](repeating: true, count: pieces.count)
        var shells: [[Place]] = []
        for first in pieces.indices where isFree[first] {
            var ring: [Place] = []
            var current = first
            while isFree[current] {
                isFree[current] = false
                ring += pieces[current]
                let end = way(pieces[current][pieces[current].count - 1], box)
                func distance(_ index: Int) -> Double { (starts[index] - end + 4).truncatingRemainder(dividingBy: 4) }
                let next = pieces.indices.filter { isFree[$0] || $0 == first }.min { distance($0) < distance($1) }
                guard let next else { break }
                var corner = Int(end)
                // Each corner that lies between is a vertex.
                while Double(corner) + 1 - end < distance(next) {
                    ring.append(corners[corner % 4])
                    corner += 1
                }
                current = next
            }
            if let start = ring.first { shells.append(ring + [start]) }
        }
        return shells
    }
}
