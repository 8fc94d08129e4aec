import Fieldwork
import FieldworkTiles
import Foundation

/// What the page of a sketch shows: the chosen vertex, the measures, the table of vertices, what can be taken back.
struct SketchView {
    let session: SketchSession
    let kind: GeometryKind
    let posted: FormValues?
    private let vertices: SketchVertices

    init(session: SketchSession, kind: GeometryKind, posted: FormValues?) {
        (self.session, self.kind, self.posted) = (session, kind, posted)
        vertices = session.vertices
    }

    private func degrees(_ vertex: Point) -> (longitude: Double, latitude: Double)? {
        guard let plane = GeometryEngine.project(vertex, into: .webMercator) else { return nil }
        return (WebMercator.longitude(x: plane.x), WebMercator.latitude(y: plane.y))
    }

    private static func short(_ degrees: Double) -> String {
        FeatureViews.degrees((degrees * 1e6).rounded() / 1e6).replacingOccurrences(of: "-", with: "\u{2212}")
    }

    /// - Parameters:
    ///   - new: whether it is the shape of a new feature.
    ///   - error: why the last step can't be done.
    ///   - stale: whether others changed the shape meanwhile.
    func panel(
        heading: String, subheading: String, action: String, new: Bool, error: String?, stale: Bool
    ) -> SketchPanel {
        let shape = session.editor.geometry
        let problem = SketchProblem(shape, kind)
        let place = vertices.chosen.flatMap { vertices[$0] }.flatMap(degrees)
        let measure = Self.measure(shape, kind)
        let says = [
            title, place.map { "\(Self.short($0.latitude)), \(Self.short($0.longitude))" }, session.snapped, measure,
        ]
        return SketchPanel(
            heading: heading, subheading: subheading, action: action, new: new, shape: document(problem),
            says: says.compactMap { $0 }.joined(separator: ". "), error: error, stale: stale, vertex: title,
            measure: measure, snapped: session.snapped, problem: shownProblem(problem),
            lat: posted?["lat"] ?? place.map { FeatureViews.degrees($0.latitude) } ?? "",
            lon: posted?["lon"] ?? place.map { FeatureViews.degrees($0.longitude) } ?? "",
            chosen: vertices.chosen != nil, snaps: session.snaps, undo: session.undoName.map { "Undo: \($0)" },
            redo: session.redoName.map { "Redo: \($0)" }, table: table, isDraft: session.isChanged)
    }

    private var title: String {
        let total = vertices.count
        return vertices.chosen.map { "Vertex \(vertices.number(of: $0)) of \(total)" }
            ?? (total == 1 ? "1 vertex" : "\(FieldText.grouped(total)) vertices")
    }

    /// A shape that isn't begun lacks everything: that needs no words.
    private func shownProblem(_ problem: SketchProblem?) -> SketchPanel.Problem? {
        guard let problem, vertices.count > 0 else { return nil }
        return SketchPanel.Problem(text: problem.text(kind), crossing: problem == .crossing)
    }

    /// "0.59 ha, edge 322 m"
    static func measure(_ shape: Geometry?, _ kind: GeometryKind) -> String {
        guard let shape, !shape.isEmpty else { return "Nothing drawn yet" }
        let length = FieldText.distance(GeometryEngine.geodeticLength(of: shape))
        guard kind == .polygon else { return "length \(length)" }
        let area = GeometryEngine.geodeticArea(of: shape)
        let text =
            switch area {
            case ..<1_000: "\(Int(area.rounded())) m²"
            case ..<1_000_000: "\((area / 100).rounded() / 100) ha"
            default: "\((area / 10_000).rounded() / 100) km²"
            }
        return "\(text), edge \(length)"
    }

    // MARK: The table

    private var shown: ArraySlice<SketchSpot> {
        let spots = vertices.spots
        guard spots.count > Limits.sketchRows else { return spots[...] }
        let middle = vertices.chosen.map { vertices.number(of: $0) } ?? 1
        let first = min(max(0, middle - Limits.sketchRows / 2), spots.count - Limits.sketchRows)
        return spots[first..<(first + Limits.sketchRows)]
    }

    private var table: SketchPanel.Table? {
        let count = vertices.count
        guard count > 0 else { return nil }
        let rows = shown.map { spot in
            let place = vertices[spot].flatMap(degrees)
            return SketchPanel.Row(
                spot: spot.text, number: vertices.number(of: spot),
                lat: place.map { Self.short($0.latitude) } ?? FieldText.nothing,
                lon: place.map { Self.short($0.longitude) } ?? FieldText.nothing, current: spot == vertices.chosen)
        }
        let more =
            count > Limits.sketchRows
            ? "\(Limits.sketchRows) of \(FieldText.grouped(count)) vertices, around the chosen one" : nil
        return SketchPanel.Table(
            rows: rows, more: more, partName: kind == .line ? "New part" : "New part or hole")
    }

    // MARK: For the map

    private struct Document: Encodable {
        let kind: GeometryKind
        let parts: [[[Double]]]
        let chosen: [Int]?
        let bad: Bool
    }

    /// The vertices in degrees, for the map's script.
    private func document(_ problem: SketchProblem?) -> String {
        let parts: [[[Double]]] = vertices.parts.map { part in
            part.map { vertex in
                guard let place = degrees(vertex) else { return [0, 0] }
                return [place.longitude, place.latitude]
            }
        }
        let document = Document(
            kind: kind, parts: parts, chosen: vertices.chosen.map { [$0.part, $0.index] }, bad: problem == .crossing)
        return (try? JSONEncoder().encode(document)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
