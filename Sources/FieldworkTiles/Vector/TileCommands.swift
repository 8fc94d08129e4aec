/// The commands that draw one feature of a vector tile. Its array keeps its memory for the next.
struct TileCommands: Sendable {
    private(set) var list: [UInt32] = []
    private var cursor: (x: Int32, y: Int32) = (0, 0)

    mutating func begin() {
        list.removeAll(keepingCapacity: true)
        cursor = (0, 0)
    }

    mutating func point(_ place: (x: Int32, y: Int32)) {
        list.append(9)
        move(to: place)
    }

    mutating func points(_ places: [(x: Int32, y: Int32)]) {
        guard !places.isEmpty else { return }
        list.append(1 | UInt32(places.count) << 3)
        for place in places { move(to: place) }
    }

    /// - Parameter places: two at least, none of which equals the one before.
    mutating func line(_ places: [(x: Int32, y: Int32)]) {
        guard let first = places.first else { return }
        list.append(9)
        move(to: first)
        list.append(2 | UInt32(places.count - 1) << 3)
        for place in places.dropFirst() { move(to: place) }
    }

    /// - Parameter places: three at least, without the first again at the end.
    mutating func ring(_ places: [(x: Int32, y: Int32)]) {
        line(places)
        list.append(15)
    }

    @inline(__always)
    private mutating func move(to place: (x: Int32, y: Int32)) {
        list.append(Self.zigZag(place.x &- cursor.x))
        list.append(Self.zigZag(place.y &- cursor.y))
        cursor = place
    }

    private static func zigZag(_ value: Int32) -> UInt32 { UInt32(bitPattern: value << 1 ^ value >> 31) }
}

/// A line or a ring in whole units of a tile.
struct TilePart: Sendable {
    var places: [(x: Int32, y: Int32)] = []

    /// Takes what was clipped, without repeats.
    /// - Parameter origin: where the tile begins.
    mutating func round(_ clipped: ClipBuffer, _ range: Range<Int>, origin: (x: Double, y: Double) = (0, 0)) {
        places.removeAll(keepingCapacity: true)
        for index in range {
            let x = Int32((clipped.xs[index] - origin.x).rounded())
            let place = (x: x, y: Int32((clipped.ys[index] - origin.y).rounded()))
            if let last = places.last, last == place { continue }
            places.append(place)
        }
    }

    /// Takes away the end of a ring that is its beginning.
    mutating func open() {
        if places.count > 1, let first = places.first, let last = places.last, first == last { places.removeLast() }
    }

    /// Positive for rings that are clockwise on the screen.
    var signedArea: Double {
        guard places.count >= 3 else { return 0 }
        var sum = 0.0
        var previous = places[places.count - 1]
        for place in places {
            sum += Double(previous.x) * Double(place.y) - Double(place.x) * Double(previous.y)
            previous = place
        }
        return sum / 2
    }
}
