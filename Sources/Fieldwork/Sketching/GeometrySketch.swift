import FieldworkGeometry

/// A geometry while it is edited: parts of vertices, whatever its kind.
struct GeometrySketch: Sendable, Equatable {
    enum Kind: String, Codable, Sendable {
        case point, multipoint, polyline, polygon, envelope
    }

    private(set) var kind: Kind
    /// The vertices of each part. Only the last one may be empty, behind others: it takes the vertices that are
    /// inserted next. Kinds without parts have one at most. A box has its corners, from the lower left one around. A
    /// ring that is taken over has no repeated first vertex at its end, which would stay where it is when the first one
    /// moves.
    private(set) var parts: [[Point]] = []
    /// That of the first vertex; the others are brought into it.
    private(set) var spatialReference: SpatialReference?

    /// An empty sketch; nil for a kind that can't be edited.
    init?(type: Geometry.Type) {
        switch type {
        case is Point.Type: kind = .point
        case is Multipoint.Type: kind = .multipoint
        case is Polyline.Type: kind = .polyline
        case is Polygon.Type: kind = .polygon
        case is Envelope.Type: kind = .envelope
        default: return nil
        }
    }

    init?(_ geometry: Geometry) {
        self.init(type: Swift.type(of: geometry))
        spatialReference = geometry.spatialReference
        guard !geometry.isEmpty else { return }
        switch geometry {
        case let point as Point: parts = [[point]]
        case let multipoint as Multipoint: parts = [Array(multipoint.points)]
        case let ring as Polygon: parts = ring.parts.map { Self.open(Array($0.points)) }
        case let multipart as Multipart: parts = multipart.parts.map { Array($0.points) }
        case let box as Envelope: parts = [Self.corners(box.xMin, box.yMin, box.xMax, box.yMax, spatialReference)]
        default: return nil
        }
        parts.removeAll(where: \.isEmpty)
        guard parts.allSatisfy({ $0.allSatisfy(\.hasFinitePosition) }) else { return nil }
    }

    /// What was kept; nil where it is damaged.
    init?(kind: Kind, parts: [[Point]], spatialReference: SpatialReference?) {
        let isSound =
            switch kind {
            case .point: parts.isEmpty || parts.map(\.count) == [1]
            case .multipoint: parts.isEmpty || parts.count == 1 && !parts[0].isEmpty
            // A box begins with one corner.
            case .envelope: parts.isEmpty || [[1], [4]].contains(parts.map(\.count))
            case .polyline, .polygon: parts.dropLast().allSatisfy { !$0.isEmpty } && parts.first?.isEmpty != true
            }
        guard isSound, parts.allSatisfy({ $0.allSatisfy(\.hasFinitePosition) }) else { return nil }
        self.kind = kind
        self.parts = parts
        self.spatialReference = spatialReference
    }

    private static func open(_ ring: [Point]) -> [Point] {
        guard ring.count > 1, let first = ring.first, let last = ring.last, first.x == last.x, first.y == last.y else {
            return ring
        }
        return Array(ring.dropLast())
    }

    private static func corners(
        _ xMin: Double, _ yMin: Double, _ xMax: Double, _ yMax: Double, _ reference: SpatialReference?
    ) -> [Point] {
        [(xMin, yMin), (xMin, yMax), (xMax, yMax), (xMax, yMin)].map {
            Point(x: $0.0, y: $0.1, spatialReference: reference)
        }
    }

    var geometry: Geometry {
        let all = Array(parts.joined())
        switch kind {
        case .point: return all.first ?? Point(x: .nan, y: .nan, spatialReference: spatialReference)
        case .multipoint: return Multipoint(points: all, spatialReference: spatialReference)
        case .polyline: return Polyline(parts: mutableParts, spatialReference: spatialReference)
        case .polygon where parts.isEmpty: return Polygon(points: all, spatialReference: spatialReference)
        case .polygon: return Polygon(parts: mutableParts)
        case .envelope:
            let (xs, ys) = (all.map(\.x), all.map(\.y))
            return Envelope(
                xMin: xs.min() ?? .nan, yMin: ys.min() ?? .nan, xMax: xs.max() ?? .nan, yMax: ys.max() ?? .nan,
                spatialReference: spatialReference)
        }
    }

    private var mutableParts: [MutablePart] {
        parts.filter { !$0.isEmpty }.map { MutablePart(points: $0, spatialReference: spatialReference) }
    }

    // MARK: What is there

    var isEmpty: Bool { parts.isEmpty }

    func hasPart(_ part: Int) -> Bool { parts.indices.contains(part) }

    func hasVertex(_ part: Int, _ vertex: Int) -> Bool {
        hasPart(part) && parts[part].indices.contains(vertex)
    }

    /// Whether there is a side from a vertex to the next one, around rings and boxes.
    func hasSegment(_ part: Int, _ segment: Int) -> Bool {
        guard hasVertex(part, segment) else { return false }
        switch kind {
        case .point, .multipoint: return false
        case .polyline: return hasVertex(part, segment + 1)
        case .polygon, .envelope: return parts[part].count > 1
        }
    }

