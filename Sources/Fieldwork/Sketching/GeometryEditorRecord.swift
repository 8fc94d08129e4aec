import FieldworkGeometry
import Foundation

/// An editor's state as it is written. Steps have most of their vertices in common: each vertex is written once, and
/// the steps say by its number which they have.
struct GeometryEditorRecord: Codable {
    struct Reference: Codable, Hashable {
        var wkid: Int?
        var verticalWkid: Int?
        var wkt: String?
    }

    struct Version: Codable {
        let kind: GeometrySketch.Kind
        /// Which of the references; nil while there is none.
        let reference: Int?
        /// The numbers of the vertices of each part.
        let parts: [[Int]]
        let selection: GeometryEditorSelection?
    }

    struct Step: Codable {
        let name: String?
        let other: Version
    }

    let references: [Reference]
    /// Multipoints as the protocol's JSON, for which either all points have a height or none has; so with measures. The
    /// numbers of the vertices go on from one to the next.
    let vertices: [String]
    let present: Version
    let done: [Step]
    let undone: [Step]

    init(_ state: GeometryEditorState) {
        var collector = VertexCollector(state)
        present = collector.version(state.present)
        done = state.done.map { Step(name: $0.name, other: collector.version($0.other)) }
        undone = state.undone.map { Step(name: $0.name, other: collector.version($0.other)) }
        references = collector.references
        vertices = collector.multipoints.map { String(decoding: $0.toJSON(), as: UTF8.self) }
    }

    /// Throws where it is damaged.
    func state() throws -> GeometryEditorState {
        var reader = try VertexReader(self)
        let present = try reader.version(present)
        let done = try done.map { GeometryEditorState.Step(name: $0.name, other: try reader.version($0.other)) }
        let undone = try undone.map { GeometryEditorState.Step(name: $0.name, other: try reader.version($0.other)) }
        return GeometryEditorState(present: present, done: done, undone: undone)
    }
}

/// Numbers the vertices of a state.
private struct VertexCollector {
    private(set) var references: [GeometryEditorRecord.Reference] = []
    private(set) var multipoints: [Multipoint] = []
    /// Steps share the points that they have in common, which stay in memory as long as the state does.
    private var numbers: [ObjectIdentifier: Int] = [:]

    init(_ state: GeometryEditorState) {
        var seen: Set<ObjectIdentifier> = []
        var groups = [[Point]](repeating: [], count: 4)
        for version in [state.present] + (state.done + state.undone).map(\.other) {
            for point in version.sketch.parts.joined() where seen.insert(ObjectIdentifier(point)).inserted {
                groups[(point.hasZ ? 1 : 0) + (point.hasM ? 2 : 0)].append(point)
            }
        }
        for point in groups.joined() { numbers[ObjectIdentifier(point)] = numbers.count }
        multipoints = groups.filter { !$0.isEmpty }.map { group in
            Multipoint(points: group.map { Point(x: $0.x, y: $0.y, z: $0.z, m: $0.m) })
        }
    }

    mutating func version(_ version: GeometryEditorState.Version) -> GeometryEditorRecord.Version {
        GeometryEditorRecord.Version(
            kind: version.sketch.kind, reference: version.sketch.spatialReference.map { number($0) },
            parts: version.sketch.parts.map { part in part.compactMap { numbers[ObjectIdentifier($0)] } },
            selection: version.selection.flatMap(GeometryEditorSelection.init))
    }

    private mutating func number(_ reference: SpatialReference) -> Int {
        let written = GeometryEditorRecord.Reference(
            wkid: reference.wkid?.rawValue, verticalWkid: reference.verticalWKID?.rawValue,
            wkt: reference.wkid == nil ? reference.wkText : nil)
        if let known = references.firstIndex(of: written) { return known }
        references.append(written)
        return references.count - 1
    }
}

/// Gives the vertices their numbers back.
private struct VertexReader {
    private let references: [SpatialReference]
    private let vertices: [Point]
    /// The vertices in each reference that was asked for; the last is for none.
    private var placed: [Int: [Point]] = [:]

    init(_ record: GeometryEditorRecord) throws {
        references = try record.references.map(Self.reference)
        vertices = try record.vertices.flatMap { try Multipoint.fromJSON(Data($0.utf8)).points }
    }

    private static func reference(_ written: GeometryEditorRecord.Reference) throws -> SpatialReference {
        let vertical = try written.verticalWkid.map { number in
            guard let number = WKID(number) else { throw damaged("The vertical reference is unknown.") }
            return number
        }
        let known =
            if let wkid = written.wkid {
                WKID(wkid).flatMap { SpatialReference(wkid: $0, verticalWKID: vertical) }
            } else {
                written.wkt.flatMap { SpatialReference(wkText: $0) }
            }
        guard let known else { throw damaged("The spatial reference is unknown.") }
        return known
    }

    private static func damaged(_ text: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: text))
    }

    mutating func version(_ written: GeometryEditorRecord.Version) throws -> GeometryEditorState.Version {
        let reference = try written.reference.map { number in
            guard references.indices.contains(number) else { throw Self.damaged("There is no such reference.") }
            return references[number]
        }
        let points = points(in: reference, written.reference ?? references.count)
        let parts = try written.parts.map { part in
            try part.map { number in
                guard points.indices.contains(number) else { throw Self.damaged("There is no such vertex.") }
                return points[number]
            }
        }
        guard let sketch = GeometrySketch(kind: written.kind, parts: parts, spatialReference: reference) else {
            throw Self.damaged("The parts are not those of a \(written.kind.rawValue).")
        }
        return GeometryEditorState.Version(sketch: sketch, selection: written.selection?.element(in: sketch))
    }

    private mutating func points(in reference: SpatialReference?, _ number: Int) -> [Point] {
        if let known = placed[number] { return known }
        let points = vertices.map { Point(x: $0.x, y: $0.y, z: $0.z, m: $0.m, spatialReference: reference) }
        placed[number] = points
        return points
    }
}
