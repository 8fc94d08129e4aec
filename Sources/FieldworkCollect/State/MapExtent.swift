import Fieldwork
import FieldworkTiles

/// What the layers of a map cover.
enum MapExtent {
    /// The extents of layers in the map's plane, by their numbers. A service says them with its layers; a file is asked.
    static func extents(of layers: [MapLayer]) async -> [Int: Envelope] {
        var extents: [Int: Envelope] = [:]
        for layer in layers where layer.geometry != nil {
            var own = layer.table.extent
            if own == nil, layer.table is GeodatabaseFeatureTable {
                own = try? await layer.table.queryExtent(using: QueryParameters())
            }
            guard let own, !own.isEmpty, let extent = GeometryEngine.project(own, into: .webMercator) else { continue }
            extents[layer.id] = extent
        }
        return extents
    }

    /// All of them in degrees: west, south, east, north; nil where there is nothing to look at.
    static func degrees(_ extents: [Envelope]) -> [Double]? {
        guard let first = extents.first else { return nil }
        let whole = extents.dropFirst().reduce(first) { whole, other in
            Envelope(
                xMin: min(whole.xMin, other.xMin), yMin: min(whole.yMin, other.yMin),
                xMax: max(whole.xMax, other.xMax), yMax: max(whole.yMax, other.yMax), spatialReference: .webMercator)
        }
        let corners = [
            WebMercator.longitude(x: whole.xMin), WebMercator.latitude(y: whole.yMin),
            WebMercator.longitude(x: whole.xMax), WebMercator.latitude(y: whole.yMax),
        ]
        return corners.allSatisfy(\.isFinite) ? corners : nil
    }
}
