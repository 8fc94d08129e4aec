import Fieldwork
import FieldworkTiles
import Foundation

/// The places of a map that an area can be chosen by: what the author has bookmarked, and the areas that a layer names, such as
/// neighbourhoods. It is the way to an area without the map and without dragging.
struct AreaPlaces: Sendable {
    struct Found: Sendable {
        let name: String
        /// What it is, in words.
        let kind: String
        let frame: AreaRoutes.Frame
    }

    let map: OpenMap

    /// Whether there is anything to choose by name.
    var isAny: Bool { !map.bookmarks.isEmpty || map.layers.contains { $0.geometry == .polygon } }

    /// The places whose name holds a text; without one the bookmarks alone.
    func found(_ text: String) async throws -> [Found] {
        let wanted = text.trimmingCharacters(in: .whitespacesAndNewlines)
        var places = map.bookmarks.filter { wanted.isEmpty || $0.name.localizedCaseInsensitiveContains(wanted) }
            .compactMap { bookmark in
                bookmark.viewpoint.flatMap(OpenMap.view).map {
                    Found(name: bookmark.name, kind: "Bookmark", frame: AreaRoutes.Frame(view: $0))
                }
            }
        guard !wanted.isEmpty else { return Array(places.prefix(Limits.areaPlaces)) }
        for layer in map.layers.reversed() where layer.geometry == .polygon && places.count < Limits.areaPlaces {
            places += try await areas(of: layer, named: wanted)
        }
        return Array(places.prefix(Limits.areaPlaces))
    }

    private func areas(of layer: MapLayer, named text: String) async throws -> [Found] {
        guard let field = layer.displayField.flatMap({ layer.field(named: $0) }), field.type == .text else { return [] }
        let parameters = QueryParameters()
        parameters.whereClause = ChooseRoutes.condition(text, fields: [field.name])
        parameters.addOrderByField(OrderBy(fieldName: field.name, sortOrder: .ascending))
        parameters.maxFeatures = Limits.areaPlaces
        return try await layer.table.features(parameters, .loadAll).features().compactMap { feature in
            guard let extent = feature.geometry.flatMap({ GeometryEngine.project($0, into: .webMercator) })?.extent,
                let name = feature.attributeValue(forKey: field.name) as? String, extent.width > 0, extent.height > 0
            else { return nil }
            let frame = AreaRoutes.Frame(
                west: WebMercator.longitude(x: extent.xMin), south: WebMercator.latitude(y: extent.yMin),
                east: WebMercator.longitude(x: extent.xMax), north: WebMercator.latitude(y: extent.yMax))
            return Found(name: name, kind: layer.noun.prefix(1).uppercased() + layer.noun.dropFirst(), frame: frame)
        }
    }
}
