import Fieldwork
import FieldworkTiles
import Foundation

/// The places of a map that an area can be chosen by: what the author has prepared for offline work or bookmarked, and the areas that a
/// layer names, such as neighbourhoods. It is the way to an area without the map and without dragging.
struct AreaPlaces: Sendable {
    struct Found: Sendable {
        let name: String
        /// What it is, in words.
        let kind: String
        let frame: AreaRoutes.Frame
        /// The id of the area's item, where its files are ready at the server.
        var prepared: String?
    }

    let map: OpenMap
    private let prepared: [Found]

    /// Asks the map's portal for what was prepared.
    init(map: OpenMap) async {
        self.map = map
        prepared = await map.preparedAreas.compactMap { area in
            guard let id = area.portalItem.id, let extent = area.portalItem.extent,
                let frame = AreaRoutes.Frame(extent: extent)
            else { return nil }
            return Found(name: area.portalItem.title, kind: "Prepared area", frame: frame, prepared: id.rawValue)
        }
    }

    /// Whether there is anything to choose by name.
    var isAny: Bool {
        !prepared.isEmpty || !map.bookmarks.isEmpty || map.layers.contains { $0.geometry == .polygon }
    }

    /// The places whose name holds a text; without one those that the author has prepared or bookmarked.
    func found(_ text: String) async throws -> [Found] {
        let wanted = text.trimmingCharacters(in: .whitespacesAndNewlines)
        func isWanted(_ name: String) -> Bool { wanted.isEmpty || name.localizedCaseInsensitiveContains(wanted) }
        var places = prepared.filter { isWanted($0.name) }
        places += map.bookmarks.filter { isWanted($0.name) }
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
            guard let frame = feature.geometry.flatMap({ AreaRoutes.Frame(extent: $0.extent) }),
                let name = feature.attributeValue(forKey: field.name) as? String
            else { return nil }
            return Found(name: name, kind: layer.noun.prefix(1).uppercased() + layer.noun.dropFirst(), frame: frame)
        }
    }
}

extension AreaRoutes.Frame {
    /// The frame around an extent; nil for one that has no place on the map, or no size.
    init?(extent: Envelope) {
        guard let box = GeometryEngine.project(extent, into: .webMercator)?.extent, box.width > 0, box.height > 0 else {
            return nil
        }
        self.init(
            west: WebMercator.longitude(x: box.xMin), south: WebMercator.latitude(y: box.yMin),
            east: WebMercator.longitude(x: box.xMax), north: WebMercator.latitude(y: box.yMax))
    }

    /// Whether another one has the same edges, as far as forms write them.
    func isSame(as other: AreaRoutes.Frame) -> Bool {
        [west - other.west, south - other.south, east - other.east, north - other.north].allSatisfy { abs($0) < 2e-6 }
    }
}
