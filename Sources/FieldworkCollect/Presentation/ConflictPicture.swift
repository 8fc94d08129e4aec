import Fieldwork
import Foundation

/// A small picture of where a conflict is: the feature among its neighbours, and both of its places where those are in
/// question. It is drawn here, so that a page without script and without a map has it too.
struct ConflictPicture {
    /// The box of the picture. A narrow page cuts off its sides, so that what matters stays in the middle.
    private static let size = (width: 560.0, height: 150.0)
    private static let middle = (width: 240.0, height: 70.0)
    /// Metres of the map's plane that a pixel is at least.
    private static let least = 0.3
    private static let markScale = 1.35

    private struct Shape {
        let geometry: Geometry
        let label: String?
        /// The class of its line in the style sheet.
        let kind: String
        let symbol: Swatch?
    }

    private let shapes: [Shape]
    private let neighbours: [FoundFeature]
    private let layer: MapLayer
    private let centre: Point
    private let unitsPerPixel: Double

    /// nil where the feature is nowhere.
    /// - Parameter now: the feature as it is; nil where it isn't there.
    static func make(
        _ found: FoundConflict, now: FoundFeature?, views: ConflictViews, map: OpenMap
    ) async -> ConflictPicture? {
        let (lost, won) = (found.conflict.lost, found.conflict.won)
        func shape(_ geometry: Geometry?, _ label: String?, _ kind: String) -> Shape? {
            guard let geometry, let plane = GeometryEngine.project(geometry, into: .webMercator), !plane.isEmpty else {
                return nil
            }
            let symbol = now.flatMap { found.layer.symbol(of: $0.feature) }
            return Shape(geometry: plane, label: label, kind: kind, symbol: symbol)
        }
        var shapes: [Shape?] = [shape(now?.feature.geometry, nil, "now")]
        if lost.hasGeometry {
            let base = found.conflict.base
            shapes = [
                shape(base?.hasGeometry == true ? base?.geometry : nil, nil, "before"),
                shape(won.geometry, views.owner(won), "side"), shape(lost.geometry, views.owner(lost), "side"),
            ]
        }
        guard let picture = ConflictPicture(shapes.compactMap(\.self), layer: found.layer) else { return nil }
        let near = try? await map.nearest(
            found.layer, to: nil, within: picture.extent, limit: Limits.conflictNeighbours)
        return ConflictPicture(
            picture.shapes, layer: found.layer,
            neighbours: (near?.features ?? []).filter {
                $0.reference != now?.reference && $0.reference != found.reference
            })
    }

    private init?(_ shapes: [Shape], layer: MapLayer, neighbours: [FoundFeature] = []) {
        guard let extent = GeometryEngine.combineExtents(of: shapes.map(\.geometry)) else { return nil }
        self.shapes = shapes
        self.layer = layer
        self.neighbours = neighbours
        centre = extent.center
        unitsPerPixel = max(
            Self.least, extent.width / Self.middle.width, extent.height / Self.middle.height)
    }

    private var extent: Envelope {
        let (width, height) = (Self.size.width * unitsPerPixel / 2, Self.size.height * unitsPerPixel / 2)
        return Envelope(
            xMin: centre.x - width, yMin: centre.y - height, xMax: centre.x + width, yMax: centre.y + height,
            spatialReference: .webMercator)
    }

    // MARK: Drawing

    private func pixel(_ point: Point) -> (x: Double, y: Double) {
        (
            Self.size.width / 2 + (point.x - centre.x) / unitsPerPixel,
            Self.size.height / 2 - (point.y - centre.y) / unitsPerPixel
        )
    }

    private static func text(_ pixels: Double) -> String {
        let rounded = (min(max(pixels, -9_999), 9_999) * 10).rounded() / 10
        return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
    }

