import Fieldwork
import FieldworkTiles

/// Geometries as the page's map library takes them: GeoJSON in degrees, WGS 84.
struct GeoJSONGeometry: Encodable, Sendable {
    indirect enum Coordinates: Encodable, Sendable {
        case position(Double, Double)
        case list([Coordinates])

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .position(let x, let y):
                var container = encoder.unkeyedContainer()
                try container.encode(x)
                try container.encode(y)
            case .list(let items):
                var container = encoder.unkeyedContainer()
                for item in items { try container.encode(item) }
            }
        }
    }

    let type: String
    let coordinates: Coordinates

    /// nil for an empty geometry and for one that can't be brought to the map's plane.
    init?(_ geometry: Geometry?) {
        guard let geometry, !geometry.isEmpty, let plane = GeometryEngine.project(geometry, into: .webMercator) else {
            return nil
        }
        switch plane {
        case let point as Point:
            type = "Point"
            coordinates = Self.position(point)
        case let points as Multipoint:
            type = "MultiPoint"
            coordinates = .list(points.points.map(Self.position))
        case let line as Polyline:
            type = "MultiLineString"
            coordinates = .list(line.parts.map { .list($0.points.map(Self.position)) })
        case let area as Polygon:
            // Each ring as a polygon of its own would fill holes; the library fills by the even-odd of one polygon.
            type = "Polygon"
            coordinates = .list(
                area.parts.map { part in
                    let points = part.points.map(Self.position)
                    return .list(points + points.prefix(1))
                })
        default:
            return nil
        }
    }

    private static func position(_ point: Point) -> Coordinates {
        .position(WebMercator.longitude(x: point.x), WebMercator.latitude(y: point.y))
    }
}

extension Geometry {
    /// A point on it, in degrees: itself, the middle of a line's extent, the label point of an area.
    var place: Place? {
        guard !isEmpty, let plane = GeometryEngine.project(self, into: .webMercator) else { return nil }
        switch plane {
        case let point as Point:
            return Place(x: point.x, y: point.y)
        case let area as Polygon:
            let point = GeometryEngine.labelPoint(for: area) ?? area.extent.center
            return Place(x: point.x, y: point.y)
        default:
            let center = plane.extent.center
            guard let nearest = GeometryEngine.nearestCoordinate(in: plane, to: center)?.coordinate else {
                return Place(x: center.x, y: center.y)
            }
            return Place(x: nearest.x, y: nearest.y)
        }
    }
}
