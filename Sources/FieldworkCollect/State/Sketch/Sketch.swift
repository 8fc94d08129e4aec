import Fieldwork
import Foundation

/// A line or an area while its vertices are edited: in the coordinates of its layer, so that a vertex that nobody touched
/// stays where it was to the last digit.
struct Sketch: Sendable, Codable, Hashable {
    struct Vertex: Sendable, Codable, Hashable {
        var x: Double
        var y: Double
        var z: Double?
        var m: Double?
    }

    /// Which vertex.
    struct Spot: Sendable, Codable, Hashable {
        var part: Int
        var index: Int

        init(part: Int, index: Int) { (self.part, self.index) = (part, index) }

        /// "0.4", as forms write it.
        init?(_ text: String) {
            let numbers = text.split(separator: ".").compactMap { Int($0) }
            guard numbers.count == 2 else { return nil }
            self.init(part: numbers[0], index: numbers[1])
        }

        var text: String { "\(part).\(index)" }
    }

    /// The rings of an area, without their first vertex at the end; the parts of a line.
    var parts: [[Vertex]] = []
    var chosen: Spot?

    init() {}

    /// nil for a geometry without vertices to edit, or with arcs, which vertices alone would lose.
    init?(_ geometry: Geometry?) {
        guard let geometry = geometry as? Multipart, !geometry.hasCurves else { return nil }
        parts = geometry.parts.map { part in
            var vertices = part.points.map { Vertex(x: $0.x, y: $0.y, z: $0.z, m: $0.m) }
            if geometry is Polygon, vertices.count > 1, let first = vertices.first, let last = vertices.last,
                first.x == last.x, first.y == last.y
            {
                vertices.removeLast()
            }
            return vertices
        }
    }

    var count: Int { parts.reduce(0) { $0 + $1.count } }

    var spots: [Spot] {
        parts.indices.flatMap { part in parts[part].indices.map { Spot(part: part, index: $0) } }
    }

    subscript(spot: Spot) -> Vertex? {
        guard parts.indices.contains(spot.part), parts[spot.part].indices.contains(spot.index) else { return nil }
        return parts[spot.part][spot.index]
    }

    /// Which of all it is, counted from 1.
    func number(of spot: Spot) -> Int {
        parts.prefix(spot.part).reduce(0) { $0 + $1.count } + spot.index + 1
    }

    // MARK: Editing

    /// False where there is no such vertex.
    mutating func move(_ spot: Spot, to place: Vertex) -> Bool {
        guard var vertex = self[spot] else { return false }
        (vertex.x, vertex.y) = (place.x, place.y)
        parts[spot.part][spot.index] = vertex
        chosen = spot
        return true
    }

    /// Puts a vertex after another; after the last one of an area's ring that is between the last and the first.
    mutating func insert(_ place: Vertex, after spot: Spot) -> Bool {
        guard let before = self[spot] else { return false }
        var vertex = place
        // A height or measure of its own nobody has measured: that of its neighbour is nearest.
        (vertex.z, vertex.m) = (before.z, before.m)
        parts[spot.part].insert(vertex, at: spot.index + 1)
        chosen = Spot(part: spot.part, index: spot.index + 1)
        return true
    }

    /// Goes on with the last part.
    mutating func append(_ place: Vertex) {
        if parts.isEmpty { parts.append([]) }
        let part = parts.count - 1
        var vertex = place
        if let last = parts.joined().last { (vertex.z, vertex.m) = (last.z, last.m) }
        parts[part].append(vertex)
        chosen = Spot(part: part, index: parts[part].count - 1)
    }

    mutating func remove(_ spot: Spot) -> Bool {
        guard self[spot] != nil else { return false }
        parts[spot.part].remove(at: spot.index)
        if parts[spot.part].isEmpty { parts.remove(at: spot.part) }
        chosen = nil
        return true
    }

    /// The next vertices make a new part, or a hole where they lie inside of an area.
    mutating func beginPart() -> Bool {
        guard let last = parts.last, !last.isEmpty else { return false }
        parts.append([])
        chosen = nil
        return true
    }

    // MARK: Geometry

    func geometry(_ kind: GeometryKind, _ reference: SpatialReference?) -> Geometry {
        let made = parts.filter { !$0.isEmpty }.map { part in
            MutablePart(
                points: part.map { Point(x: $0.x, y: $0.y, z: $0.z, m: $0.m, spatialReference: reference) },
                spatialReference: reference)
        }
        return kind == .line ? Polyline(parts: made, spatialReference: reference) : Polygon(parts: made)
    }

    /// Why it can't be saved; nil where it can.
    func problem(_ kind: GeometryKind, _ reference: SpatialReference?) -> Problem? {
        let least = kind == .line ? 2 : 3
        let filled = parts.filter { !$0.isEmpty }
        guard !filled.isEmpty, filled.allSatisfy({ Set($0.map { [$0.x, $0.y] }).count >= least }) else {
            return .tooFew(least)
        }
        guard kind == .polygon, !GeometryEngine.isSimple(geometry(kind, reference)) else { return nil }
        return .crossing
    }

    enum Problem: Sendable, Hashable {
        case tooFew(Int)
        case crossing

        func text(_ kind: GeometryKind) -> String {
            switch self {
            case .tooFew(let least): "\(kind == .line ? "A line" : "An area") needs \(least) vertices in each part."
            case .crossing: "The edge crosses itself."
            }
        }
    }
}
