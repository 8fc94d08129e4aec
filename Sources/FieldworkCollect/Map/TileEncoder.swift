import Fieldwork
import FieldworkTiles

/// Brings features into one tile, with their object ids and what they are drawn by: one layer.
struct TileEncoder {
    private let layer: MapLayer
    private let kind: GeometryKind
    private let level: Int
    private let below: Bool
    private var tile = VectorLayer(name: LayerStyle.sourceLayer)
    private var geometry: TileGeometry
    private var occupied: [Int: UInt8] = [:]

    init(layer: MapLayer, kind: GeometryKind, address: TileAddress) {
        self.layer = layer
        self.kind = kind
        level = address.level
        below = address.level < TileLevels.deepest
        let margin = kind == .point ? 64.0 : 8.0
        geometry = TileGeometry(address: address, margin: margin * 8, simplifies: below)
    }

    /// The tile's bytes; empty when it holds nothing.
    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        tile.append(to: &bytes)
        return bytes
    }

    mutating func add(_ feature: Feature) async throws {
        guard let id = layer.objectID(of: feature), let shape = feature.geometry else { return }
        switch shape {
        case let point as Point:
            // Many on the same spot look like one.
            if below {
                guard let cell = geometry.cell(x: point.x, y: point.y), occupied[cell, default: 0] < 8 else { return }
                occupied[cell, default: 0] += 1
            }
            geometry.point(point.x, point.y)
        case let points as Multipoint:
            geometry.points(points.points.map(\.x), points.points.map(\.y))
        case let lines as Polyline:
            geometry.lines(Self.shape(lines))
        case let area as Polygon:
            geometry.polygons(Self.shape(area))
        default:
            return
        }
        for attribute in try await DrawnAttributes(feature, of: layer, level: level).values {
            switch attribute.value {
            case .integer(let value): tile.tag(attribute.name, .integer(value))
            case .real(let value): tile.tag(attribute.name, .real(value))
            case .text(let value): tile.tag(attribute.name, .text(value))
            }
        }
        let written: VectorLayer.Kind = kind == .point ? .point : kind == .line ? .line : .polygon
        tile.add(id: id, kind: written, commands: geometry.commands)
    }

    /// Rings of the protocol tell by their direction whether they are shells: these go with the clock.
    private static func shape(_ shape: Multipart) -> TileShape {
        var result = TileShape()
        for part in shape.parts {
            let start = result.xs.count
            for point in part.points {
                result.xs.append(point.x)
                result.ys.append(point.y)
            }
            result.parts.append(start..<result.xs.count)
            var sum = 0.0
            for index in start..<max(start, result.xs.count - 1) {
                sum += (result.xs[index + 1] - result.xs[index]) * (result.ys[index + 1] + result.ys[index])
            }
            result.areShells.append(sum >= 0 || !(shape is Polygon))
        }
        return result
    }
}
