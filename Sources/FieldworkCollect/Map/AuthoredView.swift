import Fieldwork
import FieldworkTiles
import Foundation

extension OpenMap {
    /// Where the map's author wants it to be looked at first, as the map library says it; nil where nobody says. Edges are
    /// those of a window of 1,024 by 768 pixels: the page tells its own as soon as it is there.
    var authoredView: DeviceSettings.View? { viewpoint.flatMap(Self.view) }

    /// What a window shows that looks where a viewpoint does; nil where that is nowhere on the map.
    static func view(of viewpoint: Viewpoint) -> DeviceSettings.View? {
        guard let target = GeometryEngine.project(viewpoint.targetGeometry, into: .webMercator) else {
            return nil
        }
        let extent = target.extent
        let x = (extent.xMin + extent.xMax) / 2
        let y = (extent.yMin + extent.yMax) / 2
        let worldWidth = 2 * WebMercator.x(longitude: 180)
        let zoom: Double
        if viewpoint.kind == .centerAndScale {
            zoom = MapLayer.zoom(scale: viewpoint.targetScale) ?? 0
        } else {
            zoom = log2(min(1_024 * worldWidth / extent.width, 768 * worldWidth / extent.height) / 512)
        }
        let half = (x: 512 * worldWidth / 512 / exp2(zoom), y: 384 * worldWidth / 512 / exp2(zoom))
        let view = DeviceSettings.View(
            lon: WebMercator.longitude(x: x), lat: WebMercator.latitude(y: y), zoom: zoom,
            west: WebMercator.longitude(x: x - half.x), south: WebMercator.latitude(y: y - half.y),
            east: WebMercator.longitude(x: x + half.x), north: WebMercator.latitude(y: y + half.y))
        let numbers = [view.lon, view.lat, view.zoom, view.west, view.south, view.east, view.north]
        return numbers.allSatisfy(\.isFinite) ? view : nil
    }
}