    // MARK: Changes

    /// A place in the sketch's own reference; nil when there is no way to it, or the place is none.
    mutating func placed(_ point: Point) -> Point? {
        guard point.hasFinitePosition else { return nil }
        guard let own = spatialReference else {
            spatialReference = point.spatialReference
            return point
        }
        guard let reference = point.spatialReference else {
            return Point(x: point.x, y: point.y, z: point.z, m: point.m, spatialReference: own)
        }
        guard reference != own else { return point }
        return GeometryEngine.project(point, into: own).flatMap { $0.hasFinitePosition ? $0 : nil }
    }

    /// Begins a path or ring, which takes the vertices that are inserted next. Nothing where the last one is still
    /// empty, where there is none, and for kinds without parts.
    mutating func beginPart() {
        guard kind == .polyline || kind == .polygon, let last = parts.last, !last.isEmpty else { return }
        parts.append([])
    }

    /// - Returns: where the vertex is now.
    @discardableResult
    mutating func insert(_ point: Point, after vertex: (part: Int, vertex: Int)?) -> (part: Int, vertex: Int) {
        guard let last = parts.indices.last else {
            parts = [[point]]
            return (0, 0)
        }
        switch kind {
        case .envelope: return widen(to: point)
        case .point:
            move(part: 0, vertex: 0, to: point)
            return (0, 0)
        case .multipoint, .polyline, .polygon:
            let place = vertex ?? (last, parts[last].count - 1)
            // An empty part goes on from the one before it.
            let before = hasVertex(place.part, place.vertex) ? parts[place.part][place.vertex] : parts.joined().last
            parts[place.part].insert(point.filled(from: before), at: place.vertex + 1)
            return (place.part, place.vertex + 1)
        }
    }

    /// A box takes in a point that is inserted.
    private mutating func widen(to point: Point) -> (part: Int, vertex: Int) {
        let all = Array(parts.joined())
        let corners = Self.corners(
            all.reduce(point.x) { min($0, $1.x) }, all.reduce(point.y) { min($0, $1.y) },
            all.reduce(point.x) { max($0, $1.x) }, all.reduce(point.y) { max($0, $1.y) }, spatialReference)
        parts = [corners]
        return (0, corners.firstIndex { $0.x == point.x && $0.y == point.y } ?? 0)
    }

    mutating func move(part: Int, vertex: Int, to point: Point) {
        guard kind == .envelope, parts[part].count == 4 else {
            parts[part][vertex] = point.filled(from: parts[part][vertex])
            return
        }
        // The corner opposite stays; those between follow.
        let fixed = parts[part][(vertex + 2) % 4]
        let (isLeft, isLower) = (vertex < 2, vertex == 0 || vertex == 3)
        parts[part] = Self.corners(
            isLeft ? point.x : fixed.x, isLower ? point.y : fixed.y, isLeft ? fixed.x : point.x,
            isLower ? fixed.y : point.y, spatialReference)
    }

    /// Moves a part, or all of them; nothing where that leads out of the numbers.
    mutating func move(part: Int?, x: Double, y: Double) {
        var moved = parts
        for index in parts.indices where part == nil || part == index {
            moved[index] = parts[index].map {
                Point(x: $0.x + x, y: $0.y + y, z: $0.z, m: $0.m, spatialReference: $0.spatialReference)
            }
        }
        if moved.allSatisfy({ $0.allSatisfy(\.hasFinitePosition) }) { parts = moved }
    }

    mutating func remove(part: Int, vertex: Int) {
        // A box without a corner is none.
        if kind == .envelope { return parts = [] }
        parts[part].remove(at: vertex)
        if parts[part].isEmpty { remove(part: part) }
    }

    mutating func remove(part: Int?) {
        if let part { parts.remove(at: part) } else { parts = [] }
        // An empty part is behind others only.
        if parts.first?.isEmpty == true { parts = [] }
    }

    /// The middle of a part's extent, or of the extent of all.
    func centre(of part: Int?) -> Point? {
        let points = part.map { parts[$0] } ?? Array(parts.joined())
        guard let left = points.map(\.x).min(), let right = points.map(\.x).max(),
            let bottom = points.map(\.y).min(), let top = points.map(\.y).max()
        else { return nil }
        return Point(x: (left + right) / 2, y: (bottom + top) / 2, spatialReference: spatialReference)
    }
}

extension Point {
    /// Whether it is at some place: what is not can't be kept.
    fileprivate var hasFinitePosition: Bool { x.isFinite && y.isFinite }

    /// With the height and the measure of another where it has none: nobody has measured them here, and that one is
    /// nearest.
    fileprivate func filled(from other: Point?) -> Point {
        guard let other, (z == nil && other.z != nil) || (m == nil && other.m != nil) else { return self }
        return Point(x: x, y: y, z: z ?? other.z, m: m ?? other.m, spatialReference: spatialReference)
    }
}
