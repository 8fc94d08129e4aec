import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// The list: the map's equal for everyone who doesn't use the picture.
struct ListRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("list") { request, _ in
            let map = try await workspace.map()
            guard let first = map.listed.first else { throw CollectError(.notFound, "The map has no layers.") }
            return try await list(request, layer: first, map: map)
        }
        router.get("list/:layer") { request, context in
            let map = try await workspace.map()
            return try await list(request, layer: try context.layer(in: map), map: map)
        }
    }

    private func list(_ request: Request, layer: MapLayer, map: OpenMap) async throws -> Response {
        let view = workspace.settings.view(of: map.key)
        let isPlaced = layer.geometry != nil
        let place = isPlaced ? view.flatMap { Place(longitude: $0.lon, latitude: $0.lat) } : nil
        let area = isPlaced ? view.flatMap(NearbyList.envelope) : nil
        var values: Values = [
            "heading": layer.name, "layer": layer.id, "note": false, "rows": [Values](), "hasRows": false, "count": "",
            "empty": "Nothing here.", "firstColumn": isPlaced ? "Distance ▲" : "",
            "layers": map.listed.map { other -> Values in
                ["name": other.name, "address": "/list/\(other.id)", "current": other.id == layer.id]
            },
        ]
        do {
            let found = try await map.nearest(layer, to: place, within: area, limit: Limits.listRows)
            await workspace.noteReachable(true)
            let views = FeatureViews(map: map)
            let columns = Self.columns(layer)
            values["columns"] = columns.map { field -> Values in
                ["name": AttributeForm.label(field), "number": Self.isNumber(field, of: layer)]
            }
            values["rows"] = found.features.map { views.row($0, columns: columns) }
            values["hasRows"] = !found.features.isEmpty
            values["count"] = Self.count(found, layer: layer, isPlaced: isPlaced && view != nil)
            values["empty"] = "No \(layer.name.lowercased()) in the map's view."
        } catch let error as CancellationError {
            throw error
        } catch {
            await workspace.noteReachable(false)
            values["note"] = "The list didn't load: the server doesn't answer. Your edits are on this device."
        }
        return try await pages.respond(
            PageRenderer.Panel(template: "list", kind: "full", tab: "list", title: layer.name, values: values),
            to: request, map: map)
    }

    private static func count(_ found: FoundFeatures, layer: MapLayer, isPlaced: Bool) -> String {
        let total = found.count ?? found.features.count
        let counted = FieldText.count(total, layer.noun)
        let shown = found.features.count < total ? "\(FieldText.grouped(found.features.count)) of \(counted)" : counted
        return isPlaced ? "\(shown) in the map's view, nearest to its middle first" : shown
    }

    /// The first telling fields, the naming one first.
    static func columns(_ layer: MapLayer) -> [Field] {
        if layer.popup != nil { return Array(layer.listedFields.prefix(6)) }
        var names: [String] = [layer.displayField, layer.choiceField].compactMap { $0 }
        names += layer.fields.filter { FeatureTitle.isTelling($0, of: layer) }.map(\.name)
        var seen: Set<String> = []
        let fields = names.filter { seen.insert($0.lowercased()).inserted }.compactMap { layer.field(named: $0) }
        let ids = layer.field(named: layer.objectIDField).map { [$0] } ?? []
        return Array((ids + fields.filter { FeatureTitle.isTelling($0, of: layer) }).prefix(6))
    }

    private static func isNumber(_ field: Field, of layer: MapLayer) -> Bool {
        switch field.type {
        case .int16, .int32, .int64, .float32, .float64, .oid:
            field.name != layer.choiceField && !(field.domain is CodedValueDomain)
        default: false
        }
    }
}