    private func path(_ geometry: Geometry) -> String {
        guard let lines = geometry as? Multipart else { return "" }
        return lines.parts.map { part in
            let points = part.points.map(pixel)
            let text = points.map { "\(Self.text($0.x)) \(Self.text($0.y))" }.joined(separator: "L")
            return text.isEmpty ? "" : "M\(text)\(geometry is Polygon ? "Z" : "")"
        }.joined()
    }

    private func points(_ geometry: Geometry) -> [Point] {
        switch geometry {
        case let point as Point: [point]
        case let points as Multipoint: Array(points.points)
        default: []
        }
    }

    private func mark(_ point: Point, _ symbol: Swatch?, scale: Double) -> ConflictPanel.Picture.Mark? {
        guard let symbol else { return nil }
        let at = pixel(point)
        return ConflictPanel.Picture.Mark(
            x: Self.text(at.x), y: Self.text(at.y), scale: String(scale), half: Self.text(Double(symbol.side) / 2),
            svg: symbol.view().svg)
    }

    private func anchor(_ geometry: Geometry) -> Point? {
        points(geometry).first ?? geometry.place.map { Point(x: $0.x, y: $0.y, spatialReference: .webMercator) }
    }

    /// - Parameter says: what it shows, for who doesn't see it.
    func view(says: String) -> ConflictPanel.Picture {
        let around = neighbours.compactMap { found in
            found.feature.geometry.flatMap { GeometryEngine.project($0, into: .webMercator) }.map { (found, $0) }
        }
        var lines = around.map { ConflictPanel.Picture.Line(kind: "near", path: path($0.1)) }
        var marks = around.flatMap { found, geometry in
            let symbol = layer.symbol(of: found.feature)
            return points(geometry).compactMap { mark($0, symbol, scale: 1) }
        }
        lines += shapes.map { ConflictPanel.Picture.Line(kind: $0.kind, path: path($0.geometry)) }
        let sides = shapes.filter { $0.kind == "side" }.compactMap { anchor($0.geometry) }.map(pixel)
        if sides.count == 2 {
            let ends = sides.map { "\(Self.text($0.x)) \(Self.text($0.y))" }.joined(separator: "L")
            lines.append(ConflictPanel.Picture.Line(kind: "apart", path: "M\(ends)"))
        }
        marks += shapes.flatMap { shape in
            points(shape.geometry).compactMap { mark($0, shape.symbol, scale: Self.markScale) }
        }
        return ConflictPanel.Picture(
            width: Int(Self.size.width), height: Int(Self.size.height), says: says,
            alone: !shapes.contains { $0.kind == "side" }, lines: lines.filter { !$0.path.isEmpty }, rings: rings,
            marks: marks, labels: labels)
    }

    private var rings: [ConflictPanel.Picture.Ring] {
        shapes.flatMap { shape in
            points(shape.geometry).map(pixel).map {
                ConflictPanel.Picture.Ring(kind: shape.kind, x: Self.text($0.x), y: Self.text($0.y))
            }
        }
    }

    /// The upper of two labels stands above its place, the lower one beneath; that of the place before needs none, its ring is
    /// dashed.
    private var labels: [ConflictPanel.Picture.Label] {
        let named = shapes.compactMap { shape -> (text: String, at: (x: Double, y: Double))? in
            guard let label = shape.label, let anchor = anchor(shape.geometry) else { return nil }
            return (label, pixel(anchor))
        }
        let highest = named.map(\.at.y).min()
        return named.map { label in
            let y = label.at.y + (label.at.y == highest ? -26 : 36)
            return ConflictPanel.Picture.Label(x: Self.text(label.at.x), y: Self.text(y), text: label.text)
        }
    }

    // MARK: For the map beside the page

    /// The places in degrees, for the map's script.
    var document: String {
        var overlay = Overlay()
        overlay.features = shapes.filter { $0.kind != "before" }.map {
            Overlay.Feature(geometry: GeoJSONGeometry($0.geometry))
        }
        return (try? JSONEncoder().encode(overlay)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
